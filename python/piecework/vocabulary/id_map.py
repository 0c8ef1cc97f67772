"""Where the ids of a tokenizer went when its vocabulary changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class IdMap:
    """Old ids to new ones, to move the rows of an embedding table.

    >>> import numpy as np
    >>> id_map = IdMap(new_ids=np.array([0, -1, 1]), added=np.array([2]))
    >>> id_map.old_ids
    array([ 0,  2, -1])

    `new_ids` has a new id for each old one, int64 of shape (largest old id + 1,): -1 for what is
    gone or never stood for anything. `added` has the new ids that no old one became, rising.

    >>> old = np.array([[1.0], [2.0], [3.0]])
    >>> new = old[id_map.old_ids]
    >>> new[id_map.added] = old.mean(axis=0)
    >>> new.tolist()
    [[1.0], [3.0], [2.0]]

    Maps are equal if their arrays are; they do not hash, as arrays can change.
    """

    new_ids: npt.NDArray[np.int64]
    added: npt.NDArray[np.int64]

    @property
    def old_ids(self) -> npt.NDArray[np.int64]:
        """The old id for each new one, int64 of shape (largest new id + 1,), -1 for new ones."""
        kept = np.flatnonzero(self.new_ids >= 0)
        size = max([-1, *self.new_ids[kept].tolist(), *self.added.tolist()]) + 1
        old_ids = np.full(size, -1, np.int64)
        old_ids[self.new_ids[kept]] = kept
        return old_ids

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IdMap):
            return NotImplemented
        return np.array_equal(self.new_ids, other.new_ids) and np.array_equal(
            self.added, other.added
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        kept = int((self.new_ids >= 0).sum())
        return f"IdMap({kept} of {len(self.new_ids)} ids kept, {len(self.added)} added)"


class Moves:
    """The rule by which ids move: those above a removed id go down by one, so gaps stay gaps."""

    def __init__(self, removed: Iterable[int]) -> None:
        self._removed = np.array(sorted(removed), np.int64)

    def __call__(self, id: int) -> int:
        """Return the new id of one that stays."""
        return id - int(np.searchsorted(self._removed, id))

    def id_map(self, old: Iterable[int], added: Iterable[int] = ()) -> IdMap:
        """Return the map of the ids that stood for something, and of those that are new."""
        ids = np.array(sorted(set(old)), np.int64)
        new_ids = np.full(int(ids.max(initial=-1)) + 1, -1, np.int64)
        kept = ids[~np.isin(ids, self._removed)]
        new_ids[kept] = kept - np.searchsorted(self._removed, kept)
        return IdMap(new_ids, np.array(sorted(added), np.int64))
