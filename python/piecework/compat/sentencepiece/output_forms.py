"""Pieces with spans as protos of both kinds, as serialized bytes, or as an offset mapping."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from piecework.compat.sentencepiece.input_text import InputText
from piecework.compat.sentencepiece.options import OutType
from piecework.compat.sentencepiece.proto_messages import ImmutableSentencePieceText, SurfacePiece
from piecework.sampling import Piece

PROTO_FORMS = ("proto", "serialized_proto", "immutable_proto")
SPAN_FORMS = (*PROTO_FORMS, "offset_mapping")


def with_surfaces(
    source: InputText, row: Sequence[Piece], score: float | None = None
) -> ImmutableSentencePieceText:
    """Return pieces together with the text that each covers."""
    text = source.escaped
    pieces = (
        SurfacePiece(piece, id, text[begin:end], begin, end) for id, piece, (begin, end) in row
    )
    return ImmutableSentencePieceText(text, tuple(pieces), score)


def to_form(text: ImmutableSentencePieceText, out_type: OutType, in_bytes: bool) -> Any:
    """Return the text as `out_type`; `in_bytes` selects bytes in an offset mapping."""
    if out_type == "offset_mapping":
        return offset_mapping(text, in_bytes)
    if out_type == "immutable_proto":
        return text
    return text.in_bytes() if out_type == "proto" else text.SerializeAsString()


def offset_mapping(text: ImmutableSentencePieceText, in_bytes: bool) -> dict[str, Any]:
    """Return ids, pieces and spans; pieces are str or bytes, spans count characters or bytes."""
    pieces = text.in_bytes().pieces if in_bytes else text.pieces
    return {
        "ids": [piece.id for piece in pieces],
        "pieces": [piece.piece_as_bytes if in_bytes else piece.piece for piece in pieces],
        "offsets": [(piece.begin, piece.end) for piece in pieces],
    }
