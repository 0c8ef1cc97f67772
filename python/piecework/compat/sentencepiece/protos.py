"""What SentencePiece says of a segmented text: its pieces with their surfaces and spans, as values.

Spans count bytes of UTF-8 in `SentencePieceText`, which is the message of sentencepiece.proto and can be
written as one, and characters in `ImmutableSentencePieceText`. Bytes that are no UTF-8 stand in the
strings as `errors="surrogateescape"` of `bytes.decode` leaves them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

_VARINT, _BYTES, _FLOAT = 0, 2, 5


class SurfacePiece(NamedTuple):
    """A piece, its id, and the stretch of text that it stands for."""

    piece: str
    id: int
    surface: str
    begin: int
    end: int

    @property
    def piece_as_bytes(self) -> bytes:
        """The piece in UTF-8."""
        return to_bytes(self.piece)

    @property
    def surface_as_bytes(self) -> bytes:
        """The stretch of text in UTF-8."""
        return to_bytes(self.surface)

    def __str__(self) -> str:
        return (
            f'piece: "{self.piece}"\nid: {self.id}\nsurface: "{self.surface}"\n'
            f"begin: {self.begin}\nend: {self.end}\n"
        )


@dataclass(frozen=True)
class _Segmented:
    """A text in pieces; `log_score` is None where there is no score, which `score` gives as 0."""

    text: str
    pieces: tuple[SurfacePiece, ...]
    log_score: float | None = None

    @property
    def score(self) -> float:
        """What the model thinks of this segmentation, for those of several."""
        return self.log_score or 0.0

    def __str__(self) -> str:
        pieces = (f"pieces {{\n{piece}}}" for piece in self.pieces)
        return "\n".join([f'text: "{self.text}"', f"score: {self.score}", *pieces])


@dataclass(frozen=True)
class SentencePieceText(_Segmented):
    """A text in pieces; spans count bytes.

    >>> pieces = (SurfacePiece("▁é", 5, "é", 0, 2),)
    >>> SentencePieceText("é", pieces).SerializeToString().hex(" ")
    '0a 02 c3 a9 12 11 0a 05 e2 96 81 c3 a9 10 05 1a 02 c3 a9 20 00 28 02'
    """

    def SerializeToString(self) -> bytes:  # noqa: N802
        """Write the message of sentencepiece.proto."""
        pieces = b"".join(_field(2, _BYTES, _piece_message(piece)) for piece in self.pieces)
        score = b"" if self.log_score is None else _field(3, _FLOAT, self.log_score)
        return _field(1, _BYTES, to_bytes(self.text)) + pieces + score


@dataclass(frozen=True)
class ImmutableSentencePieceText(_Segmented):
    """A text in pieces; spans count characters."""

    def in_bytes(self) -> SentencePieceText:
        """Return the same with spans that count bytes.

        >>> piece = SurfacePiece("▁é", 5, "é", 0, 1)
        >>> ImmutableSentencePieceText("é", (piece,)).in_bytes().pieces[0].end
        2
        """
        before = bytes_before(self.text)
        pieces = (
            piece._replace(begin=before[piece.begin], end=before[piece.end])
            for piece in self.pieces
        )
        return SentencePieceText(self.text, tuple(pieces), self.log_score)

    def SerializeAsString(self) -> bytes:  # noqa: N802
        """Write the message of sentencepiece.proto, in which spans count bytes."""
        return self.in_bytes().SerializeToString()


@dataclass(frozen=True)
class NBestSentencePieceText:
    """Several segmentations of one text; spans count bytes."""

    nbests: tuple[SentencePieceText, ...]

    def SerializeToString(self) -> bytes:  # noqa: N802
        """Write the message of sentencepiece.proto."""
        return b"".join(_field(1, _BYTES, one.SerializeToString()) for one in self.nbests)


@dataclass(frozen=True)
class ImmutableNBestSentencePieceText:
    """Several segmentations of one text; spans count characters."""

    nbests: tuple[ImmutableSentencePieceText, ...]

    def in_bytes(self) -> NBestSentencePieceText:
        """Return the same with spans that count bytes."""
        return NBestSentencePieceText(tuple(one.in_bytes() for one in self.nbests))

    def SerializeAsString(self) -> bytes:  # noqa: N802
        """Write the message of sentencepiece.proto, in which spans count bytes."""
        return self.in_bytes().SerializeToString()


def message(*fields: tuple[int, bytes | int]) -> bytes:
    """Write the fields of a message, each by its number.

    >>> message((1, b"a"), (3, 0)).hex(" ")
    '0a 01 61 18 00'
    """
    return b"".join(
        _field(number, _BYTES if isinstance(value, bytes) else _VARINT, value)
        for number, value in fields
    )


def to_bytes(text: str) -> bytes:
    """Return the bytes that a text was made of."""
    return text.encode("utf-8", "surrogateescape")


def bytes_before(text: str) -> list[int]:
    """Return the number of bytes before each character, and last that of all."""
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
