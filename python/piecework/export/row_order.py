"""Shuffle the documents of a shard reproducibly, in windows of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from random import Random
from typing import Any

import numpy as np

from piecework.export.encoded_lines import EncodedLines, with_rows

WINDOW_TOKENS = 16 << 20
_TOKENS_AT_ONCE = 1 << 20


class Shuffle:
    """Collects documents until a window has 16 million tokens, and returns them in random order.

    The order depends on the seed, the number of the shard and the documents only, in every version of Python
    and numpy.
    """

    def __init__(self, seed: int, shard: int) -> None:
        # Python promises the same `random()` for a seed in all versions, but not the same `shuffle()`.
        self._draw = Random(f"{seed} {shard}").random
        self._window: list[EncodedLines] = []
        self._tokens = 0

    def add(self, lines: EncodedLines) -> Iterator[EncodedLines]:
        """Add documents; yields a full window in random order."""
        tokens = len(lines.batch.ids)
        if self._window and self._tokens + tokens > WINDOW_TOKENS:
            yield from self.finish()
        self._window.append(lines)
        self._tokens += tokens

    def finish(self) -> Iterator[EncodedLines]:
        """Yield the last window in random order."""
        window, self._window, self._tokens = self._window, [], 0
        if window:
            lines = _concatenated(window)
            window.clear()
            keys = [self._draw() for _ in range(len(lines.batch))]
            yield from _reordered(lines, np.argsort(keys, kind="stable"))


def gather(
    values: np.ndarray[Any, Any], starts: np.ndarray[Any, Any], lengths: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the spans of an array one after the other, and the offsets of each in the result.

    >>> values, offsets = gather(np.arange(10), np.array([7, 2]), np.array([2, 3]))
    >>> values.tolist(), offsets.tolist()
    ([7, 8, 2, 3, 4], [0, 2, 5])
    """
    offsets = row_offsets_of(lengths)
    index = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
    return values[index], offsets


def row_offsets_of(lengths: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the offsets of rows of some lengths, and the number of values."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def _concatenated(window: Sequence[EncodedLines]) -> EncodedLines:
    if len(window) == 1:
        return window[0]
    ids = np.concatenate([lines.batch.ids for lines in window])
    lengths = np.concatenate([np.diff(lines.batch.row_offsets) for lines in window])
    kept = {
        name: list(chain.from_iterable(lines.kept[name] for lines in window))
        for name in window[0].kept
    }
    return EncodedLines(with_rows(window[0].batch, ids, row_offsets_of(lengths)), kept=kept)


def _reordered(lines: EncodedLines, order: np.ndarray[Any, Any]) -> Iterator[EncodedLines]:
    """Yield the rows in another order, in batches of about a million tokens."""
    starts = lines.batch.row_offsets[:-1][order]
    lengths = np.diff(lines.batch.row_offsets)[order]
    batch_of_row = np.cumsum(lengths) // _TOKENS_AT_ONCE
    for rows in np.split(np.arange(len(order)), np.flatnonzero(np.diff(batch_of_row)) + 1):
        ids, offsets = gather(lines.batch.ids, starts[rows], lengths[rows])
        numbers = order[rows].tolist()
        kept = {name: [texts[row] for row in numbers] for name, texts in lines.kept.items()}
        yield EncodedLines(with_rows(lines.batch, ids, offsets), kept=kept)
