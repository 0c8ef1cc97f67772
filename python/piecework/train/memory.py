"""Learn within a memory budget: estimate the memory of a trainer, and drop rare words that do not fit.

The estimates are upper bounds, at most 2.5 times the measured peak and 20 MB more. They count what learning
adds to the counts themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from piecework._core import check_memory
from piecework._internal.memory_budget import format_size, memory_budget
from piecework._internal.warn import warn
from piecework.errors import MemoryLimitError, TrainingWarning
from piecework.train.counts import Counts
from piecework.train.trainer import Trainer
from piecework.train.trainers.common import checked_counts
from piecework.train.word_sizes import Amount, WordSizes

_CONSTANT = 48_000_000  # buckets of a small corpus, freed memory that is not reused, Python objects
_ENTRY = 700  # an entry and its merge: in the trainer, and as Python objects of the result


@dataclass(frozen=True)
class DroppedWords:
    """The words that were dropped to learn within a budget.

    >>> print(DroppedWords(3, words=70, distinct_words=100, occurrences=90, total=1000))
    words that occur less than 3 times were dropped: 70 of 100 distinct words, 9% of all occurrences

    Words that occur less than `min_count` times were dropped: `words` of `distinct_words`, which make up
    `occurrences` of `total`.
    """

    min_count: int
    words: int
    distinct_words: int
    occurrences: int
    total: int

    def __str__(self) -> str:
        share = 100 * self.occurrences / self.total
        return (
            f"words that occur less than {self.min_count:,} times were dropped: "
            f"{self.words:,} of {self.distinct_words:,} distinct words, "
            f"{share:.2g}% of all occurrences"
        )


def estimated_memory(counts: Counts | Mapping[str, int], trainer: Trainer) -> int:
    """Return an upper bound of the memory in bytes that learning takes besides the counts.

    >>> from piecework.train import WordPieceTrainer
    >>> estimated_memory(Counts(["hug", "pug"], [10, 5]), WordPieceTrainer()) < 50_000_000
    True

    The bound is at most 2.5 times the peak and 20 MB more. It depends on the numbers of distinct words and
    characters, not on how often they occur. Raises `CorpusError` for counts without words.
    """
    import numpy as np

    counts = checked_counts(counts)
    text, chars, _ = counts._word_sizes()
    totals = [len(text), text.sum(dtype=np.uint64), chars.sum(dtype=np.uint64)]
    return int(_estimate(trainer, WordSizes(*(np.asarray(total, np.float64) for total in totals))))


def fit_to_memory(
    counts: Counts | Mapping[str, int], trainer: Trainer, memory: int | str | None = None
) -> tuple[Counts, DroppedWords | None]:
    """Return the counts that a trainer can learn from within a budget, and what was dropped.

    >>> from piecework.train import WordPieceTrainer
    >>> counts = Counts(["hug", "pug"], [10, 5])
    >>> fit_to_memory(counts, WordPieceTrainer(), "1GB")
    (Counts(2 words, 15 in total), None)

    `memory` is a size in bytes or a text such as "512MB"; None means a quarter of the memory of the
    machine. If the estimate exceeds it, words that occur less than k times are dropped, with the smallest
    k for which the rest fits, and a `TrainingWarning` says what was dropped. Raises `MemoryLimitError` if
    nothing fits, or if the system does not provide the memory.
    """
    budget = memory_budget(memory)
    counts = checked_counts(counts)
    needed = estimated_memory(counts, trainer)
    if needed <= budget:
        _check_available(needed)
        return counts, None
    try:
        least, kept = _least_count(counts, trainer, budget, needed)
        reduced = counts._at_least(least)
    except MemoryLimitError:
        raise
    except MemoryError as error:
        raise MemoryLimitError("counts", "do not fit into memory: an allocation failed") from error
    _check_available(kept)
    total, rest = counts.total, reduced.total
    dropped = DroppedWords(least, len(counts) - len(reduced), len(counts), total - rest, total)
    message = f"{dropped}, to learn within {format_size(budget)}; a larger memory budget keeps them"
    warn(message, TrainingWarning)
    return reduced, dropped


def _check_available(needed: int) -> None:
    """Raise `MemoryLimitError` if the system does not provide the memory, before learning starts."""
    check_memory(needed)


def _least_count(counts: Counts, trainer: Trainer, budget: int, needed: int) -> tuple[int, int]:
    """Return the least k for which learning from words with at least k occurrences fits, and its estimate."""
    import numpy as np

    text, chars, numbers = counts._word_sizes()
    values = np.unique(numbers)
    order = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[order], values)
    # Sums over the words that occur at least `values[i]` times.
    above = [
        np.cumsum(lengths[order][::-1], dtype=np.float64)[::-1][starts] for lengths in (text, chars)
    ]
    size = WordSizes((len(numbers) - starts).astype(np.float64), *above)
    copy = size.text + 24 * size.words
    estimates = _estimate(trainer, size) + copy
    fitting = np.flatnonzero(estimates <= budget)
    if not len(fitting):
        found = f"{format_size(budget)}, but learning takes about {format_size(needed)}"
        expected = f"at least {format_size(int(estimates[-1]) + 1)}, or a smaller vocabulary"
        raise MemoryLimitError("memory", f"= allows {found}; allow {expected}")
    return int(values[fitting[0]]), int(estimates[fitting[0]])


def _estimate(trainer: Trainer, size: WordSizes) -> Amount:
    """Return the bytes that learning takes, with the result."""
    import numpy as np

    # A vocabulary has at most one entry for each character of the distinct words.
    entries = np.minimum(trainer.vocab_size or 0, size.chars)
    return trainer.memory(size) + _ENTRY * entries + _CONSTANT
