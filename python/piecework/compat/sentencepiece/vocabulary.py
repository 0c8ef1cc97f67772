"""The half of the SentencePiece-shaped processor that loads a model and knows its pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from piecework._internal.validation import PathLike
from piecework.compat.sentencepiece.inputs import Settings, Source, extra_options
from piecework.compat.sentencepiece.model import LoadedModel
from piecework.compat.sentencepiece.normalizer import normalized
from piecework.errors import ArgumentError, IdRangeError, InputTypeError
from piecework.tokenizer import Tokenizer


class Vocabulary:
    """A model, its pieces and ids, and what text becomes before it is segmented."""

    _loaded: LoadedModel | None = None
    _settings: Settings
    _encode_extras: tuple[str, ...] = ()
    _decode_extras: tuple[str, ...] = ()

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer behind, with all that it can do."""
        return self._model.tokenizer

    # ---- the model

    def load(self, model_file: PathLike | None = None, model_proto: Any = None) -> bool:
        """Read a `.model`, from a path or from its bytes."""
        if model_file and model_proto:
            raise ArgumentError("model_proto", "given with model_file", "one of the two")
        if model_proto:
            return self.load_from_serialized_proto(model_proto)
        if model_file:
            return self.load_from_file(model_file)
        raise ArgumentError("model_file", "nothing", "a path, or model_proto with its bytes")

    def load_from_file(self, filename: PathLike) -> bool:
        """Read a `.model`; raises `FileError`, and `FormatError` with the field."""
        self._loaded = LoadedModel.from_file(filename)
        return True

    def load_from_serialized_proto(self, serialized: Any) -> bool:
        """Read the bytes of a `.model`; raises `FormatError` with the field."""
        self._loaded = LoadedModel.from_bytes(serialized)
        return True

    def serialized_model_proto(self) -> bytes:
        """Return the bytes of the `.model`, restricted or changed as it is now."""
        return self._model.data

    def override_normalizer_spec(self, **kwargs: Any) -> bool:
        """Change settings of the normalizer, and of decoding where it heeds them.

        These are `add_dummy_prefix`, `remove_extra_whitespaces`, `escape_whitespaces` and
        `precompiled_charsmap`.
        """
        self._loaded = self._model.with_normalizer_fields(kwargs)
        return True

    # ---- which pieces are given out, and what is put around them

    def set_vocabulary(self, valid_vocab: Sequence[str]) -> bool:
        """Give out these pieces alone, and single characters.

        No id changes. Raises `ArgumentError` for models of words and characters.
        """
        self._loaded = LoadedModel(self.tokenizer.with_vocabulary(valid_vocab))
        return True

    def reset_vocabulary(self) -> bool:
        """Give out all pieces again."""
        self._loaded = LoadedModel(self.tokenizer.with_vocabulary(None))
        return True

    def load_vocabulary(self, filename: PathLike, threshold: int) -> bool:
        """Give out the pieces alone that a file says are found at least `threshold` times.

        A line holds a piece, a tab and its count, which is 1 where there is none.
        """
        self._loaded = LoadedModel(self.tokenizer.with_vocabulary(filename, threshold=threshold))
        return True

    def set_encode_extra_options(self, extra_option: str) -> bool:
        """Say what is done to all encodings: `bos`, `eos`, `reverse`, `unk`, with colons between.

        They are done in this order. `unk` names unknown pieces as the unknown one, not by their text.
        """
        self._encode_extras = self._checked_extras(extra_option)
        return True

    def set_decode_extra_options(self, extra_option: str) -> bool:
        """Say what is done to all that is decoded, before it is; see `set_encode_extra_options`."""
        self._decode_extras = self._checked_extras(extra_option)
        return True

    # ---- pieces and ids

    def get_piece_size(self) -> int:
        """Return the number of pieces, 0 before a model is loaded."""
        return 0 if self._loaded is None else len(self._loaded.pieces)

    def piece_to_id(self, piece: Any) -> Any:
        """Return the id of a piece, or of each; for what is none, that of the unknown piece."""
        if isinstance(piece, (str, bytes)):
            return self._model.id_of(Source(piece, "piece").escaped)
        if not _is_sequence(piece):
            raise InputTypeError("piece", type(piece).__name__, "str or a list of str")
        return [
            self._model.id_of(Source(one, f"piece[{i}]").escaped) for i, one in enumerate(piece)
        ]

    def id_to_piece(self, id: Any) -> Any:
        """Return the piece of an id, or of each; raises `IdRangeError`, an `IndexError`."""
        return self._each(id, lambda id: self._model.texts[id])

    def get_score(self, id: Any) -> Any:
        """Return the score of a piece, or of each."""
        return self._each(id, lambda id: self._model.pieces[id].score)

    def is_unknown(self, id: Any) -> Any:
        """Say whether a piece is the unknown one, or each."""
        return self._each(id, lambda id: self._model.is_type(id, "unknown"))

    def is_control(self, id: Any) -> Any:
        """Say whether a piece is never found in text, such as `<s>`, or each."""
        return self._each(id, lambda id: self._model.is_type(id, "control"))

    def is_unused(self, id: Any) -> Any:
        """Say whether a piece is not given out, or each."""
        return self._each(id, lambda id: self._model.is_type(id, "unused"))

    def is_byte(self, id: Any) -> Any:
        """Say whether a piece stands for a byte, or each."""
        return self._each(id, lambda id: self._model.is_type(id, "byte"))

    def unk_id(self) -> int:
        """Return the id of the unknown piece."""
        return self._model.unk_id

    def bos_id(self) -> int:
        """Return the id of the piece that begins a text, -1 if there is none."""
        return self._model.control_id(self._model.model.bos_piece)

    def eos_id(self) -> int:
        """Return the id of the piece that ends a text, -1 if there is none."""
        return self._model.control_id(self._model.model.eos_piece)

    def pad_id(self) -> int:
        """Return the id of the piece that fills a batch, -1 if there is none."""
        return self._model.control_id(self._model.model.pad_piece)

    def __len__(self) -> int:
        return self.get_piece_size()

    def __getitem__(self, piece: Any) -> Any:
        return self.piece_to_id(piece)

    # ---- text before it is segmented

    def normalize(self, input: Any, with_offsets: bool | None = None) -> Any:
        """Normalize a text, or each of a list.

        With `with_offsets` each comes with the characters of the text that those of the normalized text
        begin at, and where the last ends; for bytes they are bytes.
        """
        return normalized(self.tokenizer._core, input, with_offsets)

    # ---- for the other halves

    @property
    def _model(self) -> LoadedModel:
        if self._loaded is None:
            raise ArgumentError("model", "none loaded", "a model: see load")
        return self._loaded

    def _checked_extras(self, extra_option: str) -> tuple[str, ...]:
        extras = extra_options(extra_option)
        for name, piece in (
            ("bos", self._model.model.bos_piece),
            ("eos", self._model.model.eos_piece),
        ):
            if name in extras and self._model.id_of(piece) == self._model.unk_id:
                found = f"{name!r} for a model without {piece!r}"
                raise ArgumentError("extra_option", found, "pieces that the model has")
        return extras

    def _each(self, id: Any, of: Callable[[int], Any]) -> Any:
        if _is_sequence(id):
            return [of(one) for one in self._checked_ids(id)]
        return of(self._checked_ids([id])[0])

    def _checked_ids(self, ids: Any) -> list[int]:
        listed = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
        size = self.get_piece_size()
        for id in listed:
            if not isinstance(id, (int, np.integer)):
                raise InputTypeError("id", type(id).__name__, "int")
            if not 0 <= id < size:
                raise IdRangeError("id", str(id), f"an id from 0 to {size - 1}")
        return listed

    LoadFromFile = load_from_file
    LoadFromSerializedProto = load_from_serialized_proto
    Load = load
    OverrideNormalizerSpec = override_normalizer_spec
    SetVocabulary = set_vocabulary
    ResetVocabulary = reset_vocabulary
    LoadVocabulary = load_vocabulary
    SetEncodeExtraOptions = set_encode_extra_options
    SetDecodeExtraOptions = set_decode_extra_options
    GetPieceSize = piece_size = vocab_size = get_piece_size
    PieceToId = piece_to_id
    IdToPiece = id_to_piece
    GetScore = get_score
    IsUnknown = is_unknown
    IsControl = is_control
    IsUnused = is_unused
    IsByte = is_byte
    Normalize = normalize


def _is_sequence(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))
