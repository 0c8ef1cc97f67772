"""Pieces with spans, in the forms that callers want: protos of both kinds, their bytes, or a dict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from piecework.compat.sentencepiece.inputs import OutType, Source
from piecework.compat.sentencepiece.protos import ImmutableSentencePieceText, SurfacePiece

Spanned: TypeAlias = tuple[int, str, tuple[int, int]]
"""Id, piece, and characters of the text."""

FORMS = ("proto", "serialized_proto", "immutable_proto", "offset_mapping")


def spelled(
    source: Source, row: Sequence[Spanned], score: float | None = None
) -> ImmutableSentencePieceText:
    """Return a row with what each piece stands for in the text."""
    text = source.escaped
    found = (
        SurfacePiece(piece, id, text[begin:end], begin, end) for id, piece, (begin, end) in row
    )
    return ImmutableSentencePieceText(text, tuple(found), score)


def formed(text: ImmutableSentencePieceText, out_type: OutType, in_bytes: bool) -> Any:
    """Return the form that is wanted; `in_bytes` is for spans and pieces of an offset mapping."""
    if out_type == "offset_mapping":
        return offset_mapping(text, in_bytes)
    if out_type == "immutable_proto":
        return text
    return text.in_bytes() if out_type == "proto" else text.SerializeAsString()


def offset_mapping(text: ImmutableSentencePieceText, in_bytes: bool) -> dict[str, Any]:
    """Return ids, pieces and spans, the latter two in characters or in bytes."""
    found = text.in_bytes().pieces if in_bytes else text.pieces
    return {
        "ids": [piece.id for piece in found],
        "pieces": [piece.piece_as_bytes if in_bytes else piece.piece for piece in found],
        "offsets": [(piece.begin, piece.end) for piece in found],
    }
