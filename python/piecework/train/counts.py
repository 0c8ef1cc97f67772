"""Word counts, the input of every learner.

The sum of the counts of shards, in any order and grouping, equals the counts of the whole corpus.

First positions are an optional column that only "first-seen" (`ties`, `alphabet_order`) reads. A position
is (source << 40) + byte offset in that source. Positions within one source cannot be compared between
shards, so a sum of counts that share a source has no positions. A list of words has an order:
`Counts(words, counts)` takes it as first positions.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias

from piecework._internal._core import RawCounts
from piecework._internal.validation import optional_number
from piecework.errors import ArgumentError, FormatError, InputTypeError, TrainingError
from piecework.train.boundaries import Boundaries, boundaries_of, without_marker
from piecework.train.counts_files import CountsTable, read_counts, write_counts, write_tsv
from piecework.train.presets import Pipeline

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers: TypeAlias = Sequence[int] | npt.NDArray[np.uint64]


class Counts:
    """Distinct words, with how often each occurs.

    >>> counts = Counts(["hug", "pug"], [10, 5])
    >>> counts + Counts(["hug"], [1]) == Counts(["pug", "hug"], [5, 11])
    True

    A mapping from words to counts has both columns, as does a `Counter`. What takes `Counts` takes it too.

    >>> Counts({"hug": 10, "pug": 5}) == counts
    True

    `first` has the first position of each word, (source << 40) + byte offset; without it,
    `words` are in the order of the corpus. Counts from files and sums can lack positions (see `first`). Words
    are ordered by first position; without positions by decreasing count, then by code points. `pipeline` is
    the `Pipeline` that split the text, None if unknown. `replacements` counts the invalid UTF-8
    sequences that became U+FFFD. `with_boundaries` adds boundaries inside words that no entry may cross.

    `==` compares words, boundaries, counts and pipeline, not first positions, order or `replacements`. Counts
    pickle as columns; custom pipeline stages keep their names only.
    """

    def __init__(
        self,
        words: Sequence[str] | Mapping[str, int],
        counts: Numbers | None = None,
        first: Numbers | None = None,
        pipeline: Pipeline | None = None,
    ) -> None:
        import numpy as np

        words, counts = _columns_of(words, counts)
        positions = np.arange(len(words), dtype=np.uint64) if first is None else first
        self._raw = _raw_counts(words, counts, positions)
        self.pipeline = pipeline
        self.replacements = 0

    @classmethod
    def _of_columns(
        cls,
        words: Sequence[str],
        counts: Numbers,
        first: Numbers | None,
        pipeline: Pipeline | None = None,
        boundaries: Sequence[Sequence[int]] | None = None,
    ) -> Counts:
        """Check columns, for example of a file; None means that first positions are unknown."""
        return cls._of(_raw_counts(words, counts, first, boundaries), pipeline)

    @classmethod
    def _of(cls, raw: RawCounts, pipeline: Pipeline | None, replacements: int = 0) -> Counts:
        """Wrap counts of the core without a check."""
        made = cls.__new__(cls)
        made._raw, made.pipeline, made.replacements = raw, pipeline, replacements
        return made

    # ---- columns

    @property
    def words(self) -> list[str]:
        """The words, by first position; without positions by decreasing count, then by code points.

        >>> Counts(["pug", "hug"], [5, 10]).words
        ['pug', 'hug']
        """
        return self._raw.words()

    @property
    def counts(self) -> npt.NDArray[np.uint64]:
        """The number of occurrences of each word, uint64 of shape (words,).

        >>> Counts(["pug", "hug"], [5, 10]).counts.tolist()
        [5, 10]
        """
        return self._raw.counts()

    @property
    def first(self) -> npt.NDArray[np.uint64] | None:
        """The first position of each word, uint64 of shape (words,), None if positions are unknown.

        >>> from piecework.train import count_texts
        >>> count_texts(["hug pug"]).first.tolist()
        [0, 4]

        Files without the column `first`, and sums of counts that share a source, have no positions.
        """
        return self._raw.first()

    @property
    def boundaries(self) -> list[tuple[int, ...]] | None:
        """The boundaries inside each word, in characters of the word; None for counts without boundaries.

        >>> Counts(["undo", "do"], [3, 1]).with_boundaries({"undo": ["un", "do"]}).boundaries
        [(2,), ()]

        Text with a marker can have a word with different boundaries, which then occurs in `words` again.
        """
        found = self._raw.boundaries()
        return None if found is None else list(map(tuple, found))

    @property
    def has_boundaries(self) -> bool:
        """Whether `with_boundaries` or `with_boundary_marker` made the counts, or some of them.

        >>> Counts(["undo"], [3]).has_boundaries
        False
        """
        return self._raw.has_boundaries()

    @property
    def total(self) -> int:
        """The sum of all counts.

        >>> Counts(["hug", "pug"], [10, 5]).total
        15
        """
        import numpy as np

        counts = self.counts
        # The sum can exceed 64 bits; the sums of both halves of fewer than 2**32 counts cannot.
        high, low = counts >> np.uint64(32), counts & np.uint64(2**32 - 1)
        return (int(high.sum(dtype=np.uint64)) << 32) + int(low.sum(dtype=np.uint64))

    def most_common(self, n: int | None = None) -> list[tuple[str, int]]:
        """Return the `n` most frequent words with their counts; ties keep the order of `words`.

        >>> Counts(["hug", "pug", "pun"], [10, 5, 12]).most_common(2)
        [('pun', 12), ('hug', 10)]
        """
        import numpy as np

        n = optional_number("n", n, 0)
        counts = self.counts
        order = np.argsort(counts.max(initial=0) - counts, kind="stable")[:n]
        words = self.words
        return [(words[index], int(counts[index])) for index in order.tolist()]

    # ---- boundaries

    def with_boundaries(self, boundaries: Boundaries) -> Counts:
        """Return the counts with boundaries inside words, which no learned entry crosses.

        >>> counts = Counts(["undoing", "do"], [3, 1])
        >>> counts.with_boundaries({"undoing": ["un", "do", "ing"]}).boundaries
        [(2, 4), ()]
        >>> counts.with_boundaries(lambda word: [word[:2], word[2:]] if word[:2] == "un" else None).boundaries
        [(2,), ()]

        `boundaries` is a lexicon file (`read_boundaries`), a mapping from words to their parts, or a function
        that returns the parts of a word, None for a word without boundaries. Words are looked up as the
        pipeline leaves them, without the mark of a space. Raises `ArgumentError` for parts that do not spell
        their word, for a lexicon with none of the words, and for counts that have boundaries.
        """
        self._check_unbounded()
        words = self.words
        found = boundaries_of(words, self.pipeline, boundaries)
        return self._with_rows(words, self.counts, self.first, found)

    def with_boundary_marker(self, marker: str) -> Counts:
        """Return the counts without a marker that stands in the words at their boundaries.

        >>> counts = Counts(["unǀdo", "do"], [3, 1]).with_boundary_marker("ǀ")
        >>> counts.words, counts.boundaries
        (['undo', 'do'], [(2,), ()])

        The pipeline must keep the marker within words: most keep a letter that the text lacks, such as ǀ
        (U+01C0). At the edge of a word, a marker is dropped. Raises `ArgumentError` for a marker that is
        empty, a word of its own or in no word, and for counts that have boundaries.
        """
        import numpy as np

        self._check_unbounded()
        first = self.first
        rows: dict[tuple[str, tuple[int, ...]], tuple[int, int]] = {}
        positions = [0] * len(self) if first is None else first.tolist()
        found = without_marker(self.words, self.pipeline, marker)
        for (word, at), count, position in zip(found, self.counts.tolist(), positions, strict=True):
            key = word, tuple(at)
            earlier = rows.get(key, (0, position))
            rows[key] = earlier[0] + count, min(earlier[1], position)
        if max(count for count, _ in rows.values()) >= 1 << 64:
            raise TrainingError("counts", "have a sum beyond 64 bits")
        counts, positions = zip(*rows.values(), strict=True)
        words, boundaries = zip(*rows, strict=True)
        made_first = None if first is None else np.array(positions, np.uint64)
        return self._with_rows(words, np.array(counts, np.uint64), made_first, boundaries)

    def _whole_words(self) -> Counts:
        """Return the counts without boundaries; equal words are one, and positions are unknown."""
        import numpy as np

        if not self.has_boundaries:
            return self
        totals = Counter[str]()
        for word, count in self:
            totals[word] += count
        numbers = np.array(list(totals.values()), np.uint64)
        return Counts._of_columns(list(totals), numbers, None, self.pipeline)

    def _check_unbounded(self) -> None:
        if self.has_boundaries:
            raise ArgumentError("counts", "have boundaries; start from counts without them")

    def _with_rows(
        self,
        words: Sequence[str],
        counts: npt.NDArray[np.uint64],
        first: npt.NDArray[np.uint64] | None,
        boundaries: Sequence[Sequence[int]],
    ) -> Counts:
        return Counts._of(
            RawCounts(words, counts, first, boundaries), self.pipeline, self.replacements
        )

    def merge(self, other: Counts) -> Counts:
        """Return the sum of both, as `+` does.

        >>> shards = [Counts(["hug"], [2]), Counts(["hug", "pug"], [1, 1])]
        >>> shards[0].merge(shards[1]).most_common()
        [('hug', 3), ('pug', 1)]

        The sum has first positions if both operands have them and share no source. A word with other
        boundaries, or with none, is another word. Raises `ArgumentError`
        if `other` is not `Counts` or has another pipeline, and `TrainingError` if a sum exceeds 64 bits.
        """
        if not isinstance(other, Counts):
            raise ArgumentError("other", f"must be Counts, not {type(other).__name__}")
        mine, theirs = self.pipeline, other.pipeline
        if mine is not None and theirs is not None and not mine.agrees_with(theirs):
            problem = f"has counts of another pipeline: {other.pipeline}, not {self.pipeline}"
            raise ArgumentError("other", problem)
        pipeline = other.pipeline if self.pipeline is None else self.pipeline
        raw = self._raw.merge(other._raw)
        return Counts._of(raw, pipeline, self.replacements + other.replacements)

    # ---- files

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Counts:
        """Read counts from Parquet or TSV; the content decides the format.

        Files of other programs need the columns `word` and `count`; `first`, `boundaries` (positions in
        characters, such as 2,4) and the pipeline are optional.
        Raises `FileError`, and `FormatError` with the line or column.
        """
        table = read_counts(path)
        try:
            return cls._of_columns(*table)
        except ArgumentError as error:
            raise FormatError(str(path), str(error)) from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `*.parquet` (needs `piecework[parquet]`) or `*.tsv` atomically.

        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "counts.tsv"
        >>> Counts(["hug"], [10]).save(path)
        >>> Counts.load(path)
        Counts(1 word, 10 in total)
        """
        write_counts(self._table(), path)

    def write_tsv(self, stream: BinaryIO) -> None:
        """Write TSV to an open binary stream."""
        if not hasattr(stream, "write"):
            raise InputTypeError("stream", f"must be a binary stream, not {type(stream).__name__}")
        write_tsv(self._table(), stream)

    def _table(self) -> CountsTable:
        return CountsTable(self.words, self.counts, self.first, self.pipeline, self.boundaries)

    # ---- what learners read

    def _digest(self) -> str:
        """Return a checksum of words, counts and positions, and the number of words."""
        return f"{self._raw.digest():016x}, {len(self):,} distinct words"

    def _word_sizes(self) -> tuple[npt.NDArray[Any], ...]:
        """Return the bytes, the characters and the count of each word that a learner reads."""
        raw = self._raw.parts() if self.has_boundaries else self._raw
        return (*raw.lengths(), raw.counts())

    def _of_pipeline(self, pipeline: Pipeline) -> Counts:
        """Return the words with a pipeline that can run, unless their own pipeline can."""
        if self.pipeline is not None and not self.pipeline.lacks_functions:
            return self
        return Counts._of(self._raw, pipeline, self.replacements)

    def _at_least(self, least: int) -> Counts:
        """Return the words that occur at least `least` times."""
        return Counts._of(self._raw.at_least(least), self.pipeline, self.replacements)

    # ---- Python protocols

    def __len__(self) -> int:
        return len(self._raw)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return zip(self.words, self.counts.tolist(), strict=True)

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        return self.merge(other)

    def __radd__(self, other: Literal[0]) -> Counts:
        """Return `self` if `other` is 0, the start value of `sum`."""
        return self if type(other) is int and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            len(self) == len(other)
            and _is_same_pipeline(self.pipeline, other.pipeline)
            and _rows(self) == _rows(other)
        )

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Counts:
        return Counts._of(self._raw, self.pipeline, self.replacements)

    def __deepcopy__(self, memo: dict[int, Any]) -> Counts:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        pipeline = None if self.pipeline is None else self.pipeline.without_functions()
        columns = self.words, self.counts, self.first, self._raw.boundaries()
        return _rebuild, (*columns, pipeline, self.replacements)

    def __repr__(self) -> str:
        return f"Counts({len(self)} {'word' if len(self) == 1 else 'words'}, {self.total} in total)"


