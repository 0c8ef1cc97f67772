"""Pre-tokenizers: normalized text in, words out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from piecework.errors import FormatError


@dataclass(frozen=True)
class BertPreTokenizer:
    """Split on whitespace and isolate every punctuation character.

    All ASCII characters that are neither letters, digits nor whitespace count as punctuation.
    """

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {"type": "BertPreTokenizer"}


@dataclass(frozen=True)
class WhitespaceSplit:
    """Split on whitespace and nothing else: "Transformers?" stays one word."""

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {"type": "WhitespaceSplit"}


@dataclass(frozen=True)
class Punctuation:
    """Isolate every punctuation character; whitespace is left where it is."""

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {"type": "Punctuation", "behavior": "Isolated"}


PreTokenizer: TypeAlias = BertPreTokenizer | WhitespaceSplit | Punctuation

_KINDS: dict[str, PreTokenizer] = {
    "BertPreTokenizer": BertPreTokenizer(),
    "WhitespaceSplit": WhitespaceSplit(),
    "Punctuation": Punctuation(),
}


def pre_tokenizer_from_json(value: dict[str, Any] | None) -> PreTokenizer | None:
    """Read the `pre_tokenizer` object of a `tokenizer.json`."""
    if value is None:
        return None
    if value["type"] in _KINDS:
        return _KINDS[value["type"]]
    raise FormatError("pre_tokenizer.type", repr(value["type"]), f"one of {', '.join(_KINDS)}")
