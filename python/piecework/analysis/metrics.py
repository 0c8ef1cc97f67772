"""Measures of vocabulary use, computed from token counts.

`counts` has the count of each id, int64 of shape (ids,). `size` is the number of vocabulary entries,
unused ones included. Shares are between 0 and 1. The definitions are in
docs/explanation/analysis-measures.md.

Tokenizers are ranked by the tokens that they need for the same texts, with intervals by texts. Only exact
sums over the texts are kept, so the order and the batches of the texts change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log, sqrt
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Counts: TypeAlias = npt.NDArray[np.int64]

RENYI_ORDER = 2.5
TAIL_BELOW = 5


def used_share(counts: Counts, size: int) -> float:
    """Return the share of the vocabulary that occurs at least once.

    >>> used_share(np.array([3, 0, 1, 0]), 4)
    0.5
    """
    return ratio(int(np.count_nonzero(counts)), size)


def tail_share(counts: Counts, size: int) -> float:
    """Return the share of the vocabulary that occurs fewer than `TAIL_BELOW` times, or never.

    >>> tail_share(np.array([9, 5, 4, 0]), 4)
    0.5
    """
    return ratio(size - int(np.count_nonzero(counts >= TAIL_BELOW)), size)


def frequency_at_95(counts: Counts, size: int) -> int:
    """Return the count of the rarest entry among the most frequent 95 % of the entries.

    >>> frequency_at_95(np.arange(1, 21), 20)
    2

    Source: Gowda and May 2020, "Finding the Optimal Vocabulary Size for Neural Machine Translation",
    measure F95%.
    """
    ranked = np.sort(counts)[::-1]
    place = ceil(95 * size / 100) - 1  # integer arithmetic, because 0.95 is not exact in binary
    return int(ranked[place]) if 0 <= place < len(ranked) else 0


def mean_rank(counts: Counts, size: int) -> float:
    """Return the mean frequency rank of a token of the text, as a share of the vocabulary.

    >>> mean_rank(np.array([1, 3]), 2)
    0.625

    The most frequent entry has rank 1. A small value means that few entries cover most of the text.
    """
    ranked = np.sort(counts)[::-1].astype(np.float64)
    ranks = np.arange(1, len(ranked) + 1)
    return ratio(float(ranks @ ranked), float(ranked.sum()) * size)


def renyi_efficiency(counts: Counts, size: int) -> float:
    """Return the Rényi entropy of order `RENYI_ORDER` of the token distribution, divided by its maximum.

    >>> renyi_efficiency(np.array([2, 2, 2, 2]), 4), renyi_efficiency(np.array([8, 0, 0, 0]), 4)
    (1.0, 0.0)

    The result is 1 if all entries are equally frequent, and 0 if only one occurs. The maximum is
    ln(size).

    Source: Zouhar et al. 2023, "Tokenization and the Noiseless Channel".
    """
    seen = counts[counts > 0]
    if len(seen) < 2 or size < 2:
        return 0.0
    shares = np.sort(seen / seen.sum())
    entropy = log(float((shares**RENYI_ORDER).sum())) / (1 - RENYI_ORDER)
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


FEWEST_TEXTS = 10
"""Fewer texts give no interval: the variance formula holds for large samples."""


@dataclass(frozen=True)
class TokenRank:
    """The rank of one tokenizer by its charged tokens, and its difference from the first one.

    >>> import piecework as pw
    >>> spec = pw.spec
    >>> letters = pw.Tokenizer(spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> pairs = pw.Tokenizer(spec.BPE({"a": 0, "b": 1, "ab": 2}, (("a", "b"),)))
    >>> tokenizers, texts = {"letters": letters, "pairs": pairs}, ["abab", "aba"] * 5
    >>> first, second = pw.analysis.compare(tokenizers, texts).ranks
    >>> first.name, second.name, second.best, second.more
    ('pairs', 'letters', 2, 0.75)
    >>> [round(limit, 2) for limit in second.interval]
    [0.56, 0.94]

    `more` is the number of charged tokens divided by the smallest number, minus 1. `interval` is its 95 %
    interval over the texts, None for fewer than 10 texts. `best` and `worst` are the ranks that the texts
    leave open: a tokenizer is before another one if it has fewer tokens, and the interval of their difference
    does not include 0.
    """

    name: str
    charged_tokens: int
    best: int
    worst: int
    more: float
    interval: tuple[float, float] | None


class TokenSums:
    """Sums over texts of the tokens of several tokenizers, and of the products of each two.

    >>> sums = TokenSums(2)
    >>> sums.add(np.array([[10, 11, 9], [10, 13, 10]]))
    >>> [(one.name, one.charged_tokens, round(one.more, 3)) for one in sums.ranks(["a", "b"])]
    [('a', 30, 0.0), ('b', 33, 0.1)]
    """

    def __init__(self, tokenizers: int) -> None:
        self._texts = 0
        # Python integers: products of corpora of any size are exact.
        self.tokens = [0] * tokenizers
        """The tokens of each tokenizer so far."""
        self._products = [[0] * tokenizers for _ in range(tokenizers)]

    def add(self, tokens: npt.NDArray[np.int64]) -> None:
        """Add the tokens of texts, of shape (tokenizers, texts)."""
        self._texts += tokens.shape[1]
        for at, (total, products) in enumerate(
            zip(tokens.sum(axis=1).tolist(), (tokens @ tokens.T).tolist(), strict=True)
        ):
            self.tokens[at] += total
            self._products[at] = [a + b for a, b in zip(self._products[at], products, strict=True)]

    def ranks(self, names: Sequence[str]) -> tuple[TokenRank, ...]:
        """Return the ranks of the tokenizers, by charged tokens; equal ones stay in order."""
        order = sorted(range(len(names)), key=lambda at: self.tokens[at])
        return tuple(self._rank(at, names[at], order) for at in order)

    def _rank(self, at: int, name: str, order: Sequence[int]) -> TokenRank:
        cheapest = order[0]
        more = ratio(self.tokens[at] - self.tokens[cheapest], self.tokens[cheapest])
        margin = self.margin(at, cheapest)
        return TokenRank(
            name=name,
            charged_tokens=self.tokens[at],
            best=1 + sum(self._is_before(other, at) for other in order),
            worst=len(order) - sum(self._is_before(at, other) for other in order),
            more=more,
            interval=None if margin is None else (more - margin, more + margin),
        )

    def _is_before(self, at: int, other: int) -> bool:
        """Return whether a tokenizer needs fewer tokens than another one, beyond the margin."""
        fewer = self.tokens[other] - self.tokens[at]
        return fewer > 0 and ratio(fewer, self.tokens[at]) > (self.margin(other, at) or 0.0)

    def margin(self, at: int, base: int) -> float | None:
        """Return half the width of the 95 % interval of tokens[at] / tokens[base], None without one.

        Source: Cochran 1977, "Sampling Techniques", chapter 6, the large-sample variance of a ratio.
        """
        x, y = self.tokens[base], self.tokens[at]
        if self._texts < FEWEST_TEXTS or not x:
            return None
        products = self._products
        residuals = y * y * products[base][base] - 2 * x * y * products[base][at]
        residuals += x * x * products[at][at]
        variance = residuals / x**4 * self._texts / (self._texts - 1)
        return _student(self._texts - 1) * sqrt(variance)


def _student(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t distribution, to 0.001 for 9 degrees of freedom or more.

    Source: Abramowitz and Stegun 1964, "Handbook of Mathematical Functions", 26.7.5.
    """
    return 1.960 + 2.372 / freedom + 2.822 / freedom**2 + 2.556 / freedom**3