AnyCounts: TypeAlias = Counts | Mapping[str, int]
"""Word counts, or a mapping from words to counts."""


def isolated_characters(counts: Counts, characters: str) -> str:
    """Return the characters that the pipeline makes words of their own, "" for an unknown pipeline.

    >>> from piecework.train import count_texts
    >>> isolated_characters(count_texts(["hug. 抱"]), "?")
    '.?抱'

    They are among the characters of the words and `characters`.
    """
    if counts.pipeline is None or counts.pipeline.lacks_functions:
        return ""
    return counts._raw.isolated_characters(*counts.pipeline.to_core(), characters)


def word_counts(corpus: Any, name: str) -> Any:
    """Return a mapping from words to counts as `Counts`, and anything else unchanged.

    >>> word_counts({"hug": 10}, "corpus"), word_counts(["hug"], "corpus")
    (Counts(1 word, 10 in total), ['hug'])

    Raises `InputTypeError` with `name` and the word for another value than an integer.
    """
    if not isinstance(corpus, Mapping):
        return corpus
    _check_numbers(corpus, name)
    return Counts(corpus)


def _columns_of(
    words: Sequence[str] | Mapping[str, int], counts: Numbers | None
) -> tuple[Sequence[str], Numbers]:
    if isinstance(words, Mapping):
        if counts is not None:
            problem = "cannot be combined with a mapping from words to counts; pass one of them"
            raise ArgumentError("counts", problem)
        _check_numbers(words, "words")
        return list(words), list(words.values())
    if counts is None:
        raise InputTypeError("counts", "must be numbers, one for each word, not None")
    return words, counts


