"""What changes in a model: the tables with a row for each token, the new rows, and the configuration.

Tables are found by the names that transformers gives them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from piecework import IdMap
from piecework.errors import ArgumentError, FormatError
from piecework.io.safetensors_files import INPUT_TABLE, Rows, TensorType

RowInit: TypeAlias = Literal["mean-of-pieces", "mean", "normal", "zeros", "omp"]
ReadRows: TypeAlias = Callable[[npt.NDArray[np.int64]], Rows]
"""A function from old ids to their rows, float64 of shape (ids, width)."""

BLOCK_BYTES = 4 << 20
_OUTPUT = re.compile(
    r"(^|\.)(lm_head|lm_head\.decoder|predictions\.decoder|predictions|vocab_projector|generator_lm_head"
    r"|embed_out|lm_loss|pred_layer\.proj)\.(weight|bias)$"
    r"|^decoder\.(weight|bias)$"
    r"|(^|\.)final_logits_bias$"
)
_ID_SUFFIXES = ("_token_id", "_token_ids")


class Combination(NamedTuple):
    """A row as a sum of old rows: their ids, and the number that each is multiplied by."""

    old_ids: npt.NDArray[np.int64]
    coefficients: Rows


@dataclass(frozen=True)
class Change:
    """The change of the ids of a model, and how rows of added tokens are made in every table.

    - "mean-of-pieces": the mean of the old rows of its text; "mean" for a token without known pieces.
    - "mean": the mean of all old rows.
    - "normal": independent draws with the mean and the variance of each column of the old rows.
    - "zeros".
    - "omp": the combination of its new id; "mean-of-pieces" for a token without one.
    """

    id_map: IdMap
    init: RowInit
    seed: int
    tables: Collection[str] | None
    drop_extra_rows: bool
    combinations: Mapping[int, Combination] = field(default_factory=dict)

    @cached_property
    def old_ids(self) -> npt.NDArray[np.int64]:
        """The old id of each new row, -1 for a row to make."""
        return self.id_map.old_ids

    def tables_of(self, tensors: Mapping[str, TensorType], place: str) -> dict[str, int]:
        """Return the tables of a model with their rows: the named tables, or else tables with known names.

        Raises `FormatError` if the tables do not fit the map or each other, if there are none, or if another
        tensor has as many rows as they have.
        """
        for name in self.tables or ():
            if name not in tensors:
                raise ArgumentError("tables", f"{name!r} is not a tensor of the model")
        chosen = _known(tensors) if self.tables is None else list(dict.fromkeys(self.tables))
        if not chosen:
            problem = (
                "has no embedding table with a known name, such as wte.weight; name the tables"
            )
            raise FormatError(place, problem)
        first = next((name for name in chosen if INPUT_TABLE.search(name)), chosen[0])
        rows, wanted = tensors[first].rows, len(self.id_map.new_ids)
        for name in chosen:
            shape, dtype, is_floating = tensors[name]
            if tensors[name].rows != rows:
                found = f"{name!r} of shape {list(shape)}, and {first!r} has {rows} rows"
                raise FormatError(place, f"has {found}; all tables must have the same number")
            if not is_floating:
                raise FormatError(
                    place, f"has {name!r} of type {dtype}, which is not floating-point"
                )
        if rows < wanted or (rows > wanted and not self.drop_extra_rows):
            hint = "if the last rows belong to no token, pass drop_extra_rows"
            problem = f"has {rows} rows in {first!r}, and the map {wanted} ids"
            raise FormatError(place, problem if rows < wanted else f"{problem}; {hint}")
        for name, (shape, *_) in tensors.items():
            if self.tables is None and name not in chosen and shape[:1] == (rows,):
                found = f"{name!r} of shape {list(shape)}, which may have a row for each token"
                problem = f"has {found}; pass the names of all such tensors as tables"
                raise FormatError(place, problem)
        return dict.fromkeys(chosen, rows)

    def config_of(self, config: dict[str, Any], old_rows: int, place: str) -> dict[str, Any]:
        """Return a configuration with the new size, and with the new id for each token id.

        Raises `FormatError` if `vocab_size` is not the number of rows, or if the id of a role is removed.
        """
        size = config.get("vocab_size", old_rows)
        if size != old_rows:
            raise FormatError(place, f"has vocab_size {size!r}, and the table {old_rows} rows")
        changed = dict(config)
        for key, value in config.items():
            if key == "vocab_size":
                changed[key] = len(self.old_ids)
            elif key.endswith(_ID_SUFFIXES):
                changed[key] = self._new_id(value, f"{place}: {key}")
            elif key == "text_config" and isinstance(value, dict) and "vocab_size" in value:
                changed[key] = self.config_of(value, old_rows, f"{place}: {key}")
        return changed

    def _new_id(self, value: Any, place: str) -> Any:
        if isinstance(value, list):
            return [self._new_id(item, place) for item in value]
        is_id = isinstance(value, int) and not isinstance(value, bool)
        if not is_id or not 0 <= value < len(self.id_map.new_ids):
            return value
        new = int(self.id_map.new_ids[value])
        if new < 0:
            raise FormatError(place, f"has the id {value}, which was removed; keep it")
        return new


def _known(tensors: Mapping[str, TensorType]) -> list[str]:
    sizes = {name: len(tensor.shape) for name, tensor in tensors.items()}
    inputs = [name for name, size in sizes.items() if INPUT_TABLE.search(name) and size == 2]
    outputs = [name for name, size in sizes.items() if _OUTPUT.search(name) and size in (1, 2)]
    return inputs + outputs if inputs else []


class NewRows:
    """The rows of added tokens in one table, computed in float64."""

    def __init__(self, read: ReadRows, width: int, change: Change) -> None:
        self._read, self._width, self._change = read, width, change
        self._random = np.random.default_rng(change.seed)
        self._moments: tuple[Rows, Rows] | None = None

    def rows(self, new_ids: npt.NDArray[np.int64]) -> Rows:
        """Return the rows of added ids, which must be given in increasing order; shape (ids, width)."""
        return np.array([self._row(id) for id in new_ids.tolist()]).reshape(-1, self._width)

    def _row(self, id: int) -> Rows:
        init, sources = self._change.init, self._change.id_map.added_sources.get(id, ())
        if init == "zeros":
            return np.zeros(self._width)
        if init == "normal":
            mean, deviation = self._mean_and_deviation()
            return mean + deviation * self._random.standard_normal(self._width)
        if combination := self._change.combinations.get(id):
            return combination.coefficients @ self._read(combination.old_ids)
        if init != "mean" and sources:
            mean_of_pieces: Rows = self._read(np.array(sources, np.int64)).mean(axis=0)
            return mean_of_pieces
        return self._mean_and_deviation()[0]

    def _mean_and_deviation(self) -> tuple[Rows, Rows]:
        """Return the mean and the standard deviation of each column; reads the table twice, in blocks."""
        if self._moments is None:
            count, width = len(self._change.id_map.new_ids), self._width
            step = max(BLOCK_BYTES // (8 * max(width, 1)), 1)
            blocks = [np.arange(at, min(at + step, count)) for at in range(0, count, step)]
            total, squares = np.zeros(width), np.zeros(width)
            for ids in blocks:
                total += self._read(ids).sum(axis=0)
            mean = total / max(count, 1)
            for ids in blocks if self._change.init == "normal" else ():
                squares += ((self._read(ids) - mean) ** 2).sum(axis=0)
            self._moments = mean, np.sqrt(squares / max(count, 1))
        return self._moments
