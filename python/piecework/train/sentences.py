"""Select sentences of a corpus: drop some by length or characters, then sample at random or take the first.

A sentence is a line of plain text, or a text from JSON lines or an iterator. With counts, a line is a
sentence, a tab and the number of its occurrences.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from piecework._internal.validation import PathLike
from piecework.corpus.paths import corpus_bytes, corpus_files
from piecework.corpus.reader import CorpusReader
from piecework.corpus.rows import OnError, ReadOptions, Rows, Utf8Errors

Item = TypeVar("Item")


@dataclass(frozen=True)
class Sentences:
    """Rules that select sentences of a corpus.

    >>> from piecework.train import count_texts
    >>> count_texts(["a b", "much longer"], sentences=Sentences(max_bytes=4)).words
    ['a', 'b']

    Skips sentences over `max_bytes` bytes of UTF-8, and those with a character of `reserved`. `size` is
    the maximum number of sentences; 0 means all. With `shuffle`, they are a random sample, reproducible by
    `seed`; otherwise the first ones. With `with_counts`, each line is a sentence, a tab and its count.
    """

    max_bytes: int | None = None
    reserved: str = ""
    size: int = 0
    shuffle: bool = True
    seed: int = 0
    with_counts: bool = False

    def text_of(self, line: str) -> str:
        """Return the sentence of a line, without its count.

        >>> Sentences(with_counts=True).text_of("hugs\\t5")
        'hugs'
        """
        return line.partition("\t")[0] if self.with_counts else line

    def keep(self, line: str) -> bool:
        """Return whether a line passes the length and character rules.

        >>> Sentences(max_bytes=3).keep("hugs")
        False
        """
        sentence = self.text_of(line)
        is_short = self.max_bytes is None or len(sentence.encode()) <= self.max_bytes
        return bool(sentence) and is_short and not any(c in sentence for c in self.reserved)

    def select(self, sentences: Iterable[str]) -> list[str]:
        """Return at most `size` sentences that pass `keep`: a random sample, or the first ones.

        >>> Sentences(size=2, shuffle=False).select(["a", "b", "c"])
        ['a', 'b']

        Call it only if `size` is not 0.
        """
        kept = filter(self.keep, sentences)
        if not self.shuffle:
            return list(islice(kept, self.size))
        reservoir: Reservoir[str] = Reservoir(self.size, self.seed)
        reservoir.add_all(kept)
        return reservoir.drawn


@dataclass(frozen=True)
class RowsToCount:
    """The rows of a corpus, and the total of its progress, in bytes or texts; 0 if it is unknown."""

    rows: Iterable[Rows]
    total: int
    in_bytes: bool = False


@contextmanager
def rows_of_corpus(
    paths: PathLike | Sequence[PathLike],
    sentences: Sentences,
    field: str | None,
    encoding_errors: Utf8Errors,
    on_error: OnError,
) -> Iterator[RowsToCount]:
    """Read a corpus, tables of sentences and their counts as lines; warn at the end of what was skipped."""
    options = ReadOptions.of(
        field, encoding_errors, on_error, tables_as_lines=sentences.with_counts
    )
    files = corpus_files(paths)
    rows = CorpusReader(files, options).rows()
    yield RowsToCount(rows, corpus_bytes(files), in_bytes=True)
    options.warn_of_skipped()


class TextsOfRows:
    """The texts of rows, one by one; `replacements` counts the invalid sequences of the rows read so far."""

    def __init__(self, rows: Iterable[Rows]) -> None:
        self.replacements = 0
        self._rows = rows

    def __iter__(self) -> Iterator[str]:
        """Yield the texts in order."""
        for rows in self._rows:
            self.replacements += rows.replacements
            yield from rows.texts


class Reservoir(Generic[Item]):
    """Draw a fixed number of items from a stream, so that all subsets are equally likely.

    >>> reservoir = Reservoir(2, seed=1)
    >>> reservoir.add_all(["a", "b", "c", "d"])
    >>> len(reservoir.drawn)
    2

    Source: Vitter 1985, algorithm R.
    """

    def __init__(self, size: int, seed: int) -> None:
        self.drawn: list[Item] = []
        self.seen = 0
        self._size = size
        self._random = random.Random(seed)

    def add(self, item: Item) -> None:
        """Add the next item of the stream."""
        self.seen += 1
        if len(self.drawn) < self._size:
            self.drawn.append(item)
            return
        index = self._random.randrange(self.seen)
        if index < self._size:
            self.drawn[index] = item

    def add_all(self, items: Iterable[Item]) -> None:
        """Add the next items of the stream."""
        for item in items:
            self.add(item)
