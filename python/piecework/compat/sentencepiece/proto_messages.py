"""A segmented text as SentencePiece reports it: pieces with their surfaces and spans.

`SentencePieceText` has spans in bytes of UTF-8 and serializes to the message of sentencepiece.proto.
`ImmutableSentencePieceText` has spans in characters. Invalid UTF-8 is kept in the strings as
surrogates, as `bytes.decode(errors="surrogateescape")` returns them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

_VARINT, _BYTES, _FLOAT = 0, 2, 5


class SurfacePiece(NamedTuple):
    """A piece, its id, the text it covers (`surface`) and its span.

    >>> SurfacePiece("▁hug", 7, " hug", 3, 7).surface
    ' hug'
    """

    piece: str
    id: int
    surface: str
    begin: int
    end: int

    @property
    def piece_as_bytes(self) -> bytes:
        """The piece as UTF-8."""
        return to_bytes(self.piece)

    @property
    def surface_as_bytes(self) -> bytes:
        """The surface as UTF-8."""
        return to_bytes(self.surface)

    def __str__(self) -> str:
        return (
            f'piece: "{self.piece}"\nid: {self.id}\nsurface: "{self.surface}"\n'
            f"begin: {self.begin}\nend: {self.end}\n"
        )


@dataclass(frozen=True)
class _SegmentedText:
    """A text and its pieces; `log_score` is None for a segmentation without a score."""

    text: str
    pieces: tuple[SurfacePiece, ...]
    log_score: float | None = None

    @property
    def score(self) -> float:
        """The score of one of several segmentations; 0.0 without a score."""
        return self.log_score or 0.0

    def __str__(self) -> str:
        pieces = (f"pieces {{\n{piece}}}" for piece in self.pieces)
        return "\n".join([f'text: "{self.text}"', f"score: {self.score}", *pieces])


@dataclass(frozen=True)
class SentencePieceText(_SegmentedText):
    """A text and its pieces; spans count bytes.

    >>> pieces = (SurfacePiece("▁é", 5, "é", 0, 2),)
    >>> SentencePieceText("é", pieces).SerializeToString().hex(" ")
    '0a 02 c3 a9 12 11 0a 05 e2 96 81 c3 a9 10 05 1a 02 c3 a9 20 00 28 02'
    """

    def SerializeToString(self) -> bytes:  # noqa: N802
        """Serialize to the message `SentencePieceText` of sentencepiece.proto."""
        pieces = b"".join(_field(2, _BYTES, _piece_message(piece)) for piece in self.pieces)
        score = b"" if self.log_score is None else _field(3, _FLOAT, self.log_score)
        return _field(1, _BYTES, to_bytes(self.text)) + pieces + score


@dataclass(frozen=True)
class ImmutableSentencePieceText(_SegmentedText):
    """A text and its pieces; spans count characters.

    >>> piece = SurfacePiece("▁é", 5, "é", 0, 1)
    >>> text = ImmutableSentencePieceText("é", (piece,))
    >>> text.pieces[0].end, text.in_bytes().pieces[0].end
    (1, 2)
    """

    def in_bytes(self) -> SentencePieceText:
        """Return the same text with spans in bytes."""
        offsets = byte_offsets(self.text)
        pieces = (
            piece._replace(begin=offsets[piece.begin], end=offsets[piece.end])
            for piece in self.pieces
        )
        return SentencePieceText(self.text, tuple(pieces), self.log_score)

    def SerializeAsString(self) -> bytes:  # noqa: N802
        """Serialize to the message `SentencePieceText`, with spans in bytes."""
        return self.in_bytes().SerializeToString()


@dataclass(frozen=True)
class NBestSentencePieceText:
    """Several segmentations of one text; spans count bytes.

    >>> NBestSentencePieceText((SentencePieceText("", ()),)).SerializeToString().hex(" ")
    '0a 02 0a 00'
    """

    nbests: tuple[SentencePieceText, ...]

    def SerializeToString(self) -> bytes:  # noqa: N802
        """Serialize to the message `NBestSentencePieceText` of sentencepiece.proto."""
        return b"".join(_field(1, _BYTES, one.SerializeToString()) for one in self.nbests)


@dataclass(frozen=True)
class ImmutableNBestSentencePieceText:
    """Several segmentations of one text; spans count characters.

    >>> several = ImmutableNBestSentencePieceText((ImmutableSentencePieceText("", ()),))
    >>> several.SerializeAsString().hex(" ")
    '0a 02 0a 00'
    """

    nbests: tuple[ImmutableSentencePieceText, ...]

    def in_bytes(self) -> NBestSentencePieceText:
        """Return the same segmentations with spans in bytes."""
        return NBestSentencePieceText(tuple(one.in_bytes() for one in self.nbests))

    def SerializeAsString(self) -> bytes:  # noqa: N802
        """Serialize to the message `NBestSentencePieceText`, with spans in bytes."""
        return self.in_bytes().SerializeToString()


def message(*fields: tuple[int, bytes | int]) -> bytes:
    """Serialize a protobuf message from (field number, value) pairs.

    >>> message((1, b"a"), (3, 0)).hex(" ")
    '0a 01 61 18 00'
    """
    return b"".join(
        _field(number, _BYTES if isinstance(value, bytes) else _VARINT, value)
        for number, value in fields
    )


def to_bytes(text: str) -> bytes:
    """Return the UTF-8 of a text; escaped invalid bytes are restored."""
    return text.encode("utf-8", "surrogateescape")


def byte_offsets(text: str) -> list[int]:
    """Return the byte offset of each character, and the total number of bytes."""
    return list(accumulate((len(to_bytes(c)) for c in text), initial=0))


def _piece_message(piece: SurfacePiece) -> bytes:
    return message(
        (1, piece.piece_as_bytes),
        (2, piece.id),
        (3, piece.surface_as_bytes),
        (4, piece.begin),
        (5, piece.end),
    )


def _field(number: int, wire_type: int, value: bytes | int | float) -> bytes:
    key = bytes([number << 3 | wire_type])
    if isinstance(value, bytes):
        return key + _varint(len(value)) + value
    return key + (_varint(value) if isinstance(value, int) else struct.pack("<f", value))


def _varint(value: int) -> bytes:
    return bytes(_septets(value))


def _septets(value: int) -> Iterator[int]:
    while value > 0x7F:
        yield value & 0x7F | 0x80
        value >>= 7
    yield value
