"""The sizes of distinct words, from which trainers estimate the memory of learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

Amount: TypeAlias = Any  # a float64 array, or one number


@dataclass(frozen=True)
class WordSizes:
    """The distinct words of counts, their bytes and their characters."""

    words: Amount
    text: Amount
    chars: Amount


def packed_words(words: WordSizes) -> Amount:
    """Return the memory of words as sequences of entries: 4 bytes a character, 8 a word, and an index."""
    return 4.25 * (words.chars + words.words) + 8 * words.words


# ---- the learners that several trainers share


def memory_of_bpe(words: WordSizes) -> Amount:
    """Return the memory of the words, and of the positions of pairs."""
    return packed_words(words) + 8 * words.chars


def memory_of_unigram(words: WordSizes) -> Amount:
    """Return the memory of the sorted text and of the lattices."""
    return 25 * words.text + 24 * words.words


def memory_of_ranking(words: WordSizes) -> Amount:
    """Return the memory of Python objects: strings, numbers and pairs, by word."""
    return 2 * words.text + 300 * words.words
