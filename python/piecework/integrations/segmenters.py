"""Word segmenters for texts without spaces, as pre-tokenizers: jieba, and any function like its `cut`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from piecework._internal.extras import import_extra
from piecework.spec import CustomPreTokenizer
from piecework.spec.custom import name_of


def jieba(*, hmm: bool = True) -> CustomPreTokenizer:
    """Split Chinese text as `jieba.cut` does. Needs `piecework[jieba]`.

    >>> jieba()
    CustomPreTokenizer('jieba:cut')

    `hmm` also finds words that its dictionary lacks. Raises `MissingExtraError`.
    """
    import_extra("jieba", "jieba")
    return CustomPreTokenizer(JiebaWords(hmm), "jieba:cut")


def pre_tokenizer(
    cut: Callable[[str], Iterable[str]], name: str | None = None
) -> CustomPreTokenizer:
    """Split by a function from a text to its words: a segmenter of MeCab, pythainlp, ...

    >>> pre_tokenizer(str.split)
    CustomPreTokenizer('builtins:str.split')

    The words stand in the text, in order; those of nothing but space are dropped. For a segmenter whose
    words are objects, give a function that names their texts. It pickles when `cut` does.
    """
    return CustomPreTokenizer(SegmentedWords(cut), name_of(cut) if name is None else name)


@dataclass(frozen=True)
class JiebaWords:
    """The words that jieba finds."""

    hmm: bool

    def __call__(self, text: str) -> list[str]:
        """Return the words of a text, in order."""
        return _without_space(import_extra("jieba", "jieba").cut(text, HMM=self.hmm))


@dataclass(frozen=True)
class SegmentedWords:
    """The words that a function finds."""

    cut: Callable[[str], Iterable[str]]

    def __call__(self, text: str) -> list[str]:
        """Return the words of a text, in order."""
        return _without_space(self.cut(text))


def _without_space(words: Iterable[Any]) -> list[str]:
    # What is no string is for the core to refuse.
    return [word for word in words if not (isinstance(word, str) and word.isspace())]
