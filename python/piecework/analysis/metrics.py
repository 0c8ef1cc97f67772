"""Measures of vocabulary use, computed from token counts.

`counts` has the count of each id, int64 of shape (ids,). `size` is the number of vocabulary entries,
unused ones included. Shares are between 0 and 1. The definitions are in
docs/explanation/analysis-measures.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Counts: TypeAlias = npt.NDArray[np.int64]

RENYI_ORDER = 2.5
TAIL_BELOW = 5
_RANKS_PER_DECADE = 10


def used_share(counts: Counts, size: int) -> float:
    """Return the share of the vocabulary that occurs at least once.

    >>> used_share(np.array([3, 0, 1, 0]), 4)
    0.5
    """
    return ratio(int(np.count_nonzero(counts)), size)


def tail_share(counts: Counts, size: int, below: int = TAIL_BELOW) -> float:
    """Return the share of the vocabulary that occurs fewer than `below` times, or never.

    >>> tail_share(np.array([9, 5, 4, 0]), 4)
    0.5
    """
    return ratio(size - int(np.count_nonzero(counts >= below)), size)


def frequency_at_95(counts: Counts, size: int) -> int:
    """Return the count of the rarest entry among the most frequent 95 % of the entries.

    >>> frequency_at_95(np.arange(1, 21), 20)
    2

    Source: Gowda and May 2020, "Finding the Optimal Vocabulary Size for Neural Machine Translation",
    measure F95%.
    """
    ranked = _sorted_descending(counts)
    place = ceil(95 * size / 100) - 1  # integer arithmetic, because 0.95 is not exact in binary
    return int(ranked[place]) if 0 <= place < len(ranked) else 0


def mean_rank(counts: Counts, size: int) -> float:
    """Return the mean frequency rank of a token of the text, as a share of the vocabulary.

    >>> mean_rank(np.array([1, 3]), 2)
    0.625

    The most frequent entry has rank 1. A small value means that few entries cover most of the text.
    """
    ranked = _sorted_descending(counts).astype(np.float64)
    ranks = np.arange(1, len(ranked) + 1)
    return ratio(float(ranks @ ranked), float(ranked.sum()) * size)


def renyi_efficiency(counts: Counts, size: int, order: float = RENYI_ORDER) -> float:
    """Return the Rényi entropy of the token distribution, divided by its maximum.

    >>> renyi_efficiency(np.array([2, 2, 2, 2]), 4), renyi_efficiency(np.array([8, 0, 0, 0]), 4)
    (1.0, 0.0)

    The result is 1 if all entries are equally frequent, and 0 if only one occurs. Order 1 is the Shannon
    entropy. The maximum is ln(size).

    Source: Zouhar et al. 2023, "Tokenization and the Noiseless Channel".
    """
    seen = counts[counts > 0]
    if len(seen) < 2 or size < 2:
        return 0.0
    shares = np.sort(seen / seen.sum())
    if order == 1:
        entropy = -float(shares @ np.log(shares))
    else:
        entropy = log(float((shares**order).sum())) / (1 - order)
    return min(1.0, entropy / log(size))


def gini(costs: Sequence[float]) -> float:
    """Return the Gini coefficient of costs: 0 if all are equal, at most 1 - 1/n for n costs.

    >>> gini([3, 3, 3]), gini([0, 0, 0, 8])
    (0.0, 0.75)

    It is half of the mean difference of two costs, divided by the mean cost.

    Source: Foroutan et al. 2025, "Parity-Aware Byte-Pair Encoding", of the tokens of languages.
    """
    ranked = np.sort(np.asarray(costs, np.float64))
    n = len(ranked)
    return ratio(float((2 * np.arange(1, n + 1) - n - 1) @ ranked), n * float(ranked.sum()))


def parity(costs: Sequence[float]) -> float:
    """Return the largest cost divided by the smallest: 1 is parity.

    >>> parity([100, 250, 200])
    2.5

    Source: Petrov et al. 2023, "Language Model Tokenizers Introduce Unfairness Between Languages".
    """
    return ratio(max(costs), min(costs))


def rank_frequencies(counts: Counts) -> tuple[tuple[int, float], ...]:
    """Return frequency ranks, about ten a decade, each with its share of the tokens.

    >>> rank_frequencies(np.array([1, 0, 3]))
    ((1, 0.75), (2, 0.25))
    """
    ranked = _sorted_descending(counts)
    ranked = ranked[: np.count_nonzero(ranked)]
    if not len(ranked):
        return ()
    steps = ceil(np.log10(len(ranked)) * _RANKS_PER_DECADE) + 1
    ranks = {min(round(10 ** (step / _RANKS_PER_DECADE)), len(ranked)) for step in range(steps)}
    total = int(ranked.sum())
    return tuple((rank, int(ranked[rank - 1]) / total) for rank in sorted(ranks))


@dataclass(frozen=True)
class SequenceLengths:
    """Tokens per text: mean, median, 95th percentile and maximum.

    >>> sequence_lengths({2: 3, 10: 1}).mean
    4.0
    """

    mean: float
    median: int
    p95: int
    longest: int


def sequence_lengths(texts_by_length: Mapping[int, int]) -> SequenceLengths:
    """Compute sequence lengths from a histogram {tokens: texts}; the median is the lower of two.

    >>> sequence_lengths({2: 3, 10: 1})
    SequenceLengths(mean=4.0, median=2, p95=10, longest=10)
    """
    lengths = np.array(sorted(texts_by_length), np.int64)
    texts = np.cumsum([texts_by_length[length] for length in lengths.tolist()], dtype=np.int64)
    total = int(texts[-1]) if len(texts) else 0
    tokens = sum(length * count for length, count in texts_by_length.items())

    def quantile(percent: int) -> int:
        place = int(np.searchsorted(texts, ceil(percent * total / 100)))
        return int(lengths[place]) if total else 0

    return SequenceLengths(ratio(tokens, total), quantile(50), quantile(95), quantile(100))


def ratio(part: float, whole: float) -> float:
    """Return part / whole, or 0.0 if `whole` is 0."""
    return float(part) / whole if whole else 0.0


def _sorted_descending(counts: Counts) -> Counts:
    return np.sort(counts)[::-1]
