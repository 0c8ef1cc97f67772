"""The pre-tokenizers of well-known byte-level models, by the names of their split patterns."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from piecework.errors import ArgumentError, InputTypeError
from piecework.spec.patterns import Regex
from piecework.spec.pre_tokenizers import ByteLevel, PreTokenizer, SequencePreTokenizer, Split
from piecework.spec.split_patterns import GPT2_PATTERN, PATTERNS

NAMED_PATTERNS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(PATTERNS)


def named_pre_tokenizer(name: str) -> PreTokenizer:
    r"""Return the byte-level pre-tokenizer of a named pattern.

    >>> named_pre_tokenizer("gpt2")
    ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=True)
    >>> named_pre_tokenizer("cl100k").pretokenizers[1]
    ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=False)

    `NAMED_PATTERNS` has the names. The Qwen models also normalize to NFC, which the pattern does not
    include. Raises `ArgumentError` for an unknown name.
    """
    if not isinstance(name, str) or name not in NAMED_PATTERNS:  # type: ignore[redundant-expr]
        raise ArgumentError("pattern", f"must be one of {', '.join(NAMED_PATTERNS)}, not {name!r}")
    if NAMED_PATTERNS[name] == (GPT2_PATTERN,):
        return ByteLevel(add_prefix_space=False)
    return split_bytes(NAMED_PATTERNS[name])


def split_bytes(patterns: tuple[str, ...]) -> PreTokenizer:
    r"""Return a pre-tokenizer that splits with each pattern in turn, then maps bytes to characters.

    >>> len(split_bytes((r"\p{N}", r"\s+")).pretokenizers)
    3
    """
    if not isinstance(patterns, (tuple, list)):
        raise InputTypeError("patterns", f"must be a tuple, not {type(patterns).__name__}")
    splits = [Split(Regex(pattern), "isolated") for pattern in patterns]
    return SequencePreTokenizer((*splits, ByteLevel(add_prefix_space=False, use_regex=False)))
