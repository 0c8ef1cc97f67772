"""Normalization as callers of sentencepiece ask for it: rules with the handling of spaces, and offsets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from piecework._core import Core, normalize_with_offsets, read_sentencepiece_normalizer
from piecework._internal.validation import PathLike, path_text
from piecework.compat.sentencepiece.inputs import Source
from piecework.compat.sentencepiece.protos import bytes_before, message, to_bytes
from piecework.errors import ArgumentError, InputTypeError
from piecework.io.read_file import file_bytes
from piecework.normalization_rules import NormalizationRules
from piecework.spec import Char, TokenizerSpec
from piecework.spec import SentencePieceNormalizer as Specification
from piecework.tokenizer import Tokenizer

_NORMALIZER_SPEC = 3
SPACE_FLAGS = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")


class SentencePieceNormalizer:
    """Normalize as `sentencepiece.SentencePieceNormalizer` does.

    >>> normalizer = SentencePieceNormalizer(rule_name="nmt_nfkc_cf", escape_whitespaces=False)
    >>> normalizer.normalize("ＫＡＤＯＫＡＷＡ  ABC", with_offsets=True)
    (' kadokawa abc', [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13])

    The first of the sources that is given counts: a `.model` (its path or its bytes), the message of a
    normalizer's settings, a rule file, the name of rules, or rules as pairs. A flag that is not given is
    that of the model or the message, or else set. Of a model only rules and flags are taken: spaces come
    first, and its user-defined symbols are text.

    Raises `ArgumentError` for no source or an unknown name, `FileError`, `FormatError`.
    """

    def __init__(
        self,
        model_file: PathLike | None = None,
        model_proto: Any = None,
        normalizer_spec: Any = None,
        rule_tsv: PathLike | None = None,
        rule_name: str | None = None,
        norm_map: Any = None,
        add_dummy_prefix: bool | None = None,
        escape_whitespaces: bool | None = None,
        remove_extra_whitespaces: bool | None = None,
    ) -> None:
        if model_file:
            path = path_text(model_file)
            given = _read(file_bytes(path, "a .model of SentencePiece"), path)
        elif model_proto:
            given = _read(_bytes("model_proto", model_proto), "model_proto")
        elif normalizer_spec:
            data = message((_NORMALIZER_SPEC, _bytes("normalizer_spec", normalizer_spec)))
            given = _read(data, "normalizer_spec")
        else:
            given = Specification(_rules(rule_tsv, rule_name, norm_map).charsmap)
        flags = (add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces)
        self._core = _compiled(_with_flags(given, dict(zip(SPACE_FLAGS, flags, strict=True))))

    @property
    def specification(self) -> Specification:
        """Rules and flags, as a normalizer of this package."""
        normalizer = Tokenizer._of(self._core).spec.normalizer
        assert isinstance(normalizer, Specification)
        return normalizer

    def normalize(self, input: Any, with_offsets: bool | None = None) -> Any:
        """Normalize a text, or each of a list.

        With `with_offsets` each comes with the characters of the text that those of the normalized text
        begin at, and where the last ends; for bytes they are bytes.
        """
        return normalized(self._core, input, with_offsets)

    def decompile(self) -> list[tuple[str, str]]:
        """Return the rules, ordered by what they replace."""
        return list(NormalizationRules(self.specification.charsmap).to_mapping().items())

    def serialized_normalizer_spec(self) -> bytes:
        """Write rules and flags as the message of a normalizer's settings."""
        written = self.specification
        flags = (int(getattr(written, name)) for name in SPACE_FLAGS)
        return message((2, written.charsmap), *zip((3, 4, 5), flags, strict=True))

    def serialized_model_proto(self) -> bytes:
        """Write the message of a model that has only a normalizer."""
        return message((_NORMALIZER_SPEC, self.serialized_normalizer_spec()))

    def __getstate__(self) -> bytes:
        return self.serialized_model_proto()

    def __setstate__(self, state: bytes) -> None:
        self._core = _compiled(_read(state, "state"))

    Normalize = normalize
    Decompile = decompile


def normalized(core: Core, input: Any, with_offsets: bool | None) -> Any:
    """Normalize a text, or each of a list, as `SentencePieceNormalizer.normalize`."""
    if isinstance(input, list):
        sources = (Source(one, f"input[{at}]") for at, one in enumerate(input))
        return [_normalized(core, source, with_offsets) for source in sources]
    return _normalized(core, Source(input, "input"), with_offsets)


def _normalized(core: Core, source: Source, with_offsets: bool | None) -> Any:
    if not with_offsets:
        text = core.normalize(source.text)
        return to_bytes(text) if source.is_bytes else text
    text, offsets = normalize_with_offsets(core, source.text)
    if not source.is_bytes:
        return text, offsets or [0]
    before = bytes_before(source.escaped)
    data = to_bytes(text)
    by_byte = [
        before[at] for c, at in zip(text, offsets, strict=False) for _ in range(len(to_bytes(c)))
    ]
    return data, [*by_byte, before[offsets[-1]]] if offsets else []


def _compiled(normalizer: Specification) -> Core:
    return Tokenizer.from_spec(TokenizerSpec(Char({"[UNK]": 0}), normalizer=normalizer))._core


def _read(data: bytes, source: str) -> Specification:
    charsmap, prefix, remove, escape = read_sentencepiece_normalizer(data, source)
    return Specification(
        charsmap,
        add_dummy_prefix=prefix,
        remove_extra_whitespaces=remove,
        escape_whitespaces=escape,
    )


def _rules(rule_tsv: PathLike | None, rule_name: str | None, norm_map: Any) -> NormalizationRules:
    if rule_tsv:
        return NormalizationRules.from_tsv(rule_tsv)
    if rule_name:
        return NormalizationRules.named(rule_name)
    if not norm_map:
        expected = "model_file, model_proto, normalizer_spec, rule_tsv, rule_name or norm_map"
        raise ArgumentError("model_file", "no rules at all", expected)
    try:
        pairs = norm_map if isinstance(norm_map, Mapping) else dict(norm_map)
    except (TypeError, ValueError):
        raise InputTypeError("norm_map", type(norm_map).__name__, "pairs of str") from None
    return NormalizationRules.from_mapping(pairs)


def _with_flags(given: Specification, flags: Mapping[str, bool | None]) -> Specification:
    for name, flag in flags.items():
        if flag is not None and not isinstance(flag, bool):
            raise InputTypeError(name, type(flag).__name__, "bool")
    changes: dict[str, Any] = {name: flag for name, flag in flags.items() if flag is not None}
    return replace(given, **changes)


def _bytes(name: str, given: Any) -> bytes:
    data = given.SerializeToString() if hasattr(given, "SerializeToString") else given
    if not isinstance(data, bytes):
        raise InputTypeError(name, type(data).__name__, "bytes")
    return data
