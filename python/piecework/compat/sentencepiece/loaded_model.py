"""A loaded `.model`: its tokenizer, its pieces by id, and the ids with a role, each computed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from piecework import Tokenizer
from piecework._internal.validation import PathLike, check_type, path_text
from piecework.errors import ArgumentError, IdRangeError
from piecework.io.format_detection import SENTENCEPIECE_MODEL
from piecework.io.read_file import file_bytes
from piecework.io.saving import tokenizer_bytes
from piecework.spec import (
    PieceType,
    SentencePiece,
    SentencePieceDecoder,
    SentencePieceNormalizer,
    TokenizerSpec,
)

_DECODER_FIELDS = ("add_dummy_prefix", "remove_extra_whitespaces")
_NORMALIZER_FIELDS = (*_DECODER_FIELDS, "escape_whitespaces", "precompiled_charsmap")
BOOLEANS = {
    **dict.fromkeys(("1", "t", "true", "y", "yes"), True),
    **dict.fromkeys(("0", "f", "false", "n", "no"), False),
}


class LoadedModel:
    """A compiled model, its pieces, and the ids with a role."""

    def __init__(self, tokenizer: Tokenizer, data: bytes | None = None) -> None:
        self.tokenizer = tokenizer
        self._data = data

    @classmethod
    def from_file(cls, path: PathLike) -> LoadedModel:
        """Read a `.model` file."""
        source = path_text(path)
        data = file_bytes(source, "a .model of SentencePiece")
        return cls(_read_model(data, source), data)

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer) -> LoadedModel:
        """Convert a tokenizer; the post-processor, truncation and padding are dropped."""
        check_type("tokenizer", tokenizer, Tokenizer, "Tokenizer")
        return cls.from_bytes(tokenizer_bytes(tokenizer, ".model"))

    @classmethod
    def from_bytes(cls, data: Any) -> LoadedModel:
        """Read the bytes of a `.model`, or a protobuf message with `SerializeToString`."""
        data = proto_bytes("model_proto", data)
        return cls(_read_model(data, "model_proto"), data)

    @property
    def data(self) -> bytes:
        """The bytes of the `.model`."""
        if self._data is None:
            self._data = tokenizer_bytes(self.tokenizer, ".model")
        return self._data

    @cached_property
    def spec(self) -> TokenizerSpec:
        """The specification of the tokenizer."""
        return self.tokenizer.spec

    @cached_property
    def model(self) -> SentencePiece:
        """The specification of the model."""
        assert isinstance(self.spec.model, SentencePiece)
        return self.spec.model

    @cached_property
    def decoder(self) -> SentencePieceDecoder:
        """The specification of the decoder."""
        assert isinstance(self.spec.decoder, SentencePieceDecoder)
        return self.spec.decoder

    @cached_property
    def texts(self) -> list[str]:
        """The texts of the pieces by id."""
        return [piece.text for piece in self.model.pieces]

    @cached_property
    def ids(self) -> dict[str, int]:
        """Text of a piece -> id."""
        return self.model.vocab

    @cached_property
    def unk_id(self) -> int:
        """The id of the unknown piece."""
        return next(id for id, piece in enumerate(self.model.pieces) if piece.type == "unknown")

    def id_of(self, text: str) -> int:
        """Return the id of a piece; the id of the unknown piece if it is not in the vocabulary."""
        return self.ids.get(text, self.unk_id)

    @cached_property
    def ends(self) -> tuple[tuple[str, int], tuple[str, int]]:
        """The BOS and the EOS piece, with their ids."""
        bos, eos = self.model.bos_piece, self.model.eos_piece
        return (bos, self.id_of(bos)), (eos, self.id_of(eos))

    def control_id(self, text: str) -> int:
        """Return the id of a control piece, -1 if the model has no control piece of this name."""
        id = self.id_of(text)
        return id if self.model.pieces[id].type == "control" else -1

    def is_type(self, id: int, kind: PieceType) -> bool:
        """Return whether a piece has the type `kind`."""
        return self.model.pieces[id].type == kind

    def checked_ids(self, ids: Any) -> list[int]:
        """Return ids as a list; raises `InputTypeError` or `IdRangeError` for an invalid one."""
        listed = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
        size = len(self.model.pieces)
        for id in listed:
            check_type("id", id, (int, np.integer), "int")
            if not 0 <= id < size:
                raise IdRangeError("id", f"must be an id from 0 to {size - 1}, not {id}")
        return listed

    def with_normalizer_fields(self, fields: Mapping[str, Any]) -> LoadedModel:
        """Return the model with other normalizer settings; the decoder changes with them."""
        changes = {name: _normalizer_value(name, value) for name, value in fields.items()}
        decoder: dict[str, Any] = {
            name: changes[name] for name in _DECODER_FIELDS if name in changes
        }
        if "precompiled_charsmap" in changes:
            changes["charsmap"] = changes.pop("precompiled_charsmap")
        assert isinstance(self.spec.normalizer, SentencePieceNormalizer)
        normalizer = replace(self.spec.normalizer, **changes)
        spec = replace(self.spec, normalizer=normalizer, decoder=replace(self.decoder, **decoder))
        return LoadedModel(Tokenizer.from_spec(spec))


def proto_bytes(name: str, given: Any) -> bytes:
    """Return the bytes of a message, given as such or as an object with `SerializeToString`."""
    data = given.SerializeToString() if hasattr(given, "SerializeToString") else given
    check_type(name, data, bytes, "bytes")
    return data  # type: ignore[no-any-return]


def _read_model(data: bytes, source: str) -> Tokenizer:
    return Tokenizer.from_bytes(data, format=SENTENCEPIECE_MODEL, source=source)


def _normalizer_value(name: str, value: Any) -> Any:
    if name not in _NORMALIZER_FIELDS:
        problem = f"must be one of {', '.join(_NORMALIZER_FIELDS)}, not {name!r}"
        raise ArgumentError("normalizer_spec", problem)
    if name == "precompiled_charsmap":
        check_type(name, value, bytes, "bytes")
        return value
    flag = BOOLEANS.get(str(value).lower())
    if flag is None:
        raise ArgumentError(name, f"must be True or False, not {value!r}")
    return flag
