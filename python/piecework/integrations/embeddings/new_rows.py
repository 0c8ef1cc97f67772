"""Make the rows of added tokens: a rule over the old rows of one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from piecework import IdMap
from piecework._internal.validation import check_choice

RowInit: TypeAlias = Literal["mean-of-pieces", "mean", "normal", "zeros", "omp"]
Rows: TypeAlias = npt.NDArray[np.float64]

_BLOCK_BYTES = 4 << 20


class OldRows(Protocol):
    """The rows of a table before the change."""

    width: int

    def read(self, ids: npt.NDArray[np.int64]) -> Rows:
        """Return the rows of old ids, float64 of shape (ids, width)."""


class Combination(NamedTuple):
    """A row as a sum of old rows: their ids, and the number that each is multiplied by."""

    old_ids: npt.NDArray[np.int64]
    coefficients: Rows


@dataclass(frozen=True)
class RowRule:
    """How rows of added tokens are made in every table.

    - "mean-of-pieces": the mean of the old rows of its text; "mean" for a token without known pieces.
    - "mean": the mean of all old rows.
    - "normal": independent draws with the mean and the variance of each column of the old rows.
    - "zeros".
    - "omp": the combination of its new id; "mean-of-pieces" for a token without one.
    """

    init: RowInit
    seed: int
    combinations: Mapping[int, Combination] = field(default_factory=dict)


class NewRows:
    """The rows of added tokens in one table, computed in float64."""

    def __init__(self, old: OldRows, id_map: IdMap, rule: RowRule) -> None:
        self._old, self._id_map, self._rule = old, id_map, rule
        self._random = np.random.default_rng(rule.seed)
        self._moments: tuple[Rows, Rows] | None = None

    def rows(self, new_ids: npt.NDArray[np.int64]) -> Rows:
        """Return the rows of added ids, which must be given in increasing order; shape (ids, width)."""
        return np.array([self._row(id) for id in new_ids.tolist()]).reshape(-1, self._old.width)

    def _row(self, id: int) -> Rows:
        init, sources = self._rule.init, self._id_map.added_sources.get(id, ())
        if init == "zeros":
            return np.zeros(self._old.width)
        if init == "normal":
            mean, deviation = self._mean_and_deviation()
            return mean + deviation * self._random.standard_normal(self._old.width)
        if combination := self._rule.combinations.get(id):
            return combination.coefficients @ self._old.read(combination.old_ids)
        if init != "mean" and sources:
            mean_of_pieces: Rows = self._old.read(np.array(sources, np.int64)).mean(axis=0)
            return mean_of_pieces
        return self._mean_and_deviation()[0]

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
            for ids in blocks if self._rule.init == "normal" else ():
                squares += ((self._old.read(ids) - mean) ** 2).sum(axis=0)
            self._moments = mean, np.sqrt(squares / max(count, 1))
        return self._moments


def check_init(init: object) -> None:
    """Raise `ArgumentError` unless `init` is the name of a rule."""
    check_choice("init", init, get_args(RowInit))
