"""Count the files of a corpus within a memory budget, with checkpoints, samples and weights."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict

from piecework._core import OrderedWords, WordCounter
from piecework._internal.counted import counted
from piecework._internal.memory_budget import memory_budget
from piecework._internal.progress import progress_bar, show_source
from piecework._internal.threads import thread_count
from piecework._internal.types import Progress, Unpack, Update
from piecework._internal.validation import PathLike, check_number, check_positive, whole_number
from piecework._internal.warn import warn
from piecework.corpus.paths import corpus_bytes, corpus_files
from piecework.corpus.reader import CorpusReader
from piecework.corpus.rows import ReadOptions, Rows, TextBlock, Utf8Errors
from piecework.corpus.skipped import OnError
from piecework.errors import ArgumentError, TrainingWarning
from piecework.train.count_checkpoint import CountCheckpoint, FilePosition, delete_count_checkpoint
from piecework.train.pipeline import Pipeline
from piecework.train.sentences import Sentences
from piecework.train.source_weights import (
    EQUAL_WEIGHTS,
    ExactWeights,
    Weight,
    weights_as_given,
    weights_of_temperature,
)

_MAX_SOURCES = 1 << 24  # a first position has 24 bits for the number of the source
# The rest of the budget is for blocks of text, and for the columns of the result while they are written.
_SHARE_OF_MAPS = 0.5


@dataclass(frozen=True)
class CountSettings:
    """How texts are counted; the arguments of `count_files` with the same names."""

    sample: float | None = None
    seed: int = 0
    max_word_length: int | None = None
    memory: int | str | None = None
    num_threads: int | None = None
    sentences: Sentences = field(default_factory=Sentences)

    def __post_init__(self) -> None:
        if self.sample is not None:
            check_positive("sample", self.sample)
            if self.sample > 1:
                raise ArgumentError("sample", str(self.sample), "a share from 0 to 1")
        if not 0 <= whole_number("seed", self.seed, 0) < 1 << 64:
            raise ArgumentError("seed", str(self.seed), "an integer from 0 to 2**64 - 1")
        if self.max_word_length is not None:
            whole_number("max_word_length", self.max_word_length, 1)

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
                "max_bytes": self.sentences.max_bytes,
                "reserved": self.sentences.reserved,
                "with_counts": self.sentences.with_counts,
                "sample": None if self.sample is None else (float(self.sample), self.seed),
                "max_word_length": self.max_word_length,
                "memory": int(memory_budget(self.memory) * _SHARE_OF_MAPS),
                "folder": folder,
                "durable": durable,
            },
        )

    def warn_of_left_out(self, counter: WordCounter) -> None:
        """Warn with `TrainingWarning` of texts and words that were too long."""
        long_texts, long_words, _ = counter.left_out()
        if long_texts:
            were = "sentence was" if long_texts == 1 else "sentences were"
            message = f"{long_texts} {were} skipped: longer than {self.sentences.max_bytes} bytes"
            warn(message, TrainingWarning)
        if long_words:
            words = "word was" if long_words == 1 else "words were"
            message = f"{long_words} {words} skipped: longer than {self.max_word_length} characters"
            warn(message, TrainingWarning)


@dataclass(frozen=True)
class CorpusCount:
    """A count of files: what to read, how to count it, and where to keep its state.

    `groups` has the files of each path of `paths`; the groups have weights.
    """

    paths: PathLike | Sequence[PathLike]
    pipeline: Pipeline
    settings: CountSettings
    field: str | None = None
    encoding_errors: Utf8Errors = "replace"
    on_error: OnError = "fail"
    first_source: int = 0
    source_weights: Sequence[Weight] | None = None
    temperature: float | None = None
    checkpoint: PathLike | None = None
    checkpoint_seconds: float = 60.0
    keep_checkpoint: bool = False

    @classmethod
    def of(
        cls,
        paths: PathLike | Sequence[PathLike],
        pipeline: Pipeline,
        **options: Unpack[CountOptions],
    ) -> CorpusCount:
        """Resolve and check the arguments of `count_files`."""
        others: dict[str, Any] = {**options, "sentences": options.get("sentences") or Sentences()}
        own = {one.name for one in fields(CountSettings)} & others.keys()
        settings = CountSettings(**{name: others.pop(name) for name in own})
        return cls(paths, pipeline, settings, **others)

    def __post_init__(self) -> None:
        groups, weights = self.groups, self.source_weights
        if self.settings.sentences.size:
            self._check_unused()
        check_sources("first_source", self.first_source, sum(map(len, groups)))
        if weights is not None and self.temperature is not None:
            raise ArgumentError("source_weights", "= cannot be combined with temperature=")
        if weights is not None and len(weights) != len(groups):
            problem = f"must be one for each of {len(groups)} paths; there are {len(weights)}"
            raise ArgumentError("source_weights", problem)
        if self.temperature is not None:
            check_positive("temperature", self.temperature)
        check_number("checkpoint_seconds", self.checkpoint_seconds, (int, float), "a number")
        if self.checkpoint is not None and any("-" in files for files in groups):
            raise ArgumentError("checkpoint", "= needs files: stdin cannot be read again")
        _ = self.weights  # raises for invalid ones

    def _check_unused(self) -> None:
        """Raise for options that a limited number of sentences, which is drawn in memory, does not have."""
        for name in ("checkpoint", "source_weights", "temperature"):
            if getattr(self, name) is not None:
                raise ArgumentError(name, "= does not apply with a limited number of sentences")

    @cached_property
    def groups(self) -> list[list[str]]:
        """The files of each path as given."""
        paths = self.paths
        if isinstance(paths, Sequence) and not isinstance(paths, (str, bytes)) and paths:
            return [corpus_files([path]) for path in paths]
        return [corpus_files(paths)]

    @cached_property
    def weights(self) -> ExactWeights:
        """The weights of the groups that were given."""
        given = self.source_weights
        return EQUAL_WEIGHTS if given is None else weights_as_given(given)

    @property
    def files(self) -> list[str]:
        """All files, in order."""
        return [name for files in self.groups for name in files]

    def check_checkpoint(self) -> None:
        """Raise for a saved state that the count cannot continue from, as `run` does."""
        if (checkpoint := self._checkpoint()) is not None:
            checkpoint.saved_state()

    @contextmanager
    def run(self, progress: Progress) -> Iterator[tuple[OrderedWords, int]]:
        """Count; yield the words in order and the number of invalid sequences.

        Files of words are deleted at the end, but those of a checkpoint only if the body succeeds.
        """
        checkpoint = self._checkpoint()
        locked = nullcontext() if checkpoint is None else checkpoint.locked()
        with scratch_folder() as scratch, locked:
            folder = scratch if checkpoint is None else str(checkpoint.folder)
            counter = self.settings.counter(
                self.pipeline,
                folder,
                keep_line_ends=self.pipeline.is_byte_level,
                durable=checkpoint is not None,
            )
            with progress_bar("counting", progress, in_bytes=True) as update:
                self._count(counter, checkpoint, update)
            if checkpoint is not None and self.keep_checkpoint:
                checkpoint.save(counter)
            replacements = counter.replacements()
            warn_of_replacements(replacements)
            self.settings.warn_of_left_out(counter)
            numerators, denominator = self._weights(counter)
            yield counter.finish(numerators, denominator), replacements
            if checkpoint is not None and not self.keep_checkpoint:
                delete_count_checkpoint(checkpoint.folder)

    def _checkpoint(self) -> CountCheckpoint | None:
        if self.checkpoint is None:
            return None
        settings = {
            "pipeline": self.pipeline.to_json(),
            "field": self.field,
            "encoding_errors": self.encoding_errors,
            "on_error": self.on_error,
            "first_source": self.first_source,
            "groups": self._group_of_each_file() if self._has_weights else None,
            "sample": self.settings.sample,
            "seed": self.settings.seed,
            "max_word_length": self.settings.max_word_length,
            "sentences": repr(self.settings.sentences),
        }
        return CountCheckpoint(self.checkpoint, self.checkpoint_seconds, settings, self.files)

    def _count(
        self, counter: WordCounter, checkpoint: CountCheckpoint | None, update: Update
    ) -> None:
        """Count all files, from the saved state on."""
        done = FilePosition() if checkpoint is None else checkpoint.restore(counter)
        first_file = done.source - self.first_source if done.items else 0
        bytes_before = corpus_bytes(self.files[:first_file])
        total_bytes = corpus_bytes(self.files)
        groups = self._group_of_each_file()
        position = done
        try:
            for item in self._items_from(first_file, done):
                position = position.after(item)
                if checkpoint is not None:
                    checkpoint.begin(position)
                counter.start_group(groups[item.source - self.first_source])
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

    def _items_from(self, first_file: int, done: FilePosition) -> Iterator[TextBlock | Rows]:
        """Read the files from an index on; leave out what was counted of that file."""
        first_source = self.first_source + first_file
        options = ReadOptions.of(
            self.field,
            self.encoding_errors,
            self.on_error,
            tables_as_lines=self.settings.sentences.with_counts,
        )
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
            is_strict = self.encoding_errors == "strict"
            counter.add_block(item.data, item.source, item.byte_offset, is_strict, item.name)
        else:
            counter.add_texts(item.texts, item.source, item.replacements)

    def _group_of_each_file(self) -> list[int]:
        """Return the group of each file; without weights all files are in one group."""
        has_weights = self._has_weights
        return [group * has_weights for group, files in enumerate(self.groups) for _ in files]

    @property
    def _has_weights(self) -> bool:
        return bool(self.weights.numerators) or self.temperature is not None

    def _weights(self, counter: WordCounter) -> ExactWeights:
        if self.temperature is None:
            return self.weights
        totals = [0] * len(self.groups)
        for _, group, _, occurrences in counter.checkpoint()["runs"]:
            totals[group] += occurrences
        return weights_of_temperature(totals, self.temperature) if any(totals) else EQUAL_WEIGHTS


def check_sources(name: str, first: int, sources: int) -> None:
    """Raise unless the numbers of the sources fit into first positions."""
    last = whole_number(name, first, 0) + sources - 1
    if last >= _MAX_SOURCES:
        problem = f"={first} and {counted(sources, 'file')} need numbers below {_MAX_SOURCES}"
        raise ArgumentError(name, problem)


def warn_of_replacements(replacements: int) -> None:
    """Warn with `TrainingWarning` of invalid sequences."""
    if replacements:
        were = "sequence was" if replacements == 1 else "sequences were"
        message = f"{replacements} invalid UTF-8 {were} replaced by U+FFFD"
        warn(message, TrainingWarning)


class CountOptions(TypedDict, total=False):
    """The keyword arguments that `count_files_to` shares with `count_files`."""

    field: str | None
    encoding_errors: Utf8Errors
    on_error: OnError
    num_threads: int | None
    first_source: int
    sentences: Sentences | None
    memory: int | str | None
    sample: float | None
    seed: int
    max_word_length: int | None
    source_weights: Sequence[Weight] | None
    temperature: float | None
    checkpoint: PathLike | None
    checkpoint_seconds: float
    keep_checkpoint: bool


@contextmanager
def scratch_folder() -> Iterator[str]:
    """Yield the path of a folder for runs, which the counter creates on demand; delete it afterwards."""
    folder = Path(tempfile.gettempdir()) / f"piecework-count-{os.getpid()}-{os.urandom(6).hex()}"
    try:
        yield str(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
