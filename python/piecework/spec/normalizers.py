"""Normalizers: text in, cleaned text out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from piecework.errors import FormatError


@dataclass(frozen=True)
class BertNormalizer:
    """Clean, space out CJK ideographs, strip accents and lowercase, in this order, as BERT does.

    >>> BertNormalizer(lowercase=False).to_json()["strip_accents"] is None
    True

    `strip_accents=None` follows `lowercase`. Source: BERT's BasicTokenizer (Devlin et al. 2019,
    reference code), with the character classes of `tokenizers` 0.23.
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {
            "type": "BertNormalizer",
            "clean_text": self.clean_text,
            "handle_chinese_chars": self.handle_chinese_chars,
            "strip_accents": self.strip_accents,
            "lowercase": self.lowercase,
        }


Normalizer: TypeAlias = BertNormalizer


def normalizer_from_json(value: dict[str, Any] | None) -> Normalizer | None:
    """Read the `normalizer` object of a `tokenizer.json`."""
    if value is None:
        return None
    if value["type"] == "BertNormalizer":
        return BertNormalizer(
            clean_text=value["clean_text"],
            handle_chinese_chars=value["handle_chinese_chars"],
            strip_accents=value["strip_accents"],
            lowercase=value["lowercase"],
        )
    raise FormatError("normalizer.type", repr(value["type"]), "BertNormalizer")
