"""The sizes of distinct words, from which trainers estimate the memory of learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Amount: TypeAlias = Any  # a float64 array, or one number

_PAIR: Final = 110  # a tracked pair, in the tables of the trainer
_COUNTED_PAIR: Final = 86  # a pair in the table that counts all of them, while that grows
_BY_SOURCE: Final = 100  # a pair in the counts by source and in heaps, and rarer tracked pairs
_CELLS_PER_PAIR: Final = 8  # characters of the words for each pair in that table, at least

FREQUENCY_POSITIONS: Final = 1.5  # bytes a character: positions of pairs that are tracked by count


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


def memory_of_merges(words: WordSizes, position_bytes: float) -> Amount:
    """Return the memory of the words, and of tracked pairs or of the table that counts pairs before.

    `position_bytes` are the bytes a character that the positions of tracked pairs take, outdated ones
    included.
    """
    import numpy as np

    counted = _COUNTED_PAIR / _CELLS_PER_PAIR * (words.chars + words.words)
    tracked = _PAIR * np.minimum(words.chars / 8, 400_000) + position_bytes * words.chars
    return packed_words(words) + np.maximum(counted, tracked)


def memory_of_bpe(words: WordSizes) -> Amount:
    """Return the memory of merging the most frequent pair."""
    return memory_of_merges(words, FREQUENCY_POSITIONS)


def memory_of_parity(words: WordSizes) -> Amount:
    """Return the memory of merging the most frequent pair of one source after the other.

    Rare pairs of a large source are tracked as soon as a small source chooses pairs that are as rare.
    """
    by_source = _BY_SOURCE / _CELLS_PER_PAIR * (words.chars + words.words)
    return memory_of_bpe(words) + by_source


def memory_of_unigram(words: WordSizes) -> Amount:
    """Return the memory of the text sorted by substrings, and of seeds or the links of positions."""
    index, seeds = 10.25, 12
    return (index + seeds) * (words.chars + words.words) + 12 * words.words


def memory_of_ranking(words: WordSizes) -> Amount:
    """Return the memory of Python objects: strings, numbers and pairs, by word."""
    return 2 * words.text + 300 * words.words
