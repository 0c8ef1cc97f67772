"""Superwords: BPE entries that cross spaces, learned after those of single words.

Text is split into sequences of words, and the sequences are counted. Learning has two stages:

1. The words of the sequences give the entries up to `transition`, as BPE without superwords does.
2. These merges segment the sequences, and merging continues, now also between words.

The model merges the pairs of both stages in their order. A word begins at a space after another character
than white space; `max_words` limits how many an entry spans.

Source: Liu et al. 2025, "SuperBPE: Space Travel for Language Models", section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from piecework.errors import TrainingError
from piecework.reference import bpe, bpe_training
from piecework.reference.bpe_training import LearnedBPE, Settings
from piecework.reference.words import count_parts

SPACE = "Ġ"
WHITE_SPACE = "ĠĉĊČč"


def learn(
    sequences: Sequence[tuple[str, int]],
    words_of: Callable[[str], list[str]],
    settings: Settings,
    transition: int,
    max_words: int | None = None,
    *,
    is_exact: bool = True,
) -> LearnedBPE:
    """Learn from counts of sequences in the byte-level alphabet; `words_of` splits one of them.

    >>> sequences = [("ofĠthe", 3), ("ofĠa", 2), ("the", 2)]
    >>> learned = learn(sequences, lambda text: text.replace("Ġ", " Ġ").split(), Settings(11), 10)
    >>> learned.merges
    [('h', 'e'), ('o', 'f'), ('t', 'he'), ('of', 'Ġ')]

    Raises `TrainingError` when the words yield fewer entries than `transition`; if that is not exact, the
    entries that cross spaces follow those of the words.
    """
    before = min(transition, settings.vocab_size)
    words = count_words(sequences, words_of)
    learned = bpe_training.learn(words, replace(settings, vocab_size=before))
    if is_exact and transition >= settings.vocab_size:
        return learned
    if is_exact and len(learned.vocab) < transition:
        raise TrainingError("transition", f"must be at most {len(learned.vocab)}, not {transition}")
    merges = list(dict.fromkeys(learned.merges))
    splits = [(bpe.encode(text, merges), count) for text, count in sequences]

    def allowed(pair: tuple[str, str]) -> bool:
        return max_words is None or number_of_words("".join(pair)) <= max_words

    bpe_training.learn_merges(learned, splits, settings, allowed)
    return learned


def count_words(
    sequences: Sequence[tuple[str, int]], words_of: Callable[[str], list[str]]
) -> list[tuple[str, int]]:
    """Count the words of sequences, in order of first occurrence.

    >>> count_words([("a b", 2), ("b", 3)], str.split)
    [('a', 2), ('b', 5)]
    """
    return list(count_parts(sequences, words_of).items())


def number_of_words(entry: str) -> int:
    """Count the words that an entry spans.

    >>> [number_of_words(entry) for entry in ("Ġof", "ĠofĠthe", "ingĠ", "ĠĠĠ")]
    [1, 2, 2, 1]
    """
    return 1 + sum(two == SPACE and one not in WHITE_SPACE for one, two in pairwise(entry))
