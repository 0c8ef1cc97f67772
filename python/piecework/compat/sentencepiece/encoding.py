"""The half of the SentencePiece-shaped processor that encodes, one way or as many as are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from piecework._core import pieces
from piecework._internal.threads import thread_count
from piecework._internal.types import Drawn
from piecework.compat.sentencepiece.forms import FORMS, Spanned, formed, spelled
from piecework.compat.sentencepiece.inputs import (
    DrawOptions,
    Options,
    OutType,
    Settings,
    Source,
    sources_of,
    with_extras,
)
from piecework.compat.sentencepiece.protos import to_bytes
from piecework.compat.sentencepiece.vocabulary import Vocabulary
from piecework.errors import ArgumentError

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Encoding(Vocabulary):
    """Text to pieces, ids, and protos with spans."""

    def encode(
        self,
        input: Any,
        out_type: OutType | None = None,
        *,
        return_bytes: bool | None = None,
        **options: Unpack[DrawOptions],
    ) -> Any:
        """Encode a text, or each of a list.

        `out_type`: int or "numpy" for ids, str or bytes for pieces, "proto" (`SentencePieceText`),
        "immutable_proto" (with spans in characters), "serialized_proto" (bytes), or "offset_mapping"
        (a dict of ids, pieces and spans, in bytes with `return_bytes`). Ends are added after `reverse`.
        `emit_unk_piece` names unknown pieces `<unk>`, not by their text.

        With `enable_sampling` segmentations are drawn: from all (`nbest_size=-1`) or from the
        `nbest_size` best, with probabilities proportional to exp(alpha * score); for BPE `alpha` is the
        share of merges that is left out.
        """
        settings = self._settings.given(out_type, options)
        sources = sources_of(input)
        if return_bytes is not None and settings.out_type != "offset_mapping":
            raise ArgumentError(
                "return_bytes", repr(settings.out_type), "out_type='offset_mapping'"
            )
        in_bytes = bool(sources and sources[0].is_bytes) if return_bytes is None else return_bytes
        rows = self._rows(sources, settings, in_bytes)
        return rows if isinstance(input, list) else rows[0]

    def encode_as_ids(self, input: Any, **options: Unpack[DrawOptions]) -> Any:
        """Encode to ids; see `encode`."""
        return self.encode(input, int, **options)

    def encode_as_pieces(self, input: Any, **options: Unpack[DrawOptions]) -> Any:
        """Encode to pieces; see `encode`."""
        return self.encode(input, str, **options)

    def encode_as_numpy(self, input: Any, **options: Unpack[DrawOptions]) -> Any:
        """Encode to arrays of ids, int32; see `encode`."""
        return self.encode(input, "numpy", **options)

    def encode_as_proto(self, input: Any, **options: Unpack[DrawOptions]) -> Any:
        """Encode to `SentencePieceText`; see `encode`."""
        return self.encode(input, "proto", **options)

    def encode_as_serialized_proto(self, input: Any, **options: Unpack[DrawOptions]) -> Any:
        """Encode to bytes of a proto; see `encode`."""
        return self.encode(input, "serialized_proto", **options)

    def encode_as_immutable_proto(self, input: Any, **options: Unpack[DrawOptions]) -> Any:
        """Encode to `ImmutableSentencePieceText`; see `encode`."""
        return self.encode(input, "immutable_proto", **options)

    def encode_as_offset_mapping(
        self, input: Any, return_bytes: bool | None = None, **options: Unpack[DrawOptions]
    ) -> Any:
        """Encode to ids, pieces and spans; see `encode`."""
        return self.encode(input, "offset_mapping", return_bytes=return_bytes, **options)

    def sample_encode_as_ids(
        self,
        input: Any,
        nbest_size: int | None = None,
        alpha: float | None = None,
        **options: Unpack[Options],
    ) -> Any:
        """Encode to ids, drawn; see `encode`."""
        return self._sampled(input, int, nbest_size, alpha, options)

    def sample_encode_as_pieces(
        self,
        input: Any,
        nbest_size: int | None = None,
        alpha: float | None = None,
        **options: Unpack[Options],
    ) -> Any:
        """Encode to pieces, drawn; see `encode`."""
        return self._sampled(input, str, nbest_size, alpha, options)

    def sample_encode_as_numpy(
        self,
        input: Any,
        nbest_size: int | None = None,
        alpha: float | None = None,
        **options: Unpack[Options],
    ) -> Any:
        """Encode to arrays of ids, drawn; see `encode`."""
        return self._sampled(input, "numpy", nbest_size, alpha, options)

    def sample_encode_as_proto(
        self,
        input: Any,
        nbest_size: int | None = None,
        alpha: float | None = None,
        **options: Unpack[Options],
    ) -> Any:
        """Encode to `SentencePieceText`, drawn; see `encode`."""
        return self._sampled(input, "proto", nbest_size, alpha, options)

    def sample_encode_as_serialized_proto(
        self,
        input: Any,
        nbest_size: int | None = None,
        alpha: float | None = None,
        **options: Unpack[Options],
    ) -> Any:
        """Encode to bytes of a proto, drawn; see `encode`."""
        return self._sampled(input, "serialized_proto", nbest_size, alpha, options)

    def sample_encode_as_immutable_proto(
        self,
        input: Any,
        nbest_size: int | None = None,
        alpha: float | None = None,
        **options: Unpack[Options],
    ) -> Any:
        """Encode to `ImmutableSentencePieceText`, drawn; see `encode`."""
        return self._sampled(input, "immutable_proto", nbest_size, alpha, options)

    def _sampled(
        self,
        input: Any,
        out_type: OutType,
        nbest_size: int | None,
        alpha: float | None,
        options: Options,
    ) -> Any:
        return self.encode(
            input, out_type, enable_sampling=True, nbest_size=nbest_size, alpha=alpha, **options
        )

    # ---- rows of ids or pieces, and what they are given as

    def _rows(self, sources: list[Source], settings: Settings, in_bytes: bool) -> list[Any]:
        drawn = settings.drawn(self._model.model.kind) if settings.enable_sampling else None
        if settings.out_type in (int, "numpy"):
            return self._as_ids(self._id_rows(sources, settings, drawn), settings)
        if settings.out_type not in FORMS:
            names = self._name_rows(sources, settings, drawn)
            return [self._as_names(row, settings) for row in names]
        settings.refuse_extras()
        spanned = (self._spanned(source, drawn, at) for at, source in enumerate(sources))
        pairs = zip(sources, spanned, strict=True)
        return [self._as_pieces(source, row, settings, in_bytes) for source, row in pairs]

    def _id_rows(
        self, sources: list[Source], settings: Settings, drawn: Drawn | None
    ) -> list[list[int]]:
        batch = self.tokenizer._core.encode_batch(
            [source.text for source in sources],
            None,
            add_special_tokens=False,
            is_pretokenized=False,
            parse_special=[],
            sampling=drawn,
            offsets=False,
            overflow=False,
            num_threads=thread_count(settings.thread_limit if len(sources) > 1 else 1),
        )
        return batch.lists()

    def _name_rows(
        self, sources: list[Source], settings: Settings, drawn: Drawn | None
    ) -> list[list[str]]:
        """Return the pieces of each text, by its ids alone where these say all."""
        texts, unk_id = self._model.texts, self._model.unk_id
        rows = self._id_rows(sources, settings, drawn)
        return [
            self._names(source, self._spanned(source, drawn, at))
            if self._encode_extras or unk_id in row
            else [texts[id] for id in row]
            for at, (source, row) in enumerate(zip(sources, rows, strict=True))
        ]

    def _names(self, source: Source, row: list[Spanned]) -> list[str]:
        return [text for _, text, _ in self._with_encode_extras(row, len(source.text))]

    def _spanned(self, source: Source, drawn: Drawn | None, row: int) -> list[Spanned]:
        at_row = drawn and (*drawn[:3], row)
        return self._named(pieces(self.tokenizer._core, source.text, sampling=at_row))

    def _named(self, found: list[Spanned]) -> list[Spanned]:
        """Name the pieces as the vocabulary does, but for unknown ones: by their text."""
        model = self._model
        return [
            (id, text if id == model.unk_id else model.texts[id], span) for id, text, span in found
        ]

    def _as_ids(self, rows: list[list[int]], settings: Settings) -> list[Any]:
        """Return rows of ids with what is put around them, in the form that is wanted."""
        extras = (*self._encode_extras, *self._extras_of(settings))
        if extras:
            model = self._model
            ends = (model.id_of(model.model.bos_piece), model.id_of(model.model.eos_piece))
            rows = [with_extras(row, extras, ends, lambda id: id) for row in rows]
        is_array = settings.out_type == "numpy"
        return [np.array(row, np.int32) for row in rows] if is_array else rows

    def _as_pieces(
        self, source: Source, row: list[Spanned], settings: Settings, in_bytes: bool
    ) -> Any:
        """Return a row of pieces in the form that is wanted."""
        if settings.out_type not in FORMS:
            return self._as_names(self._names(source, row), settings)
        row = self._with_encode_extras(row, len(source.text))
        return formed(spelled(source, row), settings.out_type, in_bytes)

    def _as_names(self, names: list[str], settings: Settings) -> Any:
        model = self._model
        if settings.emit_unk_piece:
            unk = model.texts[model.unk_id]
            names = [unk if model.id_of(name) == model.unk_id else name for name in names]
        extras = self._extras_of(settings)
        if extras:
            ends = (model.model.bos_piece, model.model.eos_piece)
            names = with_extras(names, extras, ends, lambda name: name)
        return names if settings.out_type is str else [to_bytes(name) for name in names]

    def _with_encode_extras(self, row: list[Spanned], length: int) -> list[Spanned]:
        if not self._encode_extras:
            return row
        model = self._model
        bos, eos = model.model.bos_piece, model.model.eos_piece
        ends = ((model.id_of(bos), bos, (0, 0)), (model.id_of(eos), eos, (length, length)))

        def unnamed(piece: Spanned) -> Spanned:
            return (piece[0], model.texts[piece[0]], piece[2])

        return with_extras(row, self._encode_extras, ends, unnamed)

    def _extras_of(self, settings: Settings) -> list[str]:
        """Return what is put around a row by the settings, having checked that it can be."""
        for name, is_wanted, id in (
            ("add_bos", settings.add_bos, self.bos_id),
            ("add_eos", settings.add_eos, self.eos_id),
        ):
            if is_wanted and id() == -1:
                raise ArgumentError(
                    name, "a model without this control piece", "a model that has it"
                )
        names = {"reverse": settings.reverse, "bos": settings.add_bos, "eos": settings.add_eos}
        return [name for name, is_wanted in names.items() if is_wanted]

    Encode = Tokenize = tokenize = encode
    EncodeAsIds = encode_as_ids
    EncodeAsPieces = encode_as_pieces
    EncodeAsNumpy = encode_as_numpy
    EncodeAsProto = encode_as_proto
    EncodeAsSerializedProto = encode_as_serialized_proto
    EncodeAsImmutableProto = encode_as_immutable_proto
    EncodeAsOffsetMapping = encode_as_offset_mapping
    SampleEncodeAsIds = sample_encode_as_ids
    SampleEncodeAsPieces = sample_encode_as_pieces
    SampleEncodeAsNumpy = sample_encode_as_numpy
    SampleEncodeAsProto = sample_encode_as_proto
    SampleEncodeAsSerializedProto = sample_encode_as_serialized_proto
    SampleEncodeAsImmutableProto = sample_encode_as_immutable_proto
