"""Pre-tokenizers for languages without spaces between words: jieba, or any segmentation function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from piecework._internal.extras import import_extra
from piecework.spec import CustomPreTokenizer
from piecework.spec.custom import name_of


def jieba(*, hmm: bool = True) -> CustomPreTokenizer:
    """Return a pre-tokenizer that splits Chinese text with `jieba.cut`. Requires `piecework[jieba]`.

    >>> jieba()
    CustomPreTokenizer('jieba:cut')

    `hmm` also finds words outside the dictionary. Raises `MissingExtraError` if jieba is not installed.
    """
    import_extra("jieba", "jieba")
    return CustomPreTokenizer(JiebaWords(hmm), "jieba:cut")


def pre_tokenizer(
    cut: Callable[[str], Iterable[str]], name: str | None = None
) -> CustomPreTokenizer:
    """Return a pre-tokenizer for a function that returns the words of a text: of MeCab, pythainlp, ...

    >>> pre_tokenizer(str.split)
    CustomPreTokenizer('builtins:str.split')

    `cut` returns words of the text as `str`, in order; whitespace words are dropped. Wrap a segmenter that
    returns other objects. The pre-tokenizer can be pickled if `cut` can.
    """
    return CustomPreTokenizer(SegmentedWords(cut), name_of(cut) if name is None else name)


@dataclass(frozen=True)
class JiebaWords:
    """A function that returns the words jieba finds."""

    hmm: bool

    def __call__(self, text: str) -> list[str]:
        """Return the words of a text, in order."""
        return _drop_whitespace(import_extra("jieba", "jieba").cut(text, HMM=self.hmm))


@dataclass(frozen=True)
class SegmentedWords:
    """A function that returns the words `cut` finds, without whitespace."""

    cut: Callable[[str], Iterable[str]]

    def __call__(self, text: str) -> list[str]:
        """Return the words of a text, in order."""
        return _drop_whitespace(self.cut(text))


def _drop_whitespace(words: Iterable[Any]) -> list[str]:
    # The core raises for a word that is not a string.
    return [word for word in words if not (isinstance(word, str) and word.isspace())]
