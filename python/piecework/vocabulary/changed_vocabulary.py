"""The result of a change of a vocabulary: a tokenizer, and the map from old ids to new ones."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from piecework.errors import ArgumentError, FormatError
from piecework.spec import TokenizerSpec

if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer

_MAX_DIFFERING = 0.1  # share of tokens in which two files of one tokenizer may differ


@dataclass(frozen=True, eq=False)
class IdMap:
    """A map from old ids to new ones, to move the rows of an embedding table.

    >>> import numpy as np
    >>> id_map = IdMap(new_ids=np.array([0, -1, 1]), added=np.array([2]))
    >>> id_map.old_ids
    array([ 0,  2, -1])

    `new_ids` has the new id of each old one, int64 of shape (largest old id + 1,); -1 for removed and
    unused ids. `added` has the new ids without an old one, in increasing order. `added_sources` has the old
    ids of the text of an added token, by new id, where they are known. `old_checks` has the CRC-32 of each
    old token, by which `integrations.embeddings` recognizes a folder of another tokenizer; empty if
    unknown.

    >>> old = np.array([[1.0], [2.0], [3.0]])
    >>> new = old[id_map.old_ids]
    >>> new[id_map.added] = old.mean(axis=0)
    >>> new.tolist()
    [[1.0], [3.0], [2.0]]

    `integrations.embeddings` does this for model files. Two maps are equal if their contents are equal.
    Maps are not hashable, because arrays can change.
    """

    new_ids: npt.NDArray[np.int64]
    added: npt.NDArray[np.int64]
    added_sources: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    old_checks: npt.NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32))

    @property
    def old_ids(self) -> npt.NDArray[np.int64]:
        """The old id of each new one, int64 of shape (largest new id + 1,); -1 for added ids."""
        kept = np.flatnonzero(self.new_ids >= 0)
        size = max([-1, *self.new_ids[kept].tolist(), *self.added.tolist()]) + 1
        old_ids = np.full(size, -1, np.int64)
        old_ids[self.new_ids[kept]] = kept
        return old_ids

    @property
    def removed(self) -> npt.NDArray[np.int64]:
        """The old ids that have no new id, in increasing order, including ids that were unused.

        >>> IdMap(new_ids=np.array([0, -1, 1]), added=np.array([])).removed
        array([1])
        """
        return np.flatnonzero(self.new_ids < 0)

    @property
    def sources(self) -> list[tuple[int, ...]]:
        """The old ids that spell each new token: its own id, the pieces of an added token, or none.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.BPE({"h": 0, "u": 1, "g": 2}, ()))
        >>> pw.vocabulary.add_words(tok, ["hug"]).id_map.sources
        [(0,), (1,), (2,), (0, 1), (0, 1, 2)]
        """
        return [
            (old,) if old >= 0 else self.added_sources.get(new, ())
            for new, old in enumerate(self.old_ids.tolist())
        ]

    def then(self, following: IdMap) -> IdMap:
        """Return the map of this change followed by another one.

        >>> first = IdMap(np.array([0, -1, 1]), np.array([2]), {2: (0, 1)})
        >>> second = IdMap(np.array([-1, 0, 1]), np.array([2]), {2: (1, 2)})
        >>> both = first.then(second)
        >>> both.new_ids, both.added, both.sources
        (array([-1, -1,  0]), array([1, 2]), [(2,), (0, 1), (2, 0, 1)])

        Raises `ArgumentError` if the following map has another number of ids than this one leads to.
        """
        between = self.old_ids
        if len(between) != len(following.new_ids):
            problem = f"must be a map of {len(between)} ids, not of {len(following.new_ids)}"
            raise ArgumentError("following", problem)
        new_ids = np.full(len(self.new_ids), -1, np.int64)
        kept = np.flatnonzero(self.new_ids >= 0)
        new_ids[kept] = following.new_ids[self.new_ids[kept]]
        carried = following.new_ids[self.added]
        added = np.sort(np.concatenate([carried[carried >= 0], following.added]))
        middle, sources = self.sources, following.sources
        origins = {int(new): tuple(o for m in sources[new] for o in middle[m]) for new in added}
        known = {new: old for new, old in origins.items() if old}
        return IdMap(new_ids, added, known, self.old_checks)

    def to_json(self) -> str:
        """Return a JSON object with `new_ids`, `added` and `sources`, which `from_json` reads.

        >>> IdMap(np.array([1, -1]), np.array([0]), {0: (0, 1)}).to_json()
        '{"new_ids": [1, -1], "added": [0], "sources": [[0, 1], [0]]}'
        """
        added = self.added.tolist()
        value = {"new_ids": self.new_ids.tolist(), "added": added, "sources": self.sources}
        if len(self.old_checks):
            value["old_checks"] = self.old_checks.tolist()
        return json.dumps(value)

    @classmethod
    def from_json(cls, text: str) -> IdMap:
        """Read a map from the JSON object of `to_json`; raises `FormatError` for anything else.

        >>> IdMap.from_json('{"new_ids": [1, -1], "added": [0], "sources": [[0, 1], [0]]}')
        IdMap(1 of 2 ids kept, 1 added)
        """
        try:
            value = json.loads(text)
            new_ids = np.array(value["new_ids"], np.int64)
            added = np.array(value["added"], np.int64)
            sources = {id: tuple(map(int, value["sources"][id])) for id in added.tolist()}
            checks = np.array(value.get("old_checks", ()), np.uint32)
        except (
            ValueError,
            TypeError,
            KeyError,
            IndexError,
            OverflowError,
            RecursionError,
        ) as error:
            problem = f"this is not the JSON of IdMap.to_json: {error}"
            raise FormatError("id map", problem) from error
        read = cls(new_ids, added, {id: ids for id, ids in sources.items() if ids}, checks)
        if problem := _problem_of(read):
            raise FormatError("id map", problem)
        return read

    def with_checks(self, vocab: Mapping[str, int]) -> IdMap:
        """Return the map with the checks of the old vocabulary.

        >>> IdMap(np.array([0, 1]), np.array([])).with_checks({"a": 0, "b": 1}).old_checks
        array([3904355907, 1908338681], dtype=uint32)
        """
        return replace(self, old_checks=_checks(vocab, len(self.new_ids)))

    def is_of(self, vocab: Mapping[str, int]) -> bool:
        """Return whether a vocabulary is the old one or the new one, as far as the checks tell.

        >>> id_map = IdMap(np.array([1, -1]), np.array([0])).with_checks({"a": 0, "b": 1})
        >>> id_map.is_of({"a": 0, "b": 1}), id_map.is_of({"c": 0, "a": 1}), id_map.is_of({"x": 0})
        (True, True, False)

        Some tokens may differ, because files of one tokenizer can differ in added tokens.
        """
        if not len(self.old_checks):
            return True
        old_ids = self.old_ids
        kept = np.flatnonzero(old_ids >= 0)
        found = _checks(vocab, max(len(self.new_ids), len(old_ids)))
        pairs = (
            (found[: len(self.new_ids)], self.old_checks),
            (found[kept], self.old_checks[old_ids[kept]]),
        )
        return any(_differing(one, two) <= _MAX_DIFFERING for one, two in pairs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IdMap):
            return NotImplemented
        return (
            np.array_equal(self.new_ids, other.new_ids)
            and np.array_equal(self.added, other.added)
            and dict(self.added_sources) == dict(other.added_sources)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        kept = int((self.new_ids >= 0).sum())
        return f"IdMap({kept} of {len(self.new_ids)} ids kept, {len(self.added)} added)"


def check_id_map(id_map: IdMap) -> None:
    """Raise `ArgumentError` for a map with repeated or negative new ids, or with sources that are not ids."""
    if problem := _problem_of(id_map):
        raise ArgumentError("id_map", problem)


def _problem_of(id_map: IdMap) -> str:
    """Return what is wrong with a map; empty if nothing is."""
    kept = id_map.new_ids[id_map.new_ids >= 0]
    if id_map.new_ids.ndim != 1 or id_map.added.ndim != 1:
        return "must have one list of new ids and one of added ids"
    new = np.concatenate([kept, id_map.added])
    if len(np.unique(new)) != len(new) or (new < 0).any():
        return "must give each token a new id of its own, from 0, or -1"
    if len(new) and int(new.max()) > 2 * len(new) + 2**20:
        return f"has the new id {int(new.max())}, too large for {len(new)} tokens"
    if len(id_map.old_checks) not in (0, len(id_map.new_ids)):
        found = f"{len(id_map.old_checks)} checks of {len(id_map.new_ids)} ids"
        return f"has {found}; it needs one for each old id, or none"
    for id, ids in id_map.added_sources.items():
        if any(not 0 <= old < len(id_map.new_ids) for old in ids):
            return f"has the sources {ids} of {id}, which must be old ids"
    return ""


def _checks(vocab: Mapping[str, int], size: int) -> npt.NDArray[np.uint32]:
    """Return the CRC-32 of the token of each id; 0 for unused ids."""
    checks = np.zeros(size, np.uint32)
    for token, id in vocab.items():
        if id < size:
            checks[id] = zlib.crc32(token.encode("utf-8", "surrogatepass"))
    return checks


def _differing(one: npt.NDArray[np.uint32], two: npt.NDArray[np.uint32]) -> float:
    """Return the share of common ids with different checks; 1 if no id is common."""
    both = (one != 0) & (two != 0)
    return float((one[both] != two[both]).mean()) if both.any() else 1.0


class IdShift:
    """Decrease each id by the number of removed ids below it; unused ids stay unused."""

    def __init__(self, removed: Iterable[int]) -> None:
        self._removed = np.array(sorted(removed), np.int64)

    def __call__(self, id: int) -> int:
        """Return the new id of an id that is not removed."""
        return id - int(np.searchsorted(self._removed, id))

    def id_map(self, old: Iterable[int]) -> IdMap:
        """Return the map of the old ids."""
        gone = set(self._removed.tolist())
        return map_of((id for id in old if id not in gone), self, old)


def map_of(
    kept: Iterable[int],
    new_id: Callable[[int], int],
    old: Iterable[int],
    added_sources: Mapping[int, tuple[int, ...]] | None = None,
) -> IdMap:
    """Return the map for the old ids that are kept; `added_sources` has all added ids."""
    new_ids = np.full(max(old, default=-1) + 1, -1, np.int64)
    for id in kept:
        new_ids[id] = new_id(id)
    sources = dict(added_sources or {})
    known = {id: origins for id, origins in sources.items() if origins}
    return IdMap(new_ids, np.array(sorted(sources), np.int64), known)


class ChangedVocabulary(NamedTuple):
    """A tokenizer with another vocabulary, and the map from the old ids to the new ones.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer.train_from_iterator(["hug hugs bug"] * 9, vocab_size=19)
    >>> smaller, id_map = pw.vocabulary.shrink(tok, 17)
    >>> len(smaller), id_map
    (17, IdMap(17 of 19 ids kept, 0 added))
    """

    tokenizer: Tokenizer
    id_map: IdMap


def changed(tokenizer: Tokenizer, spec: TokenizerSpec, id_map: IdMap) -> ChangedVocabulary:
    """Compile a specification with another vocabulary; add the checks of the old one to the map."""
    compiled = type(tokenizer).from_spec(spec, like=tokenizer)
    return ChangedVocabulary(compiled, id_map.with_checks(tokenizer.get_vocab()))


def same_ids(ids: Iterable[int]) -> IdMap:
    """Return the map of ids that do not change."""
    ids = list(ids)
    return map_of(ids, int, ids)
