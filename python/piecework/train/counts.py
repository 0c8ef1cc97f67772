"""Word counts: what every learner learns from.

Counting makes them from text, `merge` adds two of them (any order and grouping gives the same), a
learner reads them. Each word knows where it came first, so ties are settled the same way for any
number of threads or machines: `first` is (source << 40) + byte offset in that source.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from piecework._core import RawCounts
from piecework.errors import ArgumentError, FormatError
from piecework.train.counts_files import CountsTable, read_counts, write_counts, write_tsv
from piecework.train.pipeline import Pipeline

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = Sequence[int] | npt.NDArray[np.uint64]


class Counts:
    """Distinct words with how often each occurs and where it came first, in order of `first`.

    >>> counts = Counts(["hug", "pug"], [10, 5], first=[0, 4])
    >>> counts.merge(Counts(["hug"], [1], first=[9])).most_common(1)
    [('hug', 11)]

    Without `first`, words are ordered by falling count, then by code points. `pipeline` is what made
    words of the text; None means it is not known. `replacements` counts invalid UTF-8 sequences that
    became U+FFFD; it is a note and takes no part in `==`.
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
        """The words, in order of first position."""
        return self._raw.words()

    @property
    def counts(self) -> npt.NDArray[np.uint64]:
        """How often each word occurs, uint64 of shape (words,)."""
        return self._raw.counts()

    @property
    def first(self) -> npt.NDArray[np.uint64]:
        """Where each word came first, uint64 of shape (words,)."""
        return self._raw.first()

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return int(self.counts.sum(dtype=np.uint64))

    def most_common(self, n: int | None = None) -> list[tuple[str, int]]:
        """Return the `n` most frequent words with their counts, the earlier one first among equals."""
        counts = self.counts
        order = np.argsort(counts.max(initial=0) - counts, kind="stable")[:n]
        words = self.words
        return [(words[at], int(counts[at])) for at in order.tolist()]

    def merge(self, other: Counts) -> Counts:
        """Add the counts of both and keep the earlier first positions.

        Raises `ArgumentError` when the two were made by different pipelines.
        """
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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            self.pipeline == other.pipeline
            and self.words == other.words
            and np.array_equal(self.counts, other.counts)
            and np.array_equal(self.first, other.first)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.words, self.counts, self.first, self.pipeline, self.replacements)

    def __repr__(self) -> str:
        return f"Counts({len(self)} words, {self.total} in total)"


def _rebuild(
    words: list[str],
    counts: npt.NDArray[np.uint64],
    first: npt.NDArray[np.uint64],
    pipeline: Pipeline | None,
    replacements: int,
) -> Counts:
    return Counts._of(RawCounts(words, counts, first), pipeline, replacements)


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
