"""List several segmentations of a text for `nbest_encode` and `sample_encode_and_score`."""

from __future__ import annotations

from typing import Any, TypeAlias

from piecework import Sampling
from piecework.compat.sentencepiece.encode import RowEncoder
from piecework.compat.sentencepiece.input_text import InputText
from piecework.compat.sentencepiece.options import OutType
from piecework.compat.sentencepiece.output_forms import PROTO_FORMS, with_surfaces
from piecework.compat.sentencepiece.proto_messages import ImmutableNBestSentencePieceText
from piecework.compat.sentencepiece.random_seed import next_seed
from piecework.errors import ArgumentError
from piecework.sampling import (
    Piece,
    check_alpha,
    check_segmentations,
    draw_piece_segmentations,
    list_piece_segmentations,
)

Scored: TypeAlias = tuple[list[Piece], float | None]
"""Pieces of one segmentation and its score."""


def best_segmentations(encoder: RowEncoder, sources: list[InputText], n: int) -> list[Any]:
    """Return the `n` best segmentations of each text, in the output type of the settings."""
    check_segmentations("nbest_size", n)
    if encoder.settings.out_type == "offset_mapping":
        raise ArgumentError("out_type", "'offset_mapping' does not support several segmentations")
    rows = []
    for source in sources:
        found = list_piece_segmentations(encoder.model.tokenizer, source.text, n)
        scored: list[Scored] = [(encoder.name_pieces(one), score) for one, score, _, _ in found]
        rows.append(_to_forms(encoder, source, scored, with_scores=False))
    return rows


def sampled_segmentations(
    encoder: RowEncoder,
    sources: list[InputText],
    num_samples: int,
    alpha: float,
    *,
    replacement: bool,
    include_best: bool,
) -> list[Any]:
    """Return sampled segmentations of each text with log probabilities."""
    check_segmentations("num_samples", num_samples)
    check_alpha(alpha)
    if include_best and replacement:
        raise ArgumentError("include_best", "cannot be True without wor")
    rows = []
    for source in sources:
        found = draw_piece_segmentations(
            encoder.model.tokenizer,
            source.text,
            num_samples,
            Sampling(alpha=alpha, seed=next_seed()),
            replacement=replacement,
            include_best=include_best,
        )
        scored: list[Scored] = [
            (encoder.name_pieces(pieces), log_probability if replacement else log_inclusion)
            for pieces, _, log_probability, log_inclusion in found
        ]
        rows.append(_to_forms(encoder, source, scored, with_scores=True))
    return rows


def _to_forms(
    encoder: RowEncoder, source: InputText, rows: list[Scored], *, with_scores: bool
) -> Any:
    out_type = encoder.settings.out_type
    if out_type in PROTO_FORMS:
        encoder.settings.check_proto_options()
        length = len(source.text)
        texts = (
            with_surfaces(source, encoder.with_extras(pieces, length), score)
            for pieces, score in rows
        )
        return _to_proto(ImmutableNBestSentencePieceText(tuple(texts)), out_type)
    formed = [_to_form(encoder, source, pieces) for pieces, _ in rows]
    if not with_scores:
        return formed
    return [(row, score) for row, (_, score) in zip(formed, rows, strict=True)]


def _to_form(encoder: RowEncoder, source: InputText, pieces: list[Piece]) -> Any:
    if encoder.settings.out_type in (int, "numpy"):
        return encoder.id_forms([[id for id, _, _ in pieces]])[0]
    return encoder.spanned_form(source, pieces, False)


def _to_proto(several: ImmutableNBestSentencePieceText, out_type: OutType) -> Any:
    if out_type == "immutable_proto":
        return several
    return several.in_bytes() if out_type == "proto" else several.SerializeAsString()
