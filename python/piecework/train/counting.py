"""Count the words of files or of texts, on several threads and within a memory budget.

Text in, `Counts` out. The settings of a count are declared once, as fields: `CountSettings` has settings for
texts, `FileCountSettings` further ones for files.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import lcm
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from piecework._internal._core import OrderedWords, WordCounter
from piecework._internal.memory_budget import memory_budget
from piecework._internal.progress import progress_bar, show_source
from piecework._internal.setting_fields import (
    Choice,
    File,
    Integer,
    MemorySize,
    Number,
    Switch,
    Text,
    Value,
    check_settings,
    documented,
    given_to,
    setting,
    settings_of,
    takes_settings,
)
from piecework._internal.text_columns import text_column
from piecework._internal.threads import thread_count
from piecework._internal.types import Progress, Unpack, Update
from piecework._internal.validation import PathLike, check_type, counted, whole_number
from piecework._internal.warn import warn
from piecework.corpus.iterables import rows_of_texts, text_total
from piecework.corpus.paths import corpus_bytes, corpus_files
from piecework.corpus.reader import CorpusReader
from piecework.corpus.rows import (
    LIST_TEXTS,
    ON_ERROR,
    OnError,
    ReadOptions,
    Rows,
    TextBlock,
    Utf8Errors,
)
from piecework.errors import ArgumentError, TrainingWarning
from piecework.train.count_checkpoint import CountCheckpoint, FilePosition, delete_count_checkpoint
from piecework.train.counts import Counts
from piecework.train.counts_files import CountsSummary, write_ordered_words
from piecework.train.presets import Pipeline, Preset
from piecework.train.sentencepiece_presets import any_preset
from piecework.train.sentences import Sentences
from piecework.train.settings import CountFilesOptions, CountTextsOptions

if TYPE_CHECKING:
    from piecework._internal.array_types import Texts

Weight: TypeAlias = int | float | str | Fraction | Decimal

_LIMIT = 1 << 32
_TEMPERATURE_DENOMINATOR = 1 << 20


class ExactWeights(NamedTuple):
    """The weight of group `i` is `numerators[i] / denominator`."""

    numerators: list[int]
    denominator: int


EQUAL_WEIGHTS = ExactWeights([], 1)


def weights_as_given(weights: Sequence[Weight]) -> ExactWeights:
    """Return the weights as fractions with one denominator; a float means its shortest decimal form.

    >>> weights_as_given([1, 2.5, "1/3"])
    ExactWeights(numerators=[6, 15, 2], denominator=6)

    Raises `ArgumentError` unless each is a number above 0.
    """
    if isinstance(weights, (str, bytes)) or not isinstance(weights, Iterable):
        raise ArgumentError("source_weights", f"must be a sequence of numbers, not {weights!r}")
    fractions = [_fraction(index, weight) for index, weight in enumerate(weights)]
    denominator = lcm(*(fraction.denominator for fraction in fractions))
    numerators = [int(fraction * denominator) for fraction in fractions]
    if max((denominator, *numerators)) >= _LIMIT:
        found = ", ".join(map(str, weights))
        raise ArgumentError("source_weights", f"have too many digits: {found}")
    return ExactWeights(numerators, denominator)


def weights_of_temperature(totals: Sequence[int], temperature: float) -> ExactWeights:
    """Return weights that make the share of each group proportional to its share to the power 1/temperature.

    >>> weights_of_temperature([900, 100], 1.0).numerators == [1 << 20, 1 << 20]
    True
    >>> numerators, denominator = weights_of_temperature([900, 100], 2.0)
    >>> [round(n * total / denominator) for n, total in zip(numerators, [900, 100])]
    [750, 250]

    The sum of all counts stays the same but for rounding; weights are rounded to multiples of 2**-20.
    Source: Conneau and Lample 2019, section 3.1 (alpha is 1/temperature).
    """
    whole = sum(totals)
    # Relative to the largest, whose power is 1: at low temperatures the powers of all shares can be 0.
    largest = max(totals)
    powers = [(total / largest) ** (1 / temperature) if total else 0.0 for total in totals]
    norm = sum(powers)
    weights = [
        power / norm * whole / total if total else 1.0
        for power, total in zip(powers, totals, strict=True)
    ]
    numerators = [max(1, round(weight * _TEMPERATURE_DENOMINATOR)) for weight in weights]
    return ExactWeights(numerators, _TEMPERATURE_DENOMINATOR)


def _fraction(index: int, weight: Weight) -> Fraction:
    try:
        fraction = Fraction(str(weight))
    except (ValueError, ZeroDivisionError):
        fraction = Fraction(0)
    if isinstance(weight, bool) or fraction <= 0:
        raise ArgumentError(f"source_weights[{index}]", f"must be a number above 0, not {weight!r}")
    return fraction


_MAX_SOURCES = 1 << 24  # a first position has 24 bits for the number of the source
# The rest of the budget is for blocks of text, and for the columns of the result while they are written.
_SHARE_OF_MAPS = 0.5


# ---- settings: to add one, write its field and use it


@documented
@dataclass(frozen=True)
class CountSettings:
    """How the words of texts are counted: the settings of `count_texts`."""

    num_threads: int | None = setting(
        None, Integer("Number of threads.", least=1, none="one for each CPU", option=None)
    )
    sentences: Sentences | None = setting(
        None,
        Value(
            "Selects lines or texts; a limited number of them is one source.",
            annotation="Sentences",
            check=lambda value: check_type("sentences", value, Sentences, "Sentences"),
            none="all",
            option=None,
        ),
    )
    memory: int | str | None = setting(
        None,
        MemorySize(
            "Memory budget for word counts, such as 512MB or 4GiB, at least 128MB; further counts go to "
            "sorted files in TMPDIR, and training drops rare words.",
            none="a quarter of the memory",
            metavar="SIZE",
        ),
    )
    sample: float | None = setting(
        None,
        Number(
            "Count a random share of the lines or texts, such as 0.1.",
            above=0,
            most=1,
            none="all",
            metavar="SHARE",
        ),
    )
    seed: int = setting(0, Integer("Seed for all random choices.", least=0))
    max_word_length: int | None = setting(
        None,
        Integer(
            "Skip longer words (in characters), and report how many.", least=1, none="no limit"
        ),
    )

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def rules(self) -> Sentences:
        """The rules that select sentences."""
        return self.sentences or Sentences()

    def counter(
        self, pipeline: Pipeline, folder: str, *, keep_line_ends: bool, durable: bool = False
    ) -> WordCounter:
        """Return a counter that writes runs to a folder, which it creates with the first run."""
        text, functions = pipeline.to_core()
        return WordCounter(
            text,
            thread_count(self.num_threads),
            functions,
            {
                "keep_line_ends": keep_line_ends,
                "max_bytes": self.rules.max_bytes,
                "reserved": self.rules.reserved,
                "with_counts": self.rules.with_counts,
                "sample": None if self.sample is None else (self.sample, self.seed),
                "max_word_length": self.max_word_length,
                "memory": int(memory_budget(self.memory) * _SHARE_OF_MAPS),
                "folder": folder,
                "durable": durable,
            },
        )

    def warn_of_left_out(self, counter: WordCounter) -> None:
        """Warn with `TrainingWarning` of texts and words that were too long."""
        long_texts, long_words, _ = counter.left_out()
        _warn(long_texts, "sentence", f"skipped: longer than {self.rules.max_bytes} bytes")
        _warn(long_words, "word", f"skipped: longer than {self.max_word_length} characters")


@documented
@dataclass(frozen=True)
class PartCountSettings(CountSettings):
    """How the words of some files of a corpus are counted, in one process or in a task of a cluster."""

    field: str | None = setting(
        None,
        Text("Field with the text in JSON lines, or column of a table.", none="text", option=None),
    )
    encoding_errors: Utf8Errors = setting(
        "replace",
        Choice(
            "Replace invalid UTF-8 with U+FFFD, with a `TrainingWarning`, or raise `InvalidUtf8Error`.",
            names=("replace", "strict"),
            option=None,
        ),
    )


@documented
@dataclass(frozen=True)
class FileCountSettings(PartCountSettings):
    """How the words of files are counted: the settings of `count_files`, and options of `piecework count`."""

    on_error: OnError = setting(
        "fail",
        Choice(
            "Stop at the first error in a line or file, or skip it.", names=ON_ERROR, option=None
        ),
    )
    first_source: int = setting(
        0, Integer("Number of the first file; the others follow.", least=0, option=None)
    )
    source_weights: Sequence[Weight] | None = setting(
        None,
        Value(
            "Multiply the counts of each path (CORPUS argument) by a weight, such as 1,2.5.",
            annotation="Sequence[float | str | Fraction | Decimal]",
            check=weights_as_given,
            none="equal",
            metavar="W,W,...",
        ),
    )
    temperature: float | None = setting(
        None,
        Number(
            "Flatten the shares of the paths: share ** (1 / X).",
            above=0,
            none="1",
        ),
    )
    checkpoint: PathLike | None = setting(
        None,
        File(
            "Folder for the state of the run; repeat the run to continue after an interruption.",
            metavar="DIR",
            none="no checkpoint",
        ),
    )
    checkpoint_seconds: float = setting(
        60.0, Number("Time between saves while counting.", least=0, metavar="SECONDS")
    )
    keep_checkpoint: bool = setting(
        False, Switch("Keep the state when the count ends.", option=None)
    )


_SAME_COUNTS = frozenset(
    "num_threads memory source_weights temperature checkpoint checkpoint_seconds keep_checkpoint".split()
)
"""The settings that a checkpoint need not agree with."""


# ---- public functions


@takes_settings(FileCountSettings)
def count_files(
    paths: PathLike | Sequence[PathLike],
    *,
    preset: str | Preset | Pipeline = "bert-uncased",
    progress: Progress = None,
    **settings: Unpack[CountFilesOptions],
) -> Counts:
    """Count the words of files, directories, patterns, URLs and `-` (stdin; JSON lines if `field` is set).

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "corpus.txt"
    >>> _ = path.write_text("hug pug\\nhug\\n")
    >>> count_files(path).most_common()
    [('hug', 2), ('pug', 1)]

    `preset` is the name of a preset, a `Preset` or a `Pipeline`. `sentences` selects lines or texts; a
    limited number of them is one source, `first_source`. Each line of plain text is counted on its own (a
    byte-level pipeline includes its line end), so the counts of shards add up to the counts of the whole
    corpus. The files are the sources `first_source`, `first_source + 1`, ...; `ties="first-seen"` needs
    shards with different source numbers. `progress=True` shows a bar on a terminal or in a notebook, and
    prints a line every 30 seconds elsewhere; a function receives bytes as stored, done and in total (0:
    unknown). `corpus.read_corpus` describes the formats, `field` and `on_error`.

    A sample depends only on `seed` and the positions of the texts. Weighted sums are exact and rounded once.
    The same call continues from a `checkpoint`, which is saved every `checkpoint_seconds` and on Ctrl-C.

    Invalid UTF-8 becomes U+FFFD, with a `TrainingWarning`. Raises `FileError`, `CorpusError`, and
    `InvalidUtf8Error` with the byte position if `encoding_errors="strict"`.
    """
    checked = given_to(count_files, FileCountSettings, settings)
    return CorpusCount(paths, pipeline_of_preset(preset), checked).counts(progress)


@takes_settings(FileCountSettings)
def count_files_to(
    output: PathLike,
    paths: PathLike | Sequence[PathLike],
    *,
    preset: str | Preset | Pipeline = "bert-uncased",
    progress: Progress = None,
    **settings: Unpack[CountFilesOptions],
) -> CountsSummary:
    """Count the words of files and write them to `*.parquet` or `*.tsv`, within the memory budget.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "corpus.txt").write_text("hug pug\\nhug\\n")
    >>> count_files_to(folder / "counts.tsv", folder / "corpus.txt")
    CountsSummary(words=3, distinct=2)

    The file has the content of `count_files(...).save(output)`, and `options` are arguments of `count_files`.
    Use it for corpora with more distinct words than fit in memory. Raises `CorpusError` for a corpus without
    words, and `ArgumentError` for `sentences` with a size.
    """
    checked = given_to(count_files_to, FileCountSettings, settings)
    if checked.rules.size:
        raise ArgumentError("sentences", "with a size needs count_files, which samples in memory")
    count = CorpusCount(paths, pipeline_of_preset(preset), checked)
    with count.run(progress) as (words, _):
        return write_ordered_words(words, count.pipeline, output, ", ".join(count.files))


@takes_settings(CountSettings)
def count_texts(
    texts: Iterable[str | Sequence[str]] | Texts,
    *,
    preset: str | Preset | Pipeline = "bert-uncased",
    progress: Progress = None,
    source: int = 0,
    **settings: Unpack[CountTextsOptions],
) -> Counts:
    """Count the words of texts from an iterator or a column.

    >>> count_texts(["hug pug", "Hug"]).most_common()
    [('hug', 2), ('pug', 1)]

    `texts` is an iterable of strings or of lists of strings, or a column of strings that is read without a
    copy, as for `Tokenizer.encode_batch`. All texts are one source with the number `source`. The other
    arguments are the same as for `count_files`. A function as `progress` receives numbers of texts. Raises
    `InputTypeError` with the index of an item that is not a string.
    """
    checked = given_to(count_texts, CountSettings, settings)
    return counts_of_texts(texts, pipeline_of_preset(preset), checked, progress, source)


def pipeline_of_preset(preset: str | Preset | Pipeline) -> Pipeline:
    """Return a pipeline unchanged, and the pipeline of a preset or its name.

    >>> pipeline_of_preset("gpt2").is_byte_level
    True
    """
    return preset if isinstance(preset, Pipeline) else any_preset(preset).pipeline


# ---- texts and rows


@dataclass(frozen=True)
class RowsToCount:
    """The rows of a corpus, and the total of its progress, in bytes or texts; 0 if it is unknown."""

    rows: Iterable[Rows]
    total: int
    in_bytes: bool = False


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


def counts_of_texts(
    texts: Iterable[str | Sequence[str]] | Texts,
    pipeline: Pipeline,
    settings: CountSettings,
    progress: Progress = None,
    source: int = 0,
) -> Counts:
    """Count the words of texts as one source."""
    _check_sources("source", source, 1)
    column = None if settings.rules.size else text_column(texts)
    if column is None:
        corpus = RowsToCount(rows_of_texts(texts), text_total(texts))
        return count_rows(corpus, pipeline, settings, progress, source)

    def add(counter: WordCounter, update: Update) -> int:
        for start in range(0, len(column), LIST_TEXTS):
            end = min(start + LIST_TEXTS, len(column))
            counter.add_column(column, source, start, end)
            update(end, len(column))
        return 0

    return _counted(add, pipeline, settings, progress)


def count_rows(
    corpus: RowsToCount,
    pipeline: Pipeline,
    settings: CountSettings,
    progress: Progress = None,
    source: int = 0,
) -> Counts:
    """Count the words of rows, or of the sentences that the settings select from them, as one source."""
    rules = settings.rules

    def add(counter: WordCounter, update: Update) -> int:
        rows = _reported(corpus, update)
        texts = TextsOfRows(rows)
        for each in rows_of_texts(rules.select(texts)) if rules.size else rows:
            counter.add_texts(each.texts, source, each.replacements)
        return texts.replacements

    return _counted(add, pipeline, settings, progress, in_bytes=corpus.in_bytes)


def _reported(corpus: RowsToCount, update: Update) -> Iterator[Rows]:
    """Yield the rows; report each after it is counted."""
    done = 0
    for rows in corpus.rows:
        show_source(update, rows.name)
        yield rows
        done += len(rows)
        update(rows.file_bytes_read if corpus.in_bytes else done, corpus.total)


def _counted(
    add: Callable[[WordCounter, Update], int],
    pipeline: Pipeline,
    settings: CountSettings,
    progress: Progress,
    in_bytes: bool = False,
) -> Counts:
    """Count what `add` adds; it returns the invalid sequences that the counter has not seen."""
    with _scratch_folder() as folder:
        counter = settings.counter(pipeline, folder, keep_line_ends=False)
        with progress_bar("counting", progress, in_bytes=in_bytes) as update:
            replacements = add(counter, update) + counter.replacements()
        warn_of_replacements(replacements)
        settings.warn_of_left_out(counter)
        return Counts._of(counter.finish().into_counts(), pipeline, replacements)


# ---- files


@dataclass(frozen=True)
class CorpusCount:
    """A count of files: what to read, the stages that split it into words, and the settings."""

    paths: PathLike | Sequence[PathLike]
    pipeline: Pipeline
    settings: FileCountSettings

    def __post_init__(self) -> None:
        groups, settings = self.groups, self.settings
        if settings.rules.size:
            self._check_unused()
        _check_sources("first_source", settings.first_source, sum(map(len, groups)))
        weights = settings.source_weights
        if weights is not None and settings.temperature is not None:
            raise ArgumentError("source_weights", "cannot be combined", also=["temperature"])
        if weights is not None and len(weights) != len(groups):
            problem = f"must be one for each of {len(groups)} paths; there are {len(weights)}"
            raise ArgumentError("source_weights", problem)
        if settings.checkpoint is not None and any("-" in files for files in groups):
            raise ArgumentError("checkpoint", "needs files: stdin cannot be read again")

    def _check_unused(self) -> None:
        """Raise for options that a limited number of sentences, which is drawn in memory, does not have."""
        for name in ("checkpoint", "source_weights", "temperature"):
            if getattr(self.settings, name) is not None:
                raise ArgumentError(name, "does not apply with a limited number of sentences")

    @cached_property
    def groups(self) -> list[list[str]]:
        """The files of each path as given; the groups have weights."""
        paths = self.paths
        if isinstance(paths, Sequence) and not isinstance(paths, (str, bytes)) and paths:
            return [corpus_files([path]) for path in paths]
        return [corpus_files(paths)]

    @property
    def files(self) -> list[str]:
        """All files, in order."""
        return [name for files in self.groups for name in files]

    def check_checkpoint(self) -> None:
        """Raise for a saved state that the count cannot continue from, as `run` does."""
        if (checkpoint := self._checkpoint()) is not None:
            checkpoint.saved_state()

    def counts(self, progress: Progress) -> Counts:
        """Count, in memory."""
        settings = self.settings
        if settings.rules.size:
            options, files = self._read_options(), corpus_files(self.paths)
            corpus = RowsToCount(CorpusReader(files, options).rows(), corpus_bytes(files), True)
            found = count_rows(corpus, self.pipeline, settings, progress, settings.first_source)
            options.warn_of_skipped()
            return found
        with self.run(progress) as (words, replacements):
            return Counts._of(words.into_counts(), self.pipeline, replacements)

    @contextmanager
    def run(self, progress: Progress) -> Iterator[tuple[OrderedWords, int]]:
        """Count; yield the words in order and the number of invalid sequences.

        Files of words are deleted at the end, but files of a checkpoint only if the body succeeds.
        """
        checkpoint = self._checkpoint()
        locked = nullcontext() if checkpoint is None else checkpoint.locked()
        with _scratch_folder() as scratch, locked:
            folder = scratch if checkpoint is None else str(checkpoint.folder)
            counter = self.settings.counter(
                self.pipeline,
                folder,
                keep_line_ends=self.pipeline.is_byte_level,
                durable=checkpoint is not None,
            )
            with progress_bar("counting", progress, in_bytes=True) as update:
                self._count(counter, checkpoint, update)
            if checkpoint is not None and self.settings.keep_checkpoint:
                checkpoint.save(counter)
            replacements = counter.replacements()
            warn_of_replacements(replacements)
            self.settings.warn_of_left_out(counter)
            numerators, denominator = self._weights(counter)
            yield counter.finish(numerators, denominator), replacements
            if checkpoint is not None and not self.settings.keep_checkpoint:
                delete_count_checkpoint(checkpoint.folder)

    def _checkpoint(self) -> CountCheckpoint | None:
        if self.settings.checkpoint is None:
            return None
        shared = {
            name: getattr(self.settings, name)
            for name in settings_of(FileCountSettings)
            if name not in _SAME_COUNTS
        }
        settings = {
            **shared,
            "sentences": repr(self.settings.rules),
            "pipeline": self.pipeline.to_json(),
            "groups": self._group_of_each_file() if self._has_weights else None,
        }
        return CountCheckpoint(
            self.settings.checkpoint, self.settings.checkpoint_seconds, settings, self.files
        )

    def _count(
        self, counter: WordCounter, checkpoint: CountCheckpoint | None, update: Update
    ) -> None:
        """Count all files, from the saved state on."""
        done = FilePosition() if checkpoint is None else checkpoint.restore(counter)
        first_file = done.source - self.settings.first_source if done.items else 0
        bytes_before = corpus_bytes(self.files[:first_file])
        total_bytes = corpus_bytes(self.files)
        groups = self._group_of_each_file()
        position = done
        try:
            for item in self._items_from(first_file, done):
                position = position.after(item)
                if checkpoint is not None:
                    checkpoint.begin(position)
                counter.start_group(groups[item.source - self.settings.first_source])
                self._add(counter, item)
                if checkpoint is not None:
                    checkpoint.save_if_due(counter)
                show_source(update, item.name)
                update(bytes_before + item.file_bytes_read, total_bytes)
        except KeyboardInterrupt:
            # A custom stage can be interrupted within a block: the last saved state stays.
            if checkpoint is not None and not counter.is_partial():
                checkpoint.save(counter)
            raise

    def _read_options(self) -> ReadOptions:
        """Return how to read the files; tables of sentences and their counts are read as lines."""
        return ReadOptions.of(
            self.settings.field,
            self.settings.encoding_errors,
            self.settings.on_error,
            tables_as_lines=self.settings.rules.with_counts,
        )

    def _items_from(self, first_file: int, done: FilePosition) -> Iterator[TextBlock | Rows]:
        """Read the files from an index on; leave out what was counted of that file."""
        first_source = self.settings.first_source + first_file
        options = self._read_options()
        reader = CorpusReader(self.files[first_file:], options, first_source=first_source)
        counted = done.items if done.text is None else 0
        for item in reader.blocks(done.text):
            if item.source == first_source and counted:
                counted -= 1
            else:
                yield item
        options.warn_of_skipped()

    def _add(self, counter: WordCounter, item: TextBlock | Rows) -> None:
        if isinstance(item, TextBlock):
            is_strict = self.settings.encoding_errors == "strict"
            counter.add_block(item.data, item.source, item.byte_offset, is_strict, item.name)
        else:
            counter.add_texts(item.texts, item.source, item.replacements)

    def _group_of_each_file(self) -> list[int]:
        """Return the group of each file; without weights all files are in one group."""
        has_weights = self._has_weights
        return [group * has_weights for group, files in enumerate(self.groups) for _ in files]

    @property
    def _has_weights(self) -> bool:
        return self.settings.source_weights is not None or self.settings.temperature is not None

    def _weights(self, counter: WordCounter) -> ExactWeights:
        if self.settings.source_weights is not None:
            return weights_as_given(self.settings.source_weights)
        if self.settings.temperature is None:
            return EQUAL_WEIGHTS
        totals = [0] * len(self.groups)
        for _, group, _, occurrences in counter.checkpoint()["runs"]:
            totals[group] += occurrences
        return (
            weights_of_temperature(totals, self.settings.temperature)
            if any(totals)
            else EQUAL_WEIGHTS
        )


def _check_sources(name: str, first: int, sources: int) -> None:
    """Raise unless the numbers of the sources fit into first positions."""
    last = whole_number(name, first, 0) + sources - 1
    if last >= _MAX_SOURCES:
        problem = f"{first} and {counted(sources, 'file')} need numbers below {_MAX_SOURCES}"
        raise ArgumentError(name, problem)


def warn_of_replacements(replacements: int) -> None:
    """Warn with `TrainingWarning` of invalid sequences."""
    _warn(replacements, "invalid UTF-8 sequence", "replaced by U+FFFD")


def _warn(number: int, noun: str, what: str) -> None:
    if number:
        were = "was" if number == 1 else "were"
        warn(f"{counted(number, noun)} {were} {what}", TrainingWarning)


@contextmanager
def _scratch_folder() -> Iterator[str]:
    """Yield the path of a folder for runs, which the counter creates on demand; delete it afterwards."""
    folder = Path(tempfile.gettempdir()) / f"piecework-count-{os.getpid()}-{os.urandom(6).hex()}"
    try:
        yield str(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
