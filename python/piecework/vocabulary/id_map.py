"""Map old ids to new ones after a change of the vocabulary."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class IdMap:
    """A map from old ids to new ones, to move the rows of an embedding table.

    >>> import numpy as np
    >>> id_map = IdMap(new_ids=np.array([0, -1, 1]), added=np.array([2]))
    >>> id_map.old_ids
    array([ 0,  2, -1])

    `new_ids` has the new id of each old one, int64 of shape (largest old id + 1,); -1 for removed and
    unused ids. `added` has the new ids without an old one, in increasing order.

    >>> old = np.array([[1.0], [2.0], [3.0]])
    >>> new = old[id_map.old_ids]
    >>> new[id_map.added] = old.mean(axis=0)
    >>> new.tolist()
    [[1.0], [3.0], [2.0]]

    Two maps are equal if their arrays are equal. Maps are not hashable, because arrays can change.
    """

    new_ids: npt.NDArray[np.int64]
    added: npt.NDArray[np.int64]

    @property
    def old_ids(self) -> npt.NDArray[np.int64]:
        """The old id of each new one, int64 of shape (largest new id + 1,); -1 for added ids."""
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


class IdShift:
    """Decrease each id by the number of removed ids below it; unused ids stay unused."""

    def __init__(self, removed: Iterable[int]) -> None:
        self._removed = np.array(sorted(removed), np.int64)

    def __call__(self, id: int) -> int:
        """Return the new id of an id that is not removed."""
        return id - int(np.searchsorted(self._removed, id))

    def id_map(self, old: Iterable[int], added: Iterable[int] = ()) -> IdMap:
        """Return the map of the old ids and the added ones."""
        ids = np.array(sorted(set(old)), np.int64)
        new_ids = np.full(int(ids.max(initial=-1)) + 1, -1, np.int64)
        kept = ids[~np.isin(ids, self._removed)]
        new_ids[kept] = kept - np.searchsorted(self._removed, kept)
        return IdMap(new_ids, np.array(sorted(added), np.int64))
