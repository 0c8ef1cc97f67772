"""spaCy's rule-based tokenizers as pre-tokenizers: Don't becomes Do n't. Needs `piecework[spacy]`.

GPT split its words so, after `integrations.ftfy` (Radford et al. 2018, section 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from piecework._internal.extras import import_extra
from piecework.errors import ArgumentError, InputTypeError
from piecework.spec import CustomPreTokenizer


def pre_tokenizer(language: Any = "en") -> CustomPreTokenizer:
    """Split as spaCy does for a language ("en", "de", ...) or as a given `nlp` object does.

    >>> pre_tokenizer("en")
    CustomPreTokenizer('spacy:en')

    Only the tokenizer is used, never the models after it. Tokens of nothing but space are dropped. A
    given object is pickled whole; a language by its name. spaCy remembers every word it has seen, so
    that its memory grows with the distinct words of all texts. Raises `MissingExtraError`, and
    `ArgumentError` for a language that spaCy does not have.
    """
    if isinstance(language, str):
        _tokenizer_of(language)
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
    """Spans of the words of a text, by the rules of a language."""

    language: str

    def __call__(self, text: str) -> list[tuple[int, int]]:
        """Return (start, end) of each word in characters."""
        return _spans(_tokenizer_of(self.language)(text))


@dataclass(frozen=True)
class PipelineWords:
    """Spans of the words of a text, by the tokenizer of a given pipeline."""

    nlp: Any

    def __call__(self, text: str) -> list[tuple[int, int]]:
        """Return (start, end) of each word in characters."""
        return _spans(self.nlp.tokenizer(text))


def _spans(document: Any) -> list[tuple[int, int]]:
    return [
        (token.idx, token.idx + len(token.text)) for token in document if not token.text.isspace()
    ]


@cache
def _tokenizer_of(language: str) -> Any:
    spacy = import_extra("spacy", "spacy")
    try:
        return spacy.blank(language).tokenizer
    except ImportError as error:
        expected = "a language that spaCy has, with what that needs installed"
        raise ArgumentError("language", f"{language!r} ({error})", expected) from error
