"""Which shard a document belongs to: that of its input, or one of N shards of equal size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from piecework.corpus.formats import without_suffixes


class ShardPlan:
    """Assigns documents to shards by the position of their first byte in all inputs.

    Positions count stored bytes, so shards of compressed files have equal shares of the compressed sizes.
    With `count` None, each input is a shard. The plan depends on sizes only: no file is read, and a run that
    continues assigns the same documents.
    """

    def __init__(self, sizes: Sequence[int], count: int | None) -> None:
        self.count = len(sizes) if count is None else count
        self._file_starts = [0, *accumulate(sizes)]
        total = self._file_starts[-1]
        by_input = self._file_starts[:-1]
        equal = [number * total // self.count for number in range(self.count)]
        self._shard_starts = np.array(by_input if count is None else equal, np.int64)
        self._is_by_input = count is None

    def shards_of_file(self, file: int) -> range:
        """Return the numbers of the shards that the documents of an input can belong to."""
        if self._is_by_input:
            return range(file, file + 1)
        start, end = self._file_starts[file], self._file_starts[file + 1]
        return range(self._at(start), self._at(max(start, end - 1)) + 1)

    def shards_of_positions(self, file: int, positions: np.ndarray[Any, Any]) -> Any:
        """Return the numbers of the shards of documents at some bytes of an input."""
        shards = self.shards_of_file(file)
        if len(shards) == 1:
            return np.full(len(positions), shards[0])
        found = np.searchsorted(self._shard_starts, self._file_starts[file] + positions, "right")
        return np.clip(found - 1, shards[0], shards[-1])

    def _at(self, position: int) -> int:
        return int(np.searchsorted(self._shard_starts, position, "right")) - 1


def shard_names(
    inputs: Sequence[str], count: int | None, files_of: Callable[[str], Sequence[str]]
) -> list[str]:
    """Return the name of each shard: those of the inputs, or `shard-00002-of-00008`.

    >>> shard_names(["a/x.jsonl.gz", "a/y.txt"], None, lambda name: [name + ".npy"])
    ['x', 'y']
    >>> shard_names(["a/x.txt", "b/x.txt"], None, lambda name: [name + ".npy"])
    ['00000-x', '00001-x']

    The names of inputs get numbers if two shards would have a file of the same name.
    """
    if count is not None:
        return [f"shard-{number:05}-of-{count:05}" for number in range(count)]
    names = [without_suffixes(path) for path in inputs]
    uses = Counter(file.lower() for name in names for file in files_of(name))
    if max(uses.values()) > 1:
        return [f"{number:05}-{name}" for number, name in enumerate(names)]
    return names