def _check_numbers(words: Mapping[Any, Any], name: str) -> None:
    import numpy as np

    for word, count in words.items():
        if isinstance(count, bool) or not isinstance(count, int | np.integer):
            problem = f"must be int, the count of a word, not {type(count).__name__}"
            raise InputTypeError(f"{name}[{word!r}]", problem)


def _rebuild(
    words: list[str],
    counts: npt.NDArray[np.uint64],
    first: npt.NDArray[np.uint64] | None,
    boundaries: list[list[int]] | None,
    pipeline: Pipeline | None,
    replacements: int,
) -> Counts:
    return Counts._of(RawCounts(words, counts, first, boundaries), pipeline, replacements)


def _rows(counts: Counts) -> dict[Any, int]:
    """Return the count of each word with its boundaries."""
    boundaries = counts.boundaries or [()] * len(counts)
    keys = zip(counts.words, boundaries, strict=True)
    return dict(zip(keys, counts.counts.tolist(), strict=True))


def _is_same_pipeline(one: Pipeline | None, two: Pipeline | None) -> bool:
    if one is None or two is None:
        return one is two
    return one.agrees_with(two)


def _raw_counts(
    words: Sequence[str],
    counts: Numbers,
    first: Numbers | None,
    boundaries: Sequence[Sequence[int]] | None = None,
) -> RawCounts:
    count_array = _as_u64("counts", counts, len(words))
    first_array = None if first is None else _as_u64("first", first, len(words))
    checked = _checked_words(words, boundaries)
    return RawCounts(checked, count_array, first_array, boundaries)


