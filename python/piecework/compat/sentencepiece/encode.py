"""Encode texts for `SentencePieceProcessor`: one segmentation or several, as ids, pieces or spans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from piecework import Sampling
from piecework.compat.sentencepiece.loaded_model import LoadedModel
from piecework.compat.sentencepiece.options import Settings, apply_extra_options, next_seed
from piecework.compat.sentencepiece.texts import (
    PROTO_FORMS,
    SPAN_FORMS,
    ImmutableNBestSentencePieceText,
    InputText,
    offset_mapping,
    to_bytes,
    to_form,
    with_surfaces,
)
from piecework.errors import ArgumentError
from piecework.tokenizer.sampling import (
    Piece,
    check_alpha,
    check_segmentations,
    encode_pieces,
    piece_segmentations,
)

Scored: TypeAlias = tuple[list[Piece], float | None]
"""Pieces of one segmentation and its score."""


class RowEncoder:
    """Encodes texts with one model; `extras` are the extra options of the processor."""

    def __init__(self, model: LoadedModel, settings: Settings, extras: Sequence[str]) -> None:
        self.model = model
        self.settings = settings
        self.extras = extras

    def rows(self, sources: list[InputText], in_bytes: bool) -> list[Any]:
        """Encode texts to the output type of the settings."""
        settings = self.settings
        sampling = settings.sampling(self.model.model.kind)
        if settings.out_type in (int, "numpy"):
            return self.id_forms(self._id_rows(sources, sampling))
        if settings.out_type not in SPAN_FORMS:
            return [self._piece_form(row) for row in self._piece_rows(sources, sampling)]
        settings.check_proto_options()
        return [
            self.spanned_form(source, self._encode_pieces(source, sampling, row), in_bytes)
            for row, source in enumerate(sources)
        ]

    def name_pieces(self, pieces: list[Piece]) -> list[Piece]:
        """Name pieces by their text in the vocabulary; unknown pieces keep the text they cover."""
        model = self.model
        return [
            (id, text if id == model.unk_id else model.texts[id], span) for id, text, span in pieces
        ]

    def id_forms(self, rows: list[list[int]]) -> list[Any]:
        """Return rows of ids with extra options applied, as lists or as arrays."""
        extras = (*self.extras, *self._ends_and_reverse())
        if extras:
            (_, bos), (_, eos) = self.model.ends
            rows = [apply_extra_options(row, extras, (bos, eos), lambda id: id) for row in rows]
        is_array = self.settings.out_type == "numpy"
        return list(map(_read_only_array, rows)) if is_array else rows

    def spanned_form(self, source: InputText, row: list[Piece], in_bytes: bool) -> Any:
        """Return a row of pieces as the output type of the settings, other than ids."""
        if self.settings.out_type not in SPAN_FORMS:
            return self._piece_form(self._piece_texts(source, row))
        row = self.with_extras(row, len(source.text))
        text = with_surfaces(source, row)
        if self.settings.out_type == "offset_mapping":
            return offset_mapping(text, in_bytes)
        return to_form(text, self.settings.out_type)

    def with_extras(self, row: list[Piece], length: int) -> list[Piece]:
        """Apply the extra options of the processor to the pieces of a text of `length` characters."""
        if not self.extras:
            return row
        model = self.model
        (bos, bos_id), (eos, eos_id) = model.ends
        ends = ((bos_id, bos, (0, 0)), (eos_id, eos, (length, length)))

        def as_unknown(piece: Piece) -> Piece:
            return (piece[0], model.texts[piece[0]], piece[2])

        return apply_extra_options(row, self.extras, ends, as_unknown)

    def _id_rows(self, sources: list[InputText], sampling: Sampling | None) -> list[list[int]]:
        tokenizer = self.model.tokenizer
        if len(sources) == 1 and sampling is None:
            return [tokenizer.encode(sources[0].text, add_special_tokens=False).ids]
        batch = tokenizer.encode_batch(
            [source.text for source in sources],
            add_special_tokens=False,
            sampling=sampling,
            num_threads=self.settings.thread_limit if len(sources) > 1 else 1,
        )
        return batch.to_lists()

    def _piece_rows(self, sources: list[InputText], sampling: Sampling | None) -> list[list[str]]:
        """Return the pieces of each text; only rows with unknown pieces are encoded with spans."""
        texts, unk_id = self.model.texts, self.model.unk_id
        rows = self._id_rows(sources, sampling)
        return [
            self._piece_texts(source, self._encode_pieces(source, sampling, at))
            if self.extras or unk_id in row
            else [texts[id] for id in row]
            for at, (source, row) in enumerate(zip(sources, rows, strict=True))
        ]

    def _encode_pieces(self, source: InputText, sampling: Sampling | None, row: int) -> list[Piece]:
        return self.name_pieces(encode_pieces(self.model.tokenizer, source.text, sampling, row))

    def _piece_texts(self, source: InputText, row: list[Piece]) -> list[str]:
        return [text for _, text, _ in self.with_extras(row, len(source.text))]

    def _piece_form(self, pieces: list[str]) -> Any:
        """Return pieces as str or bytes, with the options of the settings applied."""
        model = self.model
        if self.settings.emit_unk_piece:
            unk = model.texts[model.unk_id]
            pieces = [unk if model.id_of(piece) == model.unk_id else piece for piece in pieces]
        extras = self._ends_and_reverse()
        if extras:
            (bos, _), (eos, _) = model.ends
            pieces = apply_extra_options(pieces, extras, (bos, eos), lambda piece: piece)
        return pieces if self.settings.out_type is str else [to_bytes(piece) for piece in pieces]

    def _ends_and_reverse(self) -> list[str]:
        """Return `reverse`, `add_bos` and `add_eos` of the settings as extra options."""
        model, settings = self.model, self.settings
        for name, is_set, piece in (
            ("add_bos", settings.add_bos, model.model.bos_piece),
            ("add_eos", settings.add_eos, model.model.eos_piece),
        ):
            if is_set and model.control_id(piece) == -1:
                raise ArgumentError(name, f"True needs a model with the control piece {piece!r}")
        flags = {"reverse": settings.reverse, "bos": settings.add_bos, "eos": settings.add_eos}
        return [name for name, is_set in flags.items() if is_set]


def _read_only_array(row: list[int]) -> npt.NDArray[np.int32]:
    array = np.array(row, np.int32)
    array.flags.writeable = False
    return array


def best_segmentations(encoder: RowEncoder, sources: list[InputText], n: int) -> list[Any]:
    """Return the `n` best segmentations of each text, in the output type of the settings."""
    check_segmentations("nbest_size", n)
    if encoder.settings.out_type == "offset_mapping":
        raise ArgumentError("out_type", "'offset_mapping' does not support several segmentations")
    rows = []
    for source in sources:
        found = piece_segmentations(encoder.model.tokenizer, source.text, n)
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
        found = piece_segmentations(
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
        return to_form(ImmutableNBestSentencePieceText(tuple(texts)), out_type)
    formed = [_to_form(encoder, source, pieces) for pieces, _ in rows]
    if not with_scores:
        return formed
    return [(row, score) for row, (_, score) in zip(formed, rows, strict=True)]


def _to_form(encoder: RowEncoder, source: InputText, pieces: list[Piece]) -> Any:
    if encoder.settings.out_type in (int, "numpy"):
        return encoder.id_forms([[id for id, _, _ in pieces]])[0]
    return encoder.spanned_form(source, pieces, False)
