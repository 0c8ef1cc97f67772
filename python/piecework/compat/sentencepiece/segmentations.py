"""List several segmentations of a text for `nbest_encode` and `sample_encode_and_score`."""

from __future__ import annotations

from typing import Any, TypeAlias

from piecework import Sampling
from piecework import _support as support
from piecework.compat.sentencepiece.encode import RowEncoder
from piecework.compat.sentencepiece.input_text import InputText
from piecework.compat.sentencepiece.options import OutType
from piecework.compat.sentencepiece.output_forms import PROTO_FORMS, with_surfaces
from piecework.compat.sentencepiece.proto_messages import ImmutableNBestSentencePieceText
from piecework.compat.sentencepiece.random_seed import next_seed
from piecework.errors import ArgumentError

Scored: TypeAlias = tuple[list[support.Piece], float | None]
"""Pieces of one segmentation and its score."""


def best_segmentations(encoder: RowEncoder, sources: list[InputText], n: int) -> list[Any]:
    """Return the `n` best segmentations of each text, in the output type of the settings."""
    support.check_segmentations("nbest_size", n)
    if encoder.settings.out_type == "offset_mapping":
        raise ArgumentError("out_type", "'offset_mapping' does not support several segmentations")
    return [_best(encoder, source, n) for source in sources]


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
    support.check_segmentations("num_samples", num_samples)
    support.check_alpha(alpha)
    if include_best and replacement:
        raise ArgumentError("include_best", "cannot be True without wor")
    return [
        _sampled(encoder, source, num_samples, alpha, replacement, include_best)
        for source in sources
    ]


def _best(encoder: RowEncoder, source: InputText, n: int) -> Any:
    found = support.list_piece_segmentations(encoder.model.tokenizer, source.text, n)
    rows: list[Scored] = [(encoder.name_pieces(pieces), score) for pieces, score, _, _ in found]
    return _to_forms(encoder, source, rows, with_scores=False)


def _sampled(
    encoder: RowEncoder,
    source: InputText,
    num_samples: int,
    alpha: float,
    replacement: bool,
    include_best: bool,
) -> Any:
    found = support.draw_piece_segmentations(
        encoder.model.tokenizer,
        source.text,
        num_samples,
        Sampling(alpha=alpha, seed=next_seed()),
        replacement=replacement,
        include_best=include_best,
    )
    rows: list[Scored] = [
        (encoder.name_pieces(pieces), log_probability if replacement else log_inclusion)
        for pieces, _, log_probability, log_inclusion in found
    ]
    return _to_forms(encoder, source, rows, with_scores=True)


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


def _to_form(encoder: RowEncoder, source: InputText, pieces: list[support.Piece]) -> Any:
    if encoder.settings.out_type in (int, "numpy"):
        return encoder.id_forms([[id for id, _, _ in pieces]])[0]
    return encoder.spanned_form(source, pieces, False)


def _to_proto(several: ImmutableNBestSentencePieceText, out_type: OutType) -> Any:
    if out_type == "immutable_proto":
        return several
    return several.in_bytes() if out_type == "proto" else several.SerializeAsString()
