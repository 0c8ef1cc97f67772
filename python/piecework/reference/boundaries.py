"""Words with boundaries inside that no entry may cross: what learners learn from.

A word with boundaries is the sequence of its parts. A learner takes each part as a word of its own, except
that only the first part begins a word and only the last part ends one. So every symbol of a later part has
the continuation prefix, and no symbol of an earlier part has the end-of-word suffix. All other rules for
words apply to parts: a character outside the alphabet leaves out its part, not the whole word.

Parts with the same text are one word if a model cannot tell them apart: without a prefix, it does not matter
whether a part begins its word, and without a suffix, whether it ends it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

Self = TypeVar("Self", bound="Part")


class Part(str):
    """The text of a part, and whether it begins and ends its word; a plain string does both."""

    begins: bool
    ends: bool

    def __new__(cls: type[Self], text: str, begins: bool, ends: bool) -> Self:
        """Return the text with what a string does not know."""
        part = super().__new__(cls, text)
        part.begins, part.ends = begins, ends
        return part


def parts(
    words: Iterable[tuple[str, Sequence[int], int]], *, prefix: str = "", suffix: str = ""
) -> list[tuple[str, int]]:
    """Return the parts of words with boundaries and their counts, in order of first occurrence.

    >>> words = [("undo", (2,), 3), ("do", (), 1)]
    >>> parts(words)
    [('un', 3), ('do', 4)]
    >>> [(part, begins(part), count) for part, count in parts(words, prefix="##")]
    [('un', True, 3), ('do', False, 3), ('do', True, 1)]

    A boundary is the number of characters before it.
    """
    counts: dict[tuple[str, bool, bool], int] = {}
    for word, boundaries, count in words:
        for start, end in pairwise([0, *boundaries, len(word)]):
            is_first, is_last = start == 0 or not prefix, end == len(word) or not suffix
            key = word[start:end], is_first, is_last
            counts[key] = counts.get(key, 0) + count
    return [(Part(*key), count) for key, count in counts.items()]


def begins(word: str) -> bool:
    """Return whether a word or a part begins a word.

    >>> begins("do"), begins(Part("do", False, True))
    (True, False)
    """
    return getattr(word, "begins", True)


def symbols(word: str, prefix: str = "", suffix: str = "") -> list[str]:
    """Return the characters of a word or a part with prefix and suffix.

    >>> symbols("undo", "##", "</w>"), symbols(Part("do", False, True), "##")
    (['u', '##n', '##d', '##o</w>'], ['##d', '##o'])
    """
    last = len(word) - 1 if getattr(word, "ends", True) else None
    return [
        ("" if at == 0 and begins(word) else prefix) + character + (suffix if at == last else "")
        for at, character in enumerate(word)
    ]
