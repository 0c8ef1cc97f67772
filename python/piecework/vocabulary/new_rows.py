"""Make the rows of added tokens: a rule over the old rows of one table."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from piecework.errors import ArgumentError
from piecework.vocabulary.id_map import IdMap

RowInit: TypeAlias = Literal["mean-of-pieces", "mean", "normal", "zeros"]
Rows: TypeAlias = npt.NDArray[np.float64]

_BLOCK_BYTES = 4 << 20


class OldRows(Protocol):
    """The rows of a table before the change."""

    width: int

    def read(self, ids: npt.NDArray[np.int64]) -> Rows:
        """Return the rows of old ids, float64 of shape (ids, width)."""


class NewRows:
    """The rows of added tokens, computed in float64.

    - "mean-of-pieces": the mean of the old rows of its text; "mean" for a token without known pieces.
    - "mean": the mean of all old rows.
    - "normal": independent draws with the mean and the variance of each column of the old rows.
    - "zeros".
    """

    def __init__(self, old: OldRows, id_map: IdMap, init: RowInit, seed: int) -> None:
        self._old, self._id_map, self._init = old, id_map, init
        self._random = np.random.default_rng(seed)
        self._moments: tuple[Rows, Rows] | None = None

    def rows(self, new_ids: npt.NDArray[np.int64]) -> Rows:
        """Return the rows of added ids, which must be given in increasing order; shape (ids, width)."""
        found = np.zeros((len(new_ids), self._old.width), np.float64)
        for row, id in zip(found, new_ids.tolist(), strict=True):
            sources = self._id_map.added_sources.get(id, ())
            if self._init == "normal":
                mean, deviation = self._mean_and_deviation()
                row[:] = mean + deviation * self._random.standard_normal(self._old.width)
            elif self._init == "mean-of-pieces" and sources:
                row[:] = self._old.read(np.array(sources, np.int64)).mean(axis=0)
            elif self._init != "zeros":
                row[:] = self._mean_and_deviation()[0]
        return found

    def _mean_and_deviation(self) -> tuple[Rows, Rows]:
        """Return the mean and the standard deviation of each column; reads the table twice, in blocks."""
        if self._moments is None:
            count, width = len(self._id_map.new_ids), self._old.width
            step = max(_BLOCK_BYTES // (8 * max(width, 1)), 1)
            blocks = [np.arange(at, min(at + step, count)) for at in range(0, count, step)]
            total, squares = np.zeros(width), np.zeros(width)
            for ids in blocks:
                total += self._old.read(ids).sum(axis=0)
            mean = total / max(count, 1)
            for ids in blocks if self._init == "normal" else ():
                squares += ((self._old.read(ids) - mean) ** 2).sum(axis=0)
            self._moments = mean, np.sqrt(squares / max(count, 1))
        return self._moments


def check_init(init: object) -> None:
    """Raise `ArgumentError` unless `init` is the name of a rule."""
    if init not in get_args(RowInit):
        raise ArgumentError("init", repr(init), f"one of {', '.join(get_args(RowInit))}")
