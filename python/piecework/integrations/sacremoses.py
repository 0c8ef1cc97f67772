"""Moses' rule-based tokenizer and punctuation clean-up, through sacremoses. Needs `piecework[moses]`.

XLM and FlauBERT prepared their text so (Lample & Conneau 2019; Le et al. 2020). Moses cuts "Don't" into
Don 't; for Do n't take spaCy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from piecework._internal.extras import import_extra
from piecework.errors import ArgumentError
from piecework.spec import CustomNormalizer, CustomPreTokenizer

_SPLIT_DASH = "@-@"


def pre_tokenizer(lang: str = "en", *, aggressive_dash_splits: bool = False) -> CustomPreTokenizer:
    """Split as the Moses tokenizer does, nothing escaped.

    >>> pre_tokenizer("fr")
    CustomPreTokenizer('moses:fr')

    Control characters that Moses leaves out of a word count as part of it. A dash that
    `aggressive_dash_splits` cuts out is the dash of the text, not Moses' mark @-@. Raises
    `MissingExtraError`, and `ArgumentError` for a language that Moses does not have.
    """
    _tokenizer_of(lang)
    return CustomPreTokenizer(MosesWords(lang, aggressive_dash_splits), f"moses:{lang}")


def normalizer(
    lang: str = "en", *, replace_unicode_punct: bool = False, remove_control_chars: bool = False
) -> CustomNormalizer:
    """Make punctuation plain as Moses does: “ becomes ", … becomes three dots.

    >>> normalizer()
    CustomNormalizer('moses-punctuation:en')

    The settings are those of the scripts that usually go before and after it. Raises
    `MissingExtraError`.
    """
    rules = MosesPunctuation(lang, replace_unicode_punct, remove_control_chars)
    _punctuation_rules_of(rules)
    return CustomNormalizer(rules, f"moses-punctuation:{lang}")


@dataclass(frozen=True)
class MosesWords:
    """Spans of the words of a text, by the rules of a language."""

    lang: str
    aggressive_dash_splits: bool = False

    def __call__(self, text: str) -> list[tuple[int, int]]:
        """Return (start, end) of each word in characters."""
        words = _tokenizer_of(self.lang).tokenize(
            text, aggressive_dash_splits=self.aggressive_dash_splits, escape=False
        )
        if self.aggressive_dash_splits:
            words = ["-" if word == _SPLIT_DASH else word for word in words]
        return list(_spans(text, words))


@dataclass(frozen=True)
class MosesPunctuation:
    """Text with plain punctuation, by the rules of a language."""

    lang: str
    replace_unicode_punct: bool = False
    remove_control_chars: bool = False

    def __call__(self, text: str) -> str:
        """Return the text with plain punctuation."""
        normalized: str = _punctuation_rules_of(self).normalize(text)
        return normalized


def _spans(text: str, words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Find words from left to right; Moses leaves out space between and control characters anywhere."""
    at = 0
    for word in words:
        at = _skip_to(word[0], text, at, word)
        start = at
        for char in word:
            at = _skip_to(char, text, at, word) + 1
        yield start, at


def _skip_to(char: str, text: str, at: int, word: str) -> int:
    for place in range(at, len(text)):
        if text[place] == char:
            return place
        if not (text[place].isspace() or text[place] < " "):
            break
    rest = text[at : at + 40]
    raise ValueError(
        f"Moses made the word {word!r}, and from character {at} on the text is {rest!r}"
    )


@cache
def _tokenizer_of(lang: str) -> Any:
    sacremoses = import_extra("sacremoses", "moses")
    try:
        return sacremoses.MosesTokenizer(lang=lang)
    except (KeyError, ValueError, OSError, AttributeError, TypeError) as error:
        expected = "a language that Moses has rules for"
        raise ArgumentError("lang", f"{lang!r} ({error})", expected) from error


@cache
def _punctuation_rules_of(rules: MosesPunctuation) -> Any:
    return import_extra("sacremoses", "moses").MosesPunctNormalizer(
        lang=rules.lang,
        pre_replace_unicode_punct=rules.replace_unicode_punct,
        post_remove_control_chars=rules.remove_control_chars,
    )
