"""`SentencePieceNormalizer`: normalization rules with whitespace handling, and offsets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import piecework as pw
from piecework import Tokenizer
from piecework._internal.validation import PathLike, path_text
from piecework.compat.sentencepiece.loaded_model import proto_bytes
from piecework.compat.sentencepiece.texts import InputText, byte_offsets, message, to_bytes
from piecework.errors import ArgumentError, InputTypeError
from piecework.io.format_readers import read_normalizer
from piecework.io.normalization_rules import NormalizationRules
from piecework.io.read_file import file_bytes
from piecework.spec import Char, TokenizerSpec
from piecework.spec import SentencePieceNormalizer as NormalizerSpec

_NORMALIZER_SPEC_FIELD = 3
WHITESPACE_FLAGS = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")


class SentencePieceNormalizer:
    """Normalize like `sentencepiece.SentencePieceNormalizer`.

    >>> normalizer = SentencePieceNormalizer(rule_name="nmt_nfkc_cf", escape_whitespaces=False)
    >>> normalizer.normalize("ＫＡＤＯＫＡＷＡ  ABC", with_offsets=True)
    (' kadokawa abc', [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13])

    The rules come from the first argument that is given: a `.model` (path or bytes), a serialized
    normalizer specification, a rule file, the name of a rule set, or pairs. A flag that is not given comes
    from the model or specification, and is True without one. Only rules and flags of a model are used:
    its user-defined symbols are plain text, and `treat_whitespace_as_suffix` does not apply.

    Raises `ArgumentError` for missing rules or an unknown name, `FileError`, and `FormatError`.
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
            spec = read_normalizer(file_bytes(path, "a .model of SentencePiece"), path)
        elif model_proto:
            spec = read_normalizer(proto_bytes("model_proto", model_proto), "model_proto")
        elif normalizer_spec:
            field = proto_bytes("normalizer_spec", normalizer_spec)
            spec = read_normalizer(message((_NORMALIZER_SPEC_FIELD, field)), "normalizer_spec")
        else:
            spec = NormalizerSpec(_read_rules(rule_tsv, rule_name, norm_map).charsmap)
        flags = (add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces)
        spec = _with_flags(spec, dict(zip(WHITESPACE_FLAGS, flags, strict=True)))
        self._tokenizer = _tokenizer_for(spec)

    @property
    def specification(self) -> NormalizerSpec:
        """Rules and flags, as a `piecework.spec.SentencePieceNormalizer`."""
        normalizer = self._tokenizer.spec.normalizer
        assert isinstance(normalizer, NormalizerSpec)
        return normalizer

    def normalize(self, input: Any, with_offsets: bool | None = None) -> Any:
        """Normalize a text, or each text of a list.

        With `with_offsets`, return each text with a list: where each normalized character starts in the
        input, and where the last one ends. For bytes, offsets count bytes.
        """
        return normalize_input(self._tokenizer, input, with_offsets)

    def decompile(self) -> list[tuple[str, str]]:
        """Return the rules as (source, replacement), sorted by source."""
        return list(NormalizationRules(self.specification.charsmap).to_mapping().items())

    def serialized_normalizer_spec(self) -> bytes:
        """Return rules and flags as a serialized `NormalizerSpec` message."""
        spec = self.specification
        flags = (int(getattr(spec, name)) for name in WHITESPACE_FLAGS)
        return message((2, spec.charsmap), *zip((3, 4, 5), flags, strict=True))

    def serialized_model_proto(self) -> bytes:
        """Return a serialized `ModelProto` message that has only a normalizer."""
        return message((_NORMALIZER_SPEC_FIELD, self.serialized_normalizer_spec()))

    def __getstate__(self) -> bytes:
        return self.serialized_model_proto()

    def __setstate__(self, state: bytes) -> None:
        self._tokenizer = _tokenizer_for(read_normalizer(state, "state"))

    Normalize = normalize
    Decompile = decompile


def normalize_input(tokenizer: Tokenizer, input: Any, with_offsets: bool | None) -> Any:
    """Normalize a text, or each text of a list; see `SentencePieceNormalizer.normalize`."""
    if isinstance(input, list):
        sources = (InputText(one, f"input[{at}]") for at, one in enumerate(input))
        return [_normalize(tokenizer, source, with_offsets) for source in sources]
    return _normalize(tokenizer, InputText(input, "input"), with_offsets)


def _normalize(tokenizer: Tokenizer, source: InputText, with_offsets: bool | None) -> Any:
    if not with_offsets:
        text = tokenizer.normalize(source.text)
        return to_bytes(text) if source.is_bytes else text
    text, offsets = pw.tokenizer.stages.normalize_with_offsets(tokenizer, source.text)
    if not source.is_bytes:
        return text, offsets or [0]
    in_bytes = byte_offsets(source.escaped)
    by_byte = [
        in_bytes[at] for c, at in zip(text, offsets, strict=False) for _ in range(len(to_bytes(c)))
    ]
    return to_bytes(text), [*by_byte, in_bytes[offsets[-1]]] if offsets else []


def _tokenizer_for(normalizer: NormalizerSpec) -> Tokenizer:
    """Compile a tokenizer that is used for its normalizer only."""
    return Tokenizer.from_spec(TokenizerSpec(Char({"[UNK]": 0}), normalizer=normalizer))


def _read_rules(
    rule_tsv: PathLike | None, rule_name: str | None, norm_map: Any
) -> NormalizationRules:
    if rule_tsv:
        return NormalizationRules.from_tsv(rule_tsv)
    if rule_name:
        return NormalizationRules.named(rule_name)
    if not norm_map:
        expected = "model_file, model_proto, normalizer_spec, rule_tsv, rule_name or norm_map"
        message = f"no normalization rules are given; pass one of {expected}"
        raise ArgumentError("model_file", message)
    return NormalizationRules.from_mapping(_checked_pairs(norm_map))


def _checked_pairs(norm_map: Any) -> dict[str, str]:
    """Return pairs as a dict; raise for a source that is given twice or that nothing would change."""
    given = norm_map.items() if isinstance(norm_map, Mapping) else norm_map
    try:
        pairs = [(_rule_text(source), _rule_text(target)) for source, target in given]
    except (TypeError, ValueError):
        raise InputTypeError(
            "norm_map", f"must be pairs of str, not {type(norm_map).__name__}"
        ) from None
    rules: dict[str, str] = {}
    for source, target in pairs:
        if source == target or source in rules:
            found = f"{source!r} twice" if source in rules else f"{source!r} for itself"
            problem = f"contains {found}; give one other text for each source"
            raise ArgumentError("norm_map", problem)
        rules[source] = target
    return rules


def _rule_text(text: Any) -> str:
    """Return one side of a rule, given as text or as UTF-8."""
    if not isinstance(text, (str, bytes)):
        raise TypeError
    return text.decode() if isinstance(text, bytes) else text


def _with_flags(spec: NormalizerSpec, flags: Mapping[str, bool | None]) -> NormalizerSpec:
    for name, flag in flags.items():
        if flag is not None and not isinstance(flag, bool):
            raise InputTypeError(name, f"must be bool, not {type(flag).__name__}")
    changes: dict[str, Any] = {name: flag for name, flag in flags.items() if flag is not None}
    return replace(spec, **changes)
