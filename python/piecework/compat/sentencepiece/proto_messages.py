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
from typing import Any, NamedTuple, TypeVar

from piecework.errors import FormatError

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


_T = TypeVar("_T")


class Repeated(tuple[_T, ...]):
    """A repeated field: a tuple whose slices are lists, as in sentencepiece.

    >>> Repeated((1, 2, 3))[::-1]
    [3, 2, 1]
    """

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return list(found) if isinstance(index, slice) else found


class _SegmentedText:
    """What the two kinds of segmented texts share."""

    text: str
    pieces: tuple[SurfacePiece, ...]
    log_score: float | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "pieces", Repeated(self.pieces))

    @property
    def text_as_bytes(self) -> bytes:
        """The text as UTF-8."""
        return to_bytes(self.text)

    @property
    def score(self) -> float:
        """The score of one of several segmentations; 0.0 without a score."""
        return self.log_score or 0.0


@dataclass
class SentencePieceText(_SegmentedText):
    """A text and its pieces; spans count bytes.

    >>> pieces = (SurfacePiece("▁é", 5, "é", 0, 2),)
    >>> SentencePieceText("é", pieces).SerializeToString().hex(" ")
    '0a 02 c3 a9 12 11 0a 05 e2 96 81 c3 a9 10 05 1a 02 c3 a9 20 00 28 02'

    `log_score` is None for a segmentation without a score. `str` is protobuf's text format.
    """

    text: str = ""
    pieces: tuple[SurfacePiece, ...] = ()
    log_score: float | None = None

    def __str__(self) -> str:
        pieces = (_block("pieces", _text_of_piece(piece)) for piece in self.pieces)
        score = "" if self.log_score is None else f"score: {_text_of_float(self.log_score)}\n"
        return "".join([f"text: {_quoted(self.text)}\n", *pieces, score])

    def SerializeToString(self) -> bytes:  # noqa: N802
        """Serialize to the message `SentencePieceText` of sentencepiece.proto."""
        pieces = b"".join(_field(2, _BYTES, _piece_message(piece)) for piece in self.pieces)
        score = b"" if self.log_score is None else _field(3, _FLOAT, self.log_score)
        return _field(1, _BYTES, to_bytes(self.text)) + pieces + score

    @classmethod
    def FromString(cls, serialized: bytes) -> SentencePieceText:  # noqa: N802
        """Return what a serialized message holds; raises `FormatError` for other bytes."""
        fields = read_message(serialized)
        pieces = tuple(map(_read_piece, fields.get(2, ())))
        score = fields.get(3, (None,))[-1]
        return cls(_to_text(fields.get(1, (b"",))[-1]), pieces, score)

    def ParseFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Take over what a serialized message holds; return the number of bytes."""
        self.__dict__.update(vars(self.FromString(serialized)))
        return len(serialized)


@dataclass(frozen=True)
class ImmutableSentencePieceText(_SegmentedText):
    """A text and its pieces; spans count characters.

    >>> piece = SurfacePiece("▁é", 5, "é", 0, 1)
    >>> text = ImmutableSentencePieceText("é", (piece,))
    >>> text.pieces[0].end, text.in_bytes().pieces[0].end
    (1, 2)
    """

    text: str
    pieces: tuple[SurfacePiece, ...]
    log_score: float | None = None

    def __str__(self) -> str:
        pieces = (f"pieces {{\n{piece}}}" for piece in self.pieces)
        return "\n".join([f'text: "{self.text}"', f"score: {self.score}", *pieces])

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


@dataclass
class NBestSentencePieceText:
    """Several segmentations of one text; spans count bytes.

    >>> NBestSentencePieceText((SentencePieceText("", ()),)).SerializeToString().hex(" ")
    '0a 02 0a 00'
    """

    nbests: tuple[SentencePieceText, ...] = ()

    def __post_init__(self) -> None:
        self.nbests = Repeated(self.nbests)

    def __str__(self) -> str:
        return "".join(_block("nbests", str(text)) for text in self.nbests)

    def SerializeToString(self) -> bytes:  # noqa: N802
        """Serialize to the message `NBestSentencePieceText` of sentencepiece.proto."""
        return b"".join(_field(1, _BYTES, one.SerializeToString()) for one in self.nbests)

    @classmethod
    def FromString(cls, serialized: bytes) -> NBestSentencePieceText:  # noqa: N802
        """Return what a serialized message holds; raises `FormatError` for other bytes."""
        nbests = read_message(serialized).get(1, ())
        return cls(tuple(map(SentencePieceText.FromString, nbests)))

    def ParseFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Take over what a serialized message holds; return the number of bytes."""
        self.nbests = self.FromString(serialized).nbests
        return len(serialized)


