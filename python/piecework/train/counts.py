"""Word counts: what every learner learns from.

Counting makes them from text, `+` adds two of them, a learner reads them. Counts of shards, added in any
order and grouping, equal the counts of the whole corpus.

First positions are a separate, optional column, which only `ties="first-seen"` reads: a position is
(source << 40) + byte offset in that source. They can be compared only between different sources, so adding
counts that share a source drops them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from piecework._core import RawCounts
from piecework.errors import ArgumentError, FormatError
from piecework.train.counts_files import CountsTable, read_counts, write_counts, write_tsv
from piecework.train.pipeline import Pipeline

Numbers: TypeAlias = Sequence[int] | npt.NDArray[np.uint64]


class Counts:
    """Distinct words with the number of occurrences of each.

    >>> counts = Counts(["hug", "pug"], [10, 5])
    >>> counts + Counts(["hug"], [1]) == Counts(["pug", "hug"], [5, 11])
    True

    `first` holds the first position of each word, (source << 40) + byte offset, or is None when positions
    are unknown. Words are ordered by first position; without positions by falling count, then by code
    points. `pipeline` is what made words of the text; None means it is not known. `replacements` counts
    the invalid UTF-8 sequences that became U+FFFD.

    `==` compares words, counts and pipeline. First positions, the order of words and `replacements` take
    no part in it. Counts pickle as their columns; of custom pipeline stages only the names are kept.
    """

    def __init__(
        self,
        words: Sequence[str],
        counts: Numbers,
        first: Numbers | None = None,
        pipeline: Pipeline | None = None,
    ) -> None:
        count_array = _as_u64("counts", counts, len(words))
        first_array = None if first is None else _as_u64("first", first, len(words))
        self._raw = RawCounts(_checked_words(words), count_array, first_array)
        self.pipeline = pipeline
        self.replacements = 0

    @classmethod
    def _of(cls, raw: RawCounts, pipeline: Pipeline | None, replacements: int = 0) -> Counts:
        """Wrap what the core counted, which needs no check."""
        made = cls.__new__(cls)
        made._raw, made.pipeline, made.replacements = raw, pipeline, replacements
        return made

    # ---- what it holds

    @property
    def words(self) -> list[str]:
        """The words, by first position; without positions by falling count, then by code points."""
        return self._raw.words()

    @property
    def counts(self) -> npt.NDArray[np.uint64]:
        """How often each word occurs, uint64 of shape (words,)."""
        return self._raw.counts()

    @property
    def first(self) -> npt.NDArray[np.uint64] | None:
        """The first position of each word, uint64 of shape (words,), or None when positions are unknown."""
        return self._raw.first()

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return int(self.counts.sum(dtype=np.uint64))

    def most_common(self, n: int | None = None) -> list[tuple[str, int]]:
        """Return the `n` most frequent words with their counts; equals keep the order of `words`."""
        counts = self.counts
        order = np.argsort(counts.max(initial=0) - counts, kind="stable")[:n]
        words = self.words
        return [(words[at], int(counts[at])) for at in order.tolist()]

    def merge(self, other: Counts) -> Counts:
        """Return the sum of both, as `+` does.

        >>> shards = [Counts(["hug"], [2]), Counts(["hug", "pug"], [1, 1])]
        >>> shards[0].merge(shards[1]).most_common()
        [('hug', 3), ('pug', 1)]

        The sum has the earlier first positions when both operands have positions and no source in
        common, and otherwise none. Raises `ArgumentError` when `other` is no `Counts` or when different
        pipelines made the two, and `TrainingError` when a sum is beyond 64 bits.
        """
        if not isinstance(other, Counts):
            raise ArgumentError("other", type(other).__name__, "Counts")
        mine, theirs = self.pipeline, other.pipeline
        if mine is not None and theirs is not None and not mine.agrees_with(theirs):
            raise ArgumentError("other", f"counts made by {other.pipeline}", f"{self.pipeline}")
        pipeline = other.pipeline if self.pipeline is None else self.pipeline
        raw = self._raw.merge(other._raw)
        return Counts._of(raw, pipeline, self.replacements + other.replacements)

    # ---- files

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Counts:
        """Read what `save` wrote, Parquet or TSV told apart by content.

        A file from elsewhere needs the columns `word` and `count`; `first` and the pipeline may be
        missing. Raises `FileError` or `FormatError`, the latter naming the line or column.
        """
        table = read_counts(path)
        try:
            return cls(table.words, table.counts, table.first, table.pipeline)
        except ArgumentError as error:
            raise FormatError(f"{path}: {error.place}", error.found, error.expected) from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `*.parquet` (needs `piecework[parquet]`) or `*.tsv`, whole or not at all."""
        write_counts(self._table(), path)

    def write_tsv(self, stream: BinaryIO) -> None:
        """Write the lines of a `.tsv` file to an open binary stream."""
        write_tsv(self._table(), stream)

    def _table(self) -> CountsTable:
        return CountsTable(self.words, self.counts, self.first, self.pipeline)

    # ---- as a Python value

    def __len__(self) -> int:
        return len(self._raw)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return zip(self.words, self.counts.tolist(), strict=True)

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        return self.merge(other)

    def __radd__(self, other: Literal[0]) -> Counts:
        """Return `self` for 0, the value that `sum` starts with."""
        return self if type(other) is int and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            len(self) == len(other)
            and _is_same_pipeline(self.pipeline, other.pipeline)
            and dict(self) == dict(other)
        )

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Counts:
        return Counts._of(self._raw, self.pipeline, self.replacements)

    def __deepcopy__(self, memo: dict[int, Any]) -> Counts:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        pipeline = None if self.pipeline is None else self.pipeline.without_functions()
        return _rebuild, (self.words, self.counts, self.first, pipeline, self.replacements)

    def __repr__(self) -> str:
        return f"Counts({len(self)} words, {self.total} in total)"


def _rebuild(
    words: list[str],
    counts: npt.NDArray[np.uint64],
    first: npt.NDArray[np.uint64] | None,
    pipeline: Pipeline | None,
    replacements: int,
) -> Counts:
    return Counts._of(RawCounts(words, counts, first), pipeline, replacements)


def _is_same_pipeline(one: Pipeline | None, two: Pipeline | None) -> bool:
    if one is None or two is None:
        return one is two
    return one.agrees_with(two)


def _checked_words(words: Sequence[Any]) -> list[str]:
    for index, word in enumerate(words):
        if not isinstance(word, str) or not word:
            raise ArgumentError(f"words[{index}]", repr(word), "a string that is not empty")
    if len(set(words)) != len(words):
        twice = next(word for word, times in Counter(words).items() if times > 1)
        raise ArgumentError("words", f"{twice!r} twice", "distinct words")
    return list(words)


def _as_u64(name: str, values: Numbers, length: int) -> npt.NDArray[np.uint64]:
    array = np.asarray(values)
    if array.shape != (length,):
        raise ArgumentError(name, f"shape {array.shape}", f"one number for each of {length} words")
    if array.dtype == np.uint64 or length == 0:
        return np.ascontiguousarray(array, np.uint64)
    if array.dtype.kind not in "iu" or (array < 0).any():
        raise ArgumentError(name, f"{array.dtype} numbers", "integers from 0 to 2**64 - 1")
    return array.astype(np.uint64)