def _checked_words(words: Sequence[Any], boundaries: Sequence[Sequence[int]] | None) -> list[str]:
    for index, word in enumerate(words):
        if not isinstance(word, str) or not word:
            raise ArgumentError(f"words[{index}]", f"must be a non-empty string, not {word!r}")
    rows = words if boundaries is None else list(zip(words, map(tuple, boundaries), strict=True))
    if len(set(rows)) != len(rows):
        duplicate = next(row for row, times in Counter(rows).items() if times > 1)
        raise ArgumentError("words", f"contain {duplicate!r} twice")
    return list(words)


def _as_u64(name: str, values: Numbers, length: int) -> npt.NDArray[np.uint64]:
    import numpy as np

    array = np.asarray(values)
    if array.shape != (length,):
        problem = f"must be one number for each of {length} words; its shape is {array.shape}"
        raise ArgumentError(name, problem)
    if array.dtype == np.uint64 or length == 0:
        return np.require(array, np.uint64, ["C", "ALIGNED"])
    if array.dtype.kind not in "iu":
        raise ArgumentError(
            name, f"must be integers from 0 to 2**64 - 1, not {array.dtype} numbers"
        )
    if (array < 0).any():
        raise ArgumentError(name, "must not be negative")
    return array.astype(np.uint64)
