"""Encode texts for `SentencePieceProcessor.encode`: rows of ids, of pieces, or of pieces with spans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from piecework import Sampling
from piecework.compat.sentencepiece.input_text import InputText
from piecework.compat.sentencepiece.loaded_model import LoadedModel
from piecework.compat.sentencepiece.options import Settings, apply_extra_options
from piecework.compat.sentencepiece.output_forms import SPAN_FORMS, to_form, with_surfaces
from piecework.compat.sentencepiece.proto_messages import to_bytes
from piecework.errors import ArgumentError
from piecework.sampling import Piece, encode_pieces


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
            model = self.model
            ends = (model.id_of(model.model.bos_piece), model.id_of(model.model.eos_piece))
            rows = [apply_extra_options(row, extras, ends, lambda id: id) for row in rows]
        is_array = self.settings.out_type == "numpy"
        return list(map(_read_only_array, rows)) if is_array else rows

    def spanned_form(self, source: InputText, row: list[Piece], in_bytes: bool) -> Any:
        """Return a row of pieces as the output type of the settings, other than ids."""
        if self.settings.out_type not in SPAN_FORMS:
            return self._piece_form(self._piece_texts(source, row))
        row = self.with_extras(row, len(source.text))
        return to_form(with_surfaces(source, row), self.settings.out_type, in_bytes)

    def with_extras(self, row: list[Piece], length: int) -> list[Piece]:
        """Apply the extra options of the processor to the pieces of a text of `length` characters."""
        if not self.extras:
            return row
        model = self.model
        bos, eos = model.model.bos_piece, model.model.eos_piece
        ends = ((model.id_of(bos), bos, (0, 0)), (model.id_of(eos), eos, (length, length)))

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
            ends = (model.model.bos_piece, model.model.eos_piece)
            pieces = apply_extra_options(pieces, extras, ends, lambda piece: piece)
        return pieces if self.settings.out_type is str else [to_bytes(piece) for piece in pieces]

    def _ends_and_reverse(self) -> list[str]:
        """Return `reverse`, `add_bos` and `add_eos` of the settings as extra options."""
        model, settings = self.model, self.settings
        for name, is_set, piece in (
            ("add_bos", settings.add_bos, model.model.bos_piece),
            ("add_eos", settings.add_eos, model.model.eos_piece),
        ):
            if is_set and model.control_id(piece) == -1:
                raise ArgumentError(name, f"=True needs a model with the control piece {piece!r}")
        flags = {"reverse": settings.reverse, "bos": settings.add_bos, "eos": settings.add_eos}
        return [name for name, is_set in flags.items() if is_set]


def _read_only_array(row: list[int]) -> npt.NDArray[np.int32]:
    array = np.array(row, np.int32)
    array.flags.writeable = False
    return array
