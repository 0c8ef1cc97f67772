"""The rule-based tokenizers of spaCy as pre-tokenizers: Don't becomes Do n't.

Requires `piecework[spacy]`. GPT splits words this way, after `integrations.ftfy` (Radford et al. 2018,
section 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from piecework._internal.extras import import_extra
from piecework.errors import ArgumentError, InputTypeError
from piecework.spec import CustomPreTokenizer


def pre_tokenizer(language: Any = "en") -> CustomPreTokenizer:
    """Return a pre-tokenizer for a language ("en", "de", ...) or for an `nlp` object of spaCy.

    >>> pre_tokenizer("en")
    CustomPreTokenizer('spacy:en')

    It uses only the tokenizer of the pipeline. Whitespace tokens are dropped. A language is pickled by name,
    an `nlp` object by value. spaCy caches each distinct word, so its memory grows with the number of
    distinct words. Raises `MissingExtraError` if spaCy is not installed, and `ArgumentError` for an unknown
    language.
    """
    if isinstance(language, str):
        _load_tokenizer(language)
        return CustomPreTokenizer(LanguageWords(language), f"spacy:{language}")
    if not callable(getattr(language, "tokenizer", None)):
        found = type(language).__name__
        raise InputTypeError(
            "language", found, "a language such as 'en', or an nlp object of spaCy"
        )
    name = f"spacy:{language.meta['lang']}_{language.meta['name']}"
    return CustomPreTokenizer(PipelineWords(language), name)


@dataclass(frozen=True)
class LanguageWords:
    """A function that splits a text into words, by the rules of a language."""

    language: str

    def __call__(self, text: str) -> list[tuple[int, int]]:
        """Return the span of each word, in characters."""
        return _spans(_load_tokenizer(self.language)(text))


@dataclass(frozen=True)
class PipelineWords:
    """A function that splits a text into words, with the tokenizer of a pipeline."""

    nlp: Any

    def __call__(self, text: str) -> list[tuple[int, int]]:
        """Return the span of each word, in characters."""
        return _spans(self.nlp.tokenizer(text))


def _spans(document: Any) -> list[tuple[int, int]]:
    return [
        (token.idx, token.idx + len(token.text)) for token in document if not token.text.isspace()
    ]


@cache
def _load_tokenizer(language: str) -> Any:
    spacy = import_extra("spacy", "spacy")
    try:
        return spacy.blank(language).tokenizer
    except ImportError as error:
        expected = "a language of spaCy, with the packages it requires"
        raise ArgumentError("language", f"{language!r} ({error})", expected) from error
