r"""Input texts, and segmented texts: pieces with their surfaces and spans, in every form.

Invalid UTF-8 is kept in the strings as surrogates, as `bytes.decode(errors="surrogateescape")` returns
them. `ImmutableSentencePieceText` has spans in characters; the message of sentencepiece.proto, to which it
serializes, has spans in bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import accumulate
from typing import Any, NamedTuple

from piecework.compat.sentencepiece.options import OutType
from piecework.errors import InputTypeError
from piecework.tokenizer.sampling import Piece

_VARINT, _BYTES, _FLOAT = 0, 2, 5
PROTO_FORMS = ("proto", "serialized_proto", "immutable_proto")
SPAN_FORMS = (*PROTO_FORMS, "offset_mapping")


class InputText:
    r"""One input: `text` is what the model segments; `escaped` also keeps invalid bytes.

    >>> given = InputText(b"a\xff", "input")
    >>> given.text, given.escaped, given.is_bytes
    ('a�', 'a\udcff', True)

    Invalid UTF-8 is U+FFFD in `text` and a surrogate (`errors="surrogateescape"`) in `escaped`. Both
    have the same length. `argument` names the input in the `InputTypeError` for other types.
    """

    def __init__(self, given: object, argument: str) -> None:
        self.is_bytes = isinstance(given, bytes)
        if isinstance(given, bytes):
            self.escaped = given.decode("utf-8", "surrogateescape")
            self.text = _replace_escapes(self.escaped)
        elif isinstance(given, str):
            self.escaped = self.text = given
        else:
            raise InputTypeError(argument, f"must be str or bytes, not {type(given).__name__}")


def input_texts(given: object) -> list[InputText]:
    """Return the texts of a batch, which must be a list, or the one text."""
    if isinstance(given, list):
        return [InputText(item, f"input[{at}]") for at, item in enumerate(given)]
    return [InputText(given, "input")]


def is_sequence(value: Any) -> bool:
    """Return whether a value has a length and is neither str nor bytes."""
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))


def _replace_escapes(text: str) -> str:
    if text.isascii():
        return text
    return "".join("\ufffd" if "\udc80" <= c <= "\udcff" else c for c in text)


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
class ImmutableSentencePieceText:
    """A text and its pieces; spans count characters.

    >>> text = ImmutableSentencePieceText("é", (SurfacePiece("▁é", 5, "é", 0, 1),))
    >>> text.SerializeAsString().hex(" ")
    '0a 02 c3 a9 12 11 0a 05 e2 96 81 c3 a9 10 05 1a 02 c3 a9 20 00 28 02'

    `log_score` is None for a segmentation without a score.
    """

    text: str
    pieces: tuple[SurfacePiece, ...]
    log_score: float | None = None

    def __str__(self) -> str:
        pieces = (f"pieces {{\n{piece}}}" for piece in self.pieces)
        return "\n".join([f'text: "{self.text}"', f"score: {self.score}", *pieces])

    @property
    def text_as_bytes(self) -> bytes:
        """The text as UTF-8."""
        return to_bytes(self.text)

    @property
    def score(self) -> float:
        """The score of one of several segmentations; 0.0 without a score."""
        return self.log_score or 0.0

    def pieces_in_bytes(self) -> list[SurfacePiece]:
        """Return the pieces with spans in bytes."""
        offsets = byte_offsets(self.text)
        return [
            piece._replace(begin=offsets[piece.begin], end=offsets[piece.end])
            for piece in self.pieces
        ]

    def SerializeAsString(self) -> bytes:  # noqa: N802
        """Serialize to the message `SentencePieceText` of sentencepiece.proto, with spans in bytes."""
        pieces = (
            message(
                (1, piece.piece_as_bytes),
                (2, piece.id),
                (3, piece.surface_as_bytes),
                (4, piece.begin),
                (5, piece.end),
            )
            for piece in self.pieces_in_bytes()
        )
        score = () if self.log_score is None else ((3, self.log_score),)
        return message((1, self.text_as_bytes), *((2, piece) for piece in pieces), *score)


@dataclass(frozen=True)
class ImmutableNBestSentencePieceText:
    """Several segmentations of one text; spans count characters.

    >>> several = ImmutableNBestSentencePieceText((ImmutableSentencePieceText("", ()),))
    >>> several.SerializeAsString().hex(" ")
    '0a 02 0a 00'
    """

    nbests: tuple[ImmutableSentencePieceText, ...]

    def __str__(self) -> str:
        return "\n".join(f"nbests {{\n{text}}}" for text in self.nbests)

    def SerializeAsString(self) -> bytes:  # noqa: N802
        """Serialize to the message `NBestSentencePieceText`, with spans in bytes."""
        return message(*((1, text.SerializeAsString()) for text in self.nbests))


def with_surfaces(
    source: InputText, row: Sequence[Piece], score: float | None = None
) -> ImmutableSentencePieceText:
    """Return pieces together with the text that each covers."""
    text = source.escaped
    pieces = (
        SurfacePiece(piece, id, text[begin:end], begin, end) for id, piece, (begin, end) in row
    )
    return ImmutableSentencePieceText(text, tuple(pieces), score)


def to_form(
    text: ImmutableSentencePieceText | ImmutableNBestSentencePieceText, out_type: OutType
) -> Any:
    """Return a kind of proto: `text`, its message over protobuf, or the bytes of the message."""
    if out_type == "immutable_proto":
        return text
    serialized = text.SerializeAsString()
    if out_type == "serialized_proto":
        return serialized
    messages = import_module("piecework.compat.sentencepiece.sentencepiece_pb2")
    name = type(text).__name__.removeprefix("Immutable")
    return getattr(messages, name).FromString(serialized)


def offset_mapping(text: ImmutableSentencePieceText, in_bytes: bool) -> dict[str, Any]:
    """Return ids, pieces and spans; pieces are str or bytes, spans count characters or bytes."""
    pieces = text.pieces_in_bytes() if in_bytes else text.pieces
    return {
        "ids": [piece.id for piece in pieces],
        "pieces": [piece.piece_as_bytes if in_bytes else piece.piece for piece in pieces],
        "offsets": [(piece.begin, piece.end) for piece in pieces],
    }


def message(*fields: tuple[int, bytes | int | float]) -> bytes:
    """Serialize a protobuf message from (field number, value) pairs.

    >>> message((1, b"a"), (3, 0)).hex(" ")
    '0a 01 61 18 00'
    """
    return b"".join(_field(number, value) for number, value in fields)


def to_bytes(text: str) -> bytes:
    """Return the UTF-8 of a text; escaped invalid bytes are restored."""
    return text.encode("utf-8", "surrogateescape")


def byte_offsets(text: str) -> list[int]:
    """Return the byte offset of each character, and the total number of bytes."""
    return list(accumulate((len(to_bytes(c)) for c in text), initial=0))


def _field(number: int, value: bytes | int | float) -> bytes:
    if isinstance(value, bytes):
        return bytes([number << 3 | _BYTES]) + _varint(len(value)) + value
    if isinstance(value, float):
        return bytes([number << 3 | _FLOAT]) + struct.pack("<f", value)
    return bytes([number << 3 | _VARINT]) + _varint(value)


def _varint(value: int) -> bytes:
    """Return a number in groups of seven bits, the lowest first; all but the last have the high bit."""
    if value < 0x80:
        return bytes([value])
    return bytes([value & 0x7F | 0x80]) + _varint(value >> 7)
