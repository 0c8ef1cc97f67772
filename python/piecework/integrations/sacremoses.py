"""The rule-based tokenizer and punctuation normalizer of Moses, with sacremoses.

Requires `piecework[moses]`. XLM (Lample & Conneau 2019) and FlauBERT (Le et al. 2020) use these stages.
Moses splits "Don't" into Don 't; spaCy splits it into Do n't.
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
    """Return a pre-tokenizer that splits like the Moses tokenizer, without escaping.

    >>> pre_tokenizer("fr")
    CustomPreTokenizer('moses:fr')

    Moses drops control characters inside a word; here they are part of the word. A dash split off by
    `aggressive_dash_splits` stays a dash, where Moses writes @-@. Raises `MissingExtraError` if sacremoses is
    not installed, and `ArgumentError` for an unknown language.
    """
    _load_tokenizer(lang)
    return CustomPreTokenizer(MosesWords(lang, aggressive_dash_splits), f"moses:{lang}")


def normalizer(
    lang: str = "en", *, replace_unicode_punct: bool = False, remove_control_chars: bool = False
) -> CustomNormalizer:
    """Return a normalizer for punctuation, like that of Moses: “ becomes ", … becomes three dots.

    >>> normalizer()
    CustomNormalizer('moses-punctuation:en')

    `replace_unicode_punct` and `remove_control_chars` add the steps of two other Moses scripts, before and
    after it. Raises `MissingExtraError` if sacremoses is not installed.
    """
    rules = MosesPunctuation(lang, replace_unicode_punct, remove_control_chars)
    _punctuation_normalizer(rules)
    return CustomNormalizer(rules, f"moses-punctuation:{lang}")


@dataclass(frozen=True)
class MosesWords:
    """A function that splits a text into words, by the rules of a language."""

    lang: str
    aggressive_dash_splits: bool = False

    def __call__(self, text: str) -> list[tuple[int, int]]:
        """Return the span of each word, in characters."""
        words = _load_tokenizer(self.lang).tokenize(
            text, aggressive_dash_splits=self.aggressive_dash_splits, escape=False
        )
        if self.aggressive_dash_splits:
            words = ["-" if word == _SPLIT_DASH else word for word in words]
        return list(_spans(text, words))


@dataclass(frozen=True)
class MosesPunctuation:
    """A function that normalizes punctuation, by the rules of a language."""

    lang: str
    replace_unicode_punct: bool = False
    remove_control_chars: bool = False

    def __call__(self, text: str) -> str:
        """Return the text with normalized punctuation."""
        normalized: str = _punctuation_normalizer(self).normalize(text)
        return normalized


def _spans(text: str, words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Find words from left to right; Moses drops whitespace between them and all control characters."""
    at = 0
    for word in words:
        at = _skip_to(word[0], text, at, word)
        start = at
        for char in word:
            at = _skip_to(char, text, at, word) + 1
        yield start, at


def _skip_to(char: str, text: str, at: int, word: str) -> int:
    for index in range(at, len(text)):
        if text[index] == char:
            return index
        if not (text[index].isspace() or text[index] < " "):
            break
    rest = text[at : at + 40]
    raise ValueError(
        f"cannot locate the word {word!r} of Moses in the text from character {at}: {rest!r}"
    )


@cache
def _load_tokenizer(lang: str) -> Any:
    sacremoses = import_extra("sacremoses", "moses")
    try:
        return sacremoses.MosesTokenizer(lang=lang)
    except (KeyError, ValueError, OSError, AttributeError, TypeError) as error:
        expected = "a language with rules in Moses, such as 'en'"
        problem = f": Moses has no rules for {lang!r} ({error}); use {expected}"
        raise ArgumentError("lang", problem) from error


@cache
def _punctuation_normalizer(rules: MosesPunctuation) -> Any:
    return import_extra("sacremoses", "moses").MosesPunctNormalizer(
        lang=rules.lang,
        pre_replace_unicode_punct=rules.replace_unicode_punct,
        post_remove_control_chars=rules.remove_control_chars,
    )
