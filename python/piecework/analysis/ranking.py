"""Rank tokenizers by the tokens that they need for the same texts, with intervals by texts.

Only sums over the texts are kept: the tokens of each tokenizer, and the products of the tokens of each two.
They are exact, so the order and the batches of the texts change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from piecework.analysis.metrics import ratio

FEWEST_TEXTS = 10
"""Fewer texts give no interval: the variance is that of large samples."""


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
        self._tokens = [0] * tokenizers
        self._products = [[0] * tokenizers for _ in range(tokenizers)]

    def add(self, tokens: npt.NDArray[np.int64]) -> None:
        """Add the tokens of texts, of shape (tokenizers, texts)."""
        self._texts += tokens.shape[1]
        for at, (total, products) in enumerate(
            zip(tokens.sum(axis=1).tolist(), (tokens @ tokens.T).tolist(), strict=True)
        ):
            self._tokens[at] += total
            self._products[at] = [a + b for a, b in zip(self._products[at], products, strict=True)]

    def ranks(self, names: Sequence[str]) -> tuple[TokenRank, ...]:
        """Return the ranks of the tokenizers, by charged tokens; equal ones stay in order."""
        order = sorted(range(len(names)), key=lambda at: self._tokens[at])
        return tuple(self._rank(at, names[at], order) for at in order)

    def _rank(self, at: int, name: str, order: Sequence[int]) -> TokenRank:
        cheapest = order[0]
        more = ratio(self._tokens[at] - self._tokens[cheapest], self._tokens[cheapest])
        margin = self._margin(at, cheapest)
        return TokenRank(
            name=name,
            charged_tokens=self._tokens[at],
            best=1 + sum(self._is_before(other, at) for other in order),
            worst=len(order) - sum(self._is_before(at, other) for other in order),
            more=more,
            interval=None if margin is None else (more - margin, more + margin),
        )

    def _is_before(self, at: int, other: int) -> bool:
        """Return whether a tokenizer needs fewer tokens than another one, beyond the margin."""
        fewer = self._tokens[other] - self._tokens[at]
        return fewer > 0 and ratio(fewer, self._tokens[at]) > (self._margin(other, at) or 0.0)

    def _margin(self, at: int, base: int) -> float | None:
        """Return half the width of the 95 % interval of tokens[at] / tokens[base], None without one.

        Source: Cochran 1977, "Sampling Techniques", chapter 6, the large-sample variance of a ratio.
        """
        x, y = self._tokens[base], self._tokens[at]
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
