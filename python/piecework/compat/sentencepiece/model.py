"""A `.model` as the SentencePiece-shaped classes hold it: what is asked of it again and again, found once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from piecework._core import read_sentencepiece, write_sentencepiece
from piecework._internal.validation import PathLike, path_text
from piecework.errors import ArgumentError, InputTypeError
from piecework.io.read_file import file_bytes
from piecework.spec import (
    PieceType,
    ScoredPiece,
    SentencePiece,
    SentencePieceDecoder,
    SentencePieceNormalizer,
    TokenizerSpec,
)
from piecework.tokenizer import Tokenizer

_ALSO_DECODED = ("add_dummy_prefix", "remove_extra_whitespaces")
_NORMALIZER_FIELDS = (*_ALSO_DECODED, "escape_whitespaces", "precompiled_charsmap")
_TRUTHS = {
    **dict.fromkeys(("1", "t", "true", "y", "yes"), True),
    **dict.fromkeys(("0", "f", "false", "n", "no"), False),
}


class LoadedModel:
    """A compiled model with its pieces and the ids that have a role."""

    def __init__(self, tokenizer: Tokenizer, data: bytes | None = None) -> None:
        self.tokenizer = tokenizer
        self._data = data

    @classmethod
    def from_file(cls, path: PathLike) -> LoadedModel:
        """Read a `.model`."""
        source = path_text(path)
        data = file_bytes(source, "a .model of SentencePiece")
        return cls(Tokenizer._of(read_sentencepiece(data, source)), data)

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> LoadedModel:
        """Take of a tokenizer what a `.model` can hold: no template, truncation or padding."""
        if not isinstance(tokenizer, Tokenizer):
            raise InputTypeError("tokenizer", type(tokenizer).__name__, "Tokenizer")
        return cls.from_bytes(write_sentencepiece(tokenizer._core))

    @classmethod
    def from_bytes(cls, data: Any) -> LoadedModel:
        """Read what `serialized_model_proto` gives, or the message itself."""
        if hasattr(data, "SerializeToString"):
            data = data.SerializeToString()
        if not isinstance(data, bytes):
            raise InputTypeError("model_proto", type(data).__name__, "bytes")
        return cls(Tokenizer._of(read_sentencepiece(data, "model_proto")), data)

    @property
    def data(self) -> bytes:
        """The file."""
        if self._data is None:
            self._data = write_sentencepiece(self.tokenizer._core)
        return self._data

    @cached_property
    def spec(self) -> TokenizerSpec:
        """The specification."""
        return self.tokenizer.spec

    @cached_property
    def model(self) -> SentencePiece:
        """The model's part of it."""
        assert isinstance(self.spec.model, SentencePiece)
        return self.spec.model

    @cached_property
    def decoder(self) -> SentencePieceDecoder:
        """The decoder's part of it."""
        assert isinstance(self.spec.decoder, SentencePieceDecoder)
        return self.spec.decoder

    @cached_property
    def pieces(self) -> tuple[ScoredPiece, ...]:
        """All pieces by id."""
        return self.model.pieces

    @cached_property
    def texts(self) -> list[str]:
        """Their texts by id."""
        return [piece.text for piece in self.pieces]

    @cached_property
    def ids(self) -> dict[str, int]:
        """Text -> id."""
        return self.model.vocab

    @cached_property
    def unk_id(self) -> int:
        """The id of what cannot be segmented."""
        return next(id for id, piece in enumerate(self.pieces) if piece.type == "unknown")

    def id_of(self, text: str) -> int:
        """Return the id of a piece; that of the unknown one for all others."""
        return self.ids.get(text, self.unk_id)

    def control_id(self, text: str) -> int:
        """Return the id of a control piece, -1 if there is none of this name."""
        id = self.id_of(text)
        return id if self.pieces[id].type == "control" else -1

    def is_type(self, id: int, kind: PieceType) -> bool:
        """Say whether a piece is of a kind."""
        return self.pieces[id].type == kind

    def with_normalizer_fields(self, fields: Mapping[str, Any]) -> LoadedModel:
        """Return the model with other settings of its normalizer, and what of them decoding heeds."""
        changes = {name: _normalizer_value(name, value) for name, value in fields.items()}
        decoded: dict[str, Any] = {name: changes[name] for name in _ALSO_DECODED if name in changes}
        if "precompiled_charsmap" in changes:
            changes["charsmap"] = changes.pop("precompiled_charsmap")
        assert isinstance(self.spec.normalizer, SentencePieceNormalizer)
        normalizer = replace(self.spec.normalizer, **changes)
        spec = replace(self.spec, normalizer=normalizer, decoder=replace(self.decoder, **decoded))
        return LoadedModel(Tokenizer.from_spec(spec))


def _normalizer_value(name: str, value: Any) -> Any:
    if name not in _NORMALIZER_FIELDS:
        raise ArgumentError(
            "normalizer_spec", repr(name), f"one of {', '.join(_NORMALIZER_FIELDS)}"
        )
    if name == "precompiled_charsmap":
        if not isinstance(value, bytes):
            raise InputTypeError(name, type(value).__name__, "bytes")
        return value
    truth = _TRUTHS.get(str(value).lower())
    if truth is None:
        raise ArgumentError(name, repr(value), "True or False")
    return truth