@dataclass(frozen=True)
class ImmutableNBestSentencePieceText:
    """Several segmentations of one text; spans count characters.

    >>> several = ImmutableNBestSentencePieceText((ImmutableSentencePieceText("", ()),))
    >>> several.SerializeAsString().hex(" ")
    '0a 02 0a 00'
    """

    nbests: tuple[ImmutableSentencePieceText, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "nbests", Repeated(self.nbests))

    def __str__(self) -> str:
        return "\n".join(f"nbests {{\n{text}}}" for text in self.nbests)

    def in_bytes(self) -> NBestSentencePieceText:
        """Return the same segmentations with spans in bytes."""
        return NBestSentencePieceText(tuple(one.in_bytes() for one in self.nbests))

    def SerializeAsString(self) -> bytes:  # noqa: N802
        """Serialize to the message `NBestSentencePieceText`, with spans in bytes."""
        return self.in_bytes().SerializeToString()


# ---- protobuf's text format

_ESCAPES = {ord(c): f"\\{c}" for c in "\"'\\"} | {9: "\\t", 10: "\\n", 13: "\\r"}
_ESCAPES |= {code: f"\\{code:03o}" for code in (*range(32), 127) if code not in _ESCAPES}


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _block(name: str, fields: str) -> str:
    """Return a field with a message: its fields, indented, in braces."""
    return f"{name} {{\n" + "".join(f"  {line}\n" for line in fields.splitlines()) + "}\n"


def _text_of_piece(piece: SurfacePiece) -> str:
    quoted = piece._replace(piece=_quoted(piece.piece), surface=_quoted(piece.surface))
    return "".join(f"{name}: {value}\n" for name, value in quoted._asdict().items())


def _text_of_float(value: float) -> str:
    """Return 6 digits, or 9 if these are another 32-bit number."""
    short = f"{value:.6g}"
    return short if struct.pack("<f", float(short)) == struct.pack("<f", value) else f"{value:.9g}"


# ---- messages


def message(*fields: tuple[int, bytes | int]) -> bytes:
    """Serialize a protobuf message from (field number, value) pairs.

    >>> message((1, b"a"), (3, 0)).hex(" ")
    '0a 01 61 18 00'
    """
    return b"".join(
        _field(number, _BYTES if isinstance(value, bytes) else _VARINT, value)
        for number, value in fields
    )


def read_message(serialized: bytes) -> dict[int, list[Any]]:
    """Return the values of each field of a protobuf message by the number of the field.

    >>> read_message(bytes.fromhex("0a 01 61 18 00"))
    {1: [b'a'], 3: [0]}

    Raises `FormatError` for bytes that are no message.
    """
    fields: dict[int, list[Any]] = {}
    at = 0
    try:
        while at < len(serialized):
            key, at = _read_varint(serialized, at)
            value, at = _read_value(serialized, at, key & 7)
            fields.setdefault(key >> 3, []).append(value)
    except (IndexError, KeyError, struct.error):
        problem = f"is not a SentencePieceText: it has bytes that are no message, at byte {at}"
        raise FormatError("serialized", problem) from None
    return fields


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


def _read_piece(serialized: bytes) -> SurfacePiece:
    fields = read_message(serialized)
    piece, surface = (_to_text(fields.get(number, (b"",))[-1]) for number in (1, 3))
    id, begin, end = (fields.get(number, (0,))[-1] for number in (2, 4, 5))
    return SurfacePiece(piece, id, surface, begin, end)


def _to_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _read_value(serialized: bytes, at: int, wire_type: int) -> tuple[Any, int]:
    """Return the value at a position, and the position after it."""
    if wire_type == _VARINT:
        return _read_varint(serialized, at)
    if wire_type == _FLOAT:
        return struct.unpack_from("<f", serialized, at)[0], at + 4
    length, at = {_BYTES: _read_varint}[wire_type](serialized, at)
    if at + length > len(serialized):
        raise IndexError
    return serialized[at : at + length], at + length


def _read_varint(serialized: bytes, at: int) -> tuple[int, int]:
    """Return the number at a position, and the position after it."""
    value = shift = 0
    while serialized[at] > 0x7F:
        value |= (serialized[at] & 0x7F) << shift
        shift += 7
        at += 1
    return value | serialized[at] << shift, at + 1


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
