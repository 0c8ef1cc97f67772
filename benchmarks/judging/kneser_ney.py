"""An n-gram model of ids with interpolated Kneser-Ney smoothing: learned by counting, in seconds.

Chen and Goodman 1998, "An Empirical Study of Smoothing Techniques for Language Modeling", section 3 (the
modified form, with a discount each for n-grams seen once, twice, and more often). Below the highest order, an
n-gram counts once for each id that precedes it. Below the lowest, all ids are equally likely.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judging.text import Integers

ORDER = 4


@dataclass(frozen=True)
class Order:
    """The n-grams of one length: as numbers in base `entries`, in rising order, with discounted counts.

    `contexts` are the numbers of their first ids, with the total of each and the share that is left for the
    order below.
    """

    grams: Integers
    discounted: np.ndarray
    contexts: Integers
    totals: np.ndarray
    left: np.ndarray


@dataclass(frozen=True)
class KneserNey:
    """A model of `entries` ids."""

    entries: int
    orders: list[Order]

    @classmethod
    def learn(cls, ids: Integers, entries: int, order: int = ORDER) -> KneserNey:
        """Count the n-grams of a stream, up to `order` ids long.

        Raises `ValueError` if the numbers of n-grams pass 63 bits: 55,000 entries with four ids.
        """
        if entries**order >= 2**63:
            raise ValueError(f"{entries} ** {order} passes 63 bits; use a lower order")
        grams, counts = np.unique(numbers(ids, entries, order), return_counts=True)
        orders = [of_counts(grams, counts, entries)]
        for length in range(order - 1, 0, -1):
            grams, counts = np.unique(grams % entries**length, return_counts=True)
            orders.append(of_counts(grams, counts, entries))
        return cls(entries, orders[::-1])

    def bits(self, ids: Integers) -> np.ndarray:
        """Return the bits of each id after the first; the first ones have shorter contexts."""
        found = np.full(len(ids) - 1, 1 / self.entries)
        for length, order in enumerate(self.orders, 1):
            wanted = numbers(ids, self.entries, length)
            if length == 1:
                wanted = wanted[1:]
            at = found[max(length - 2, 0) :]
            at[:] = self._with(order, wanted, at)
        return -np.log2(found)

    def _with(self, order: Order, wanted: Integers, below: np.ndarray) -> np.ndarray:
        """Return probabilities from those of the order below."""
        place = np.searchsorted(order.contexts, wanted // self.entries)
        place = np.minimum(place, len(order.contexts) - 1)
        known = order.contexts[place] == wanted // self.entries
        gram = np.minimum(np.searchsorted(order.grams, wanted), len(order.grams) - 1)
        seen = np.where(order.grams[gram] == wanted, order.discounted[gram], 0.0)
        mixed = seen / order.totals[place] + order.left[place] * below
        return np.where(known, mixed, below)


def numbers(ids: Integers, entries: int, length: int) -> Integers:
    """Return the n-grams of a stream as numbers.

    >>> numbers(np.array([1, 2, 3]), 10, 2)
    array([12, 23])
    """
    found = np.zeros(max(len(ids) - length + 1, 0), np.int64)
    for at in range(length):
        found = found * entries + ids[at : at + len(found)]
    return found


def of_counts(grams: Integers, counts: Integers, entries: int) -> Order:
    """Return n-grams with discounted counts, and what each context has left."""
    discounts = discounts_of(counts)[np.minimum(counts, 3)]
    contexts, starts = np.unique(grams // entries, return_index=True)
    totals = np.add.reduceat(counts, starts).astype(float)
    left = np.add.reduceat(discounts, starts) / totals
    return Order(grams, counts - discounts, contexts, totals, left)


def discounts_of(counts: Integers) -> np.ndarray:
    """Return the discount of n-grams by their count: none, 1, 2, and 3 or more.

    >>> discounts_of(np.array([1, 1, 1, 1, 2, 2, 3, 4])).round(2).tolist()
    [0.0, 0.5, 1.25, 1.0]
    """
    once, twice, thrice, often = (int((counts == count).sum()) for count in (1, 2, 3, 4))
    if not once or not twice:
        return np.array([0.0, 0.5, 0.5, 0.5])
    share = once / (once + 2 * twice)
    found = [
        0.0,
        1 - 2 * share * twice / once,
        2 - 3 * share * thrice / twice,
        3 - 4 * share * often / thrice if thrice else 1.0,
    ]
    # Few counts can give a discount that is negative or as large as the count.
    return np.array([0.0, *np.clip(found[1:], 0.1, [0.95, 1.9, 2.9])])
