"""Which sentences of a corpus are learned from: not too long, not too many, drawn at random or the first.

A sentence is a line of plain text, or a whole text of JSON lines or of an iterator.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Sentences:
    """What is taken of a corpus.

    >>> Sentences(max_bytes=4192).max_bytes
    4192

    Sentences of more than `max_bytes` bytes of UTF-8 are left out, and those with a character of
    `reserved`. `size` is how many are taken at most, 0 for all; `shuffle` draws them at random, the same
    ones for the same `seed`, and else they are the first.
    """

    max_bytes: int | None = None
    reserved: str = ""
    size: int = 0
    shuffle: bool = True
    seed: int = 0


class Reservoir(Generic[Item]):
    """Draws a number of items from a stream, each set of them equally likely.

    >>> reservoir = Reservoir(2, seed=1)
    >>> reservoir.add_all(["a", "b", "c", "d"])
    >>> len(reservoir.drawn)
    2

    Source: Vitter 1985, algorithm R.
    """

    def __init__(self, size: int, seed: int) -> None:
        self.drawn: list[Item] = []
        self.seen = 0
        self._size = size
        self._random = random.Random(seed)

    def add(self, item: Item) -> None:
        """Consider the next item."""
        self.seen += 1
        if len(self.drawn) < self._size:
            self.drawn.append(item)
            return
        at = self._random.randrange(self.seen)
        if at < self._size:
            self.drawn[at] = item

    def add_all(self, items: Iterable[Item]) -> None:
        """Consider the next items."""
        for item in items:
            self.add(item)
