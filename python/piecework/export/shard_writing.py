"""Write shards one after the other: encode their documents, rearrange the rows, write the files, record them.

While one shard is written, background threads encode the next documents, and another makes sure that the
files of the last shards are on the disk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from piecework._internal.types import Update
from piecework.corpus.line_blocks import SHORT_LINE_BYTES
from piecework.corpus.texts import longest
from piecework.errors import CorpusError
from piecework.export.encoded_files import BATCHES_IN_FLIGHT
from piecework.export.encoded_lines import EncodedLines, RowLayout, Write
from piecework.export.manifest import Manifest, Shard, StoredFile
from piecework.export.packing import Packer, new_packer
from piecework.export.prefetch import overlapped
from piecework.export.row_order import Shuffle
from piecework.export.shard_documents import Documents, ShardReader
from piecework.export.shard_formats import ShardFormat
from piecework.tokenizer import Tokenizer

_MAX_WAITING_SHARDS = 2

_Stage: TypeAlias = Shuffle | Packer
"""Rearranges the rows of a shard."""


class ShardJob(NamedTuple):
    """How to encode, rearrange and write the documents of any shard."""

    tokenizer: Tokenizer
    form: ShardFormat
    layout: RowLayout
    encode: Callable[[Documents], EncodedLines]
    num_threads: int
    settings: dict[str, Any]
    padding_id: int

    def files_of(self, name: str) -> tuple[str, ...]:
        """Return the names of the files of a shard."""
        return self.form.files(f"{name}{self.form.suffix}", self.layout)

    def stages(self, shard: int) -> list[_Stage]:
        """Return the stages that rearrange the rows of a shard."""
        stages: list[_Stage] = []
        if self.settings["shuffle_seed"] is not None:
            stages.append(Shuffle(self.settings["shuffle_seed"], shard))
        if self.layout.packed_length is not None:
            strategy = self.settings["strategy"]
            stages.append(new_packer(strategy, self.layout.packed_length, self.padding_id))
        return stages


def write_shards(
    job: ShardJob,
    reader: ShardReader,
    manifest: Manifest,
    names: Sequence[str],
    wanted: Sequence[int],
    update: Update,
    fault: Callable[[CorpusError], None],
) -> None:
    """Write the shards with the numbers `wanted`, in order, and record them in the manifest.

    `fault` takes the errors of documents that were left out.
    """
    folder = manifest.path.parent

    def encode(documents: Documents) -> tuple[Documents, EncodedLines]:
        return documents, job.encode(documents)

    # While one thread encodes a long document, the others encode the next batch.
    workers = min(job.num_threads, BATCHES_IN_FLIGHT)
    with ExitStack() as stack:
        finished = stack.enter_context(_FinishedShards(manifest))
        encoded = overlapped(
            encode, reader.batches(), BATCHES_IN_FLIGHT, workers=workers, is_large=_is_large
        )
        batches = iter(stack.enter_context(closing(encoded)))
        batch = next(batches, None)
        for number in wanted:
            tally = _Tally()
            path = str(folder / f"{names[number]}{job.form.suffix}")
            with job.form.open(path, job.tokenizer, job.layout) as write:
                rearrange = _Rearranged(job.stages(number), write)
                while batch is not None and batch[0].shard == number:
                    for error in batch[1].faults:
                        fault(error)
                    rearrange.add(batch[1])
                    tally.add_documents(*batch)
                    update(reader.bytes_read, reader.total_bytes)
                    batch = next(batches, None)
                rearrange.finish()
            tally.rows = rearrange.rows
            reader.finish_inputs(number)
            finished.add(number, names[number], job.files_of(names[number]), tally)
        finished.wait()
    if job.form.finish is not None:
        job.form.finish(folder, [file for name in names for file in job.files_of(name)])


def _is_large(documents: Documents) -> bool:
    return longest(documents.texts) > SHORT_LINE_BYTES


class _Tally:
    """Counts of one shard."""

    def __init__(self) -> None:
        self.documents = self.rows = self.tokens = 0
        self.empty_lines_dropped = self.replacements = self.special_in_text = 0

    def add_documents(self, documents: Documents, lines: EncodedLines) -> None:
        self.documents += len(lines.batch)
        self.tokens += len(lines.batch.ids)
        self.empty_lines_dropped += documents.empty_lines_dropped
        self.replacements += documents.replacements
        self.special_in_text += lines.special_in_text


class _Rearranged:
    """Passes rows through stages to a writer, and counts the rows that are written."""

    def __init__(self, stages: Sequence[_Stage], write: Write) -> None:
        self.rows = 0
        self._stages = stages
        self._write = write

    def add(self, lines: EncodedLines) -> None:
        self._pass_on([lines], self._stages)

    def finish(self) -> None:
        for index, stage in enumerate(self._stages):
            self._pass_on(stage.finish(), self._stages[index + 1 :])

    def _pass_on(self, batches: Iterator[EncodedLines] | list[EncodedLines], stages: Any) -> None:
        for stage in stages:
            batches = chain.from_iterable(map(stage.add, batches))
        for lines in batches:
            self.rows += len(lines.batch)
            self._write(lines)


class _FinishedShards:
    """Makes sure that the files of written shards are on the disk, in a thread, and records the shards.

    A few shards wait at most, so a disk that is slower than the encoder slows the encoder down. After an
    error or an interruption, the written shards are recorded too.
    """

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._executor = ThreadPoolExecutor(1)
        self._waiting: deque[tuple[int, Future[Shard]]] = deque()

    def __enter__(self) -> _FinishedShards:
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown()
        for number, shard in self._waiting:
            if shard.exception() is None:
                self._manifest.record(number, shard.result())

    def add(self, number: int, name: str, files: Sequence[str], tally: _Tally) -> None:
        """Take a shard whose files are written; wait if too many shards are not on the disk."""
        folder = self._manifest.path.parent

        def stored() -> Shard:
            return Shard(name, tuple(StoredFile.of(folder, file) for file in files), **vars(tally))

        self._waiting.append((number, self._executor.submit(stored)))
        while len(self._waiting) > _MAX_WAITING_SHARDS or self._first_is_done():
            self._record_first()

    def wait(self) -> None:
        """Record all shards. Raises `FileError` if a file cannot be read or synchronized."""
        while self._waiting:
            self._record_first()

    def _first_is_done(self) -> bool:
        return bool(self._waiting) and self._waiting[0][1].done()

    def _record_first(self) -> None:
        number, shard = self._waiting.popleft()
        self._manifest.record(number, shard.result())
