"""The reader and the writer of `encode_corpus`, which writes shards and their manifest.

`ShardPlan` assigns documents to shards. Memory is bounded by a few blocks of lines. The batches of a shard do
not depend on the shards before it, so they are the same in a run that continues.
"""

from __future__ import annotations

import os
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from piecework._internal.validation import PathLike
from piecework.corpus.formats import FORMATS, check_documents, format_of, without_suffixes
from piecework.corpus.paths import corpus_files
from piecework.corpus.rows import ReadOptions, Texts, joined, sizes, sliced, without_blank
from piecework.errors import ArgumentError, CorpusError
from piecework.export.encoded_lines import RowLayout, Tally, TextsOfUnit, Write
from piecework.export.files import path_list
from piecework.export.formats import OutputFormat
from piecework.export.input_lines import LineSource
from piecework.export.manifest import Manifest, Shard, StoredFile
from piecework.io.read_file import file_checksum, file_identity
from piecework.tokenizer import Tokenizer

BATCH_BYTES = 2 << 20

_MAX_WAITING_SHARDS = 2
_TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.tmp")


class ShardPlan:
    """Assign documents to shards by the position of their first byte in all inputs.

    Positions count stored bytes, so shards of compressed files have equal shares of the compressed sizes.
    With `count` None, each input is a shard. The plan depends on sizes only: no file is read, and a run that
    continues assigns the same documents.
    """

    def __init__(self, sizes: Sequence[int], count: int | None) -> None:
        self.count = len(sizes) if count is None else count
        self._file_starts = [0, *accumulate(sizes)]
        total = self._file_starts[-1]
        by_input = self._file_starts[:-1]
        equal = [number * total // self.count for number in range(self.count)]
        self._shard_starts = np.array(by_input if count is None else equal, np.int64)
        self._is_by_input = count is None

    def shards_of_file(self, file: int) -> range:
        """Return the numbers of the shards that the documents of an input can belong to."""
        if self._is_by_input:
            return range(file, file + 1)
        start, end = self._file_starts[file], self._file_starts[file + 1]
        return range(self._at(start), self._at(max(start, end - 1)) + 1)

    def shards_of_positions(self, file: int, positions: np.ndarray[Any, Any]) -> Any:
        """Return the numbers of the shards of documents at some bytes of an input."""
        shards = self.shards_of_file(file)
        if len(shards) == 1:
            return np.full(len(positions), shards[0])
        found = np.searchsorted(self._shard_starts, self._file_starts[file] + positions, "right")
        return np.clip(found - 1, shards[0], shards[-1])

    def _at(self, position: int) -> int:
        return int(np.searchsorted(self._shard_starts, position, "right")) - 1


def shard_names(
    inputs: Sequence[str], count: int | None, files_of: Callable[[str], Sequence[str]]
) -> list[str]:
    """Return the name of each shard: the name of its input, or `shard-00002-of-00008`.

    >>> shard_names(["a/x.jsonl.gz", "a/y.txt"], None, lambda name: [name + ".npy"])
    ['x', 'y']
    >>> shard_names(["a/x.txt", "b/x.txt"], None, lambda name: [name + ".npy"])
    ['00000-x', '00001-x']

    The names of inputs get numbers if two shards would have a file of the same name.
    """
    if count is not None:
        return [f"shard-{number:05}-of-{count:05}" for number in range(count)]
    names = [without_suffixes(path) for path in inputs]
    uses = Counter(file.lower() for name in names for file in files_of(name))
    if max(uses.values()) > 1:
        return [f"{number:05}-{name}" for number, name in enumerate(names)]
    return names


class ShardReader:
    """Read the inputs that unfinished shards need, and compute their checksums meanwhile."""

    is_idle = False  # inputs are files

    def __init__(
        self,
        manifest: Manifest,
        plan: ShardPlan,
        open_source: Callable[[str], LineSource],
        *,
        keep_empty: bool,
    ) -> None:
        self.bytes_read = 0
        self.current_name = ""
        self.total_bytes = sum(entry["size"] for entry in manifest.inputs)
        self._inputs = manifest.inputs
        self._plan = plan
        self._wanted = frozenset(manifest.missing)
        self._open_source = open_source
        self._keep_empty = keep_empty
        self._executor = ThreadPoolExecutor(1)
        self._opened: dict[int, tuple[dict[str, Any], Future[str] | None]] = {}

    def close(self) -> None:
        """Stop the thread that computes checksums."""
        self._executor.shutdown(cancel_futures=True)

    def texts(self) -> Iterator[TextsOfUnit]:
        """Yield the documents of unfinished shards, in order, in batches of about 2 MB."""
        pending: list[TextsOfUnit] = []
        size = 0
        for documents in self._documents():
            if pending and (documents.unit != pending[0].unit or size >= BATCH_BYTES):
                yield _joined(pending)
                pending, size = [], 0
            pending.append(documents)
            size += int(sizes(documents.columns[0]).sum())
        if pending:
            yield _joined(pending)

    def finish_inputs(self, shard: int) -> None:
        """Add the checksums of the inputs that end in a shard or before it.

        Raises `CorpusError` if one of them changed while it was read.
        """
        ended = [file for file in self._opened if self._plan.shards_of_file(file)[-1] <= shard]
        for file in ended:
            identity, checksum = self._opened.pop(file)
            entry = self._inputs[file]
            if checksum is not None:
                entry["xxh128"] = checksum.result()
            if file_identity(entry["name"]) != identity:
                problem = "changed while it was read; inputs must stay the same during a run"
                raise CorpusError(entry["name"], problem)

    def _documents(self) -> Iterator[TextsOfUnit]:
        for file, entry in enumerate(self._inputs):
            bytes_before = self.bytes_read
            if not self._wanted.isdisjoint(self._plan.shards_of_file(file)):
                name, is_known = entry["name"], "xxh128" in entry
                checksum = None if is_known else self._executor.submit(file_checksum, name)
                self._opened[file] = file_identity(name), checksum
                yield from self._documents_of_file(file, name)
            self.bytes_read = bytes_before + entry["size"]

    def _documents_of_file(self, file: int, name: str) -> Iterator[TextsOfUnit]:
        source = self._open_source(name)
        self.current_name = name
        last_wanted = max(self._wanted.intersection(self._plan.shards_of_file(file)))
        file_start = self.bytes_read
        bytes_before = replacements_before = 0
        with closing(source.blocks()) as blocks:  # type: ignore[type-var]
            for texts in blocks:
                runs = self._runs(file, texts, bytes_before, source.bytes_read)
                replacements = source.replacements - replacements_before
                for shard, part in runs:
                    if shard in self._wanted:
                        yield self._without_empty(shard, part, replacements)
                    replacements = 0  # a block's count for the shard of its first document
                if runs[-1][0] > last_wanted:
                    break
                bytes_before, replacements_before = source.bytes_read, source.replacements
                self.bytes_read = file_start + bytes_before

    def _runs(self, file: int, texts: Texts, start: int, end: int) -> list[tuple[int, Texts]]:
        """Return the texts of a block by shard; the texts share its bytes by their lengths."""
        shards = self._plan.shards_of_positions(file, np.array([start, end]))
        if shards[0] == shards[1]:
            return [(int(shards[0]), texts)]
        line_sizes = sizes(texts) + 1
        ends = np.cumsum(line_sizes)
        positions = start + (ends - line_sizes) * (end - start) // ends[-1]
        shards = self._plan.shards_of_positions(file, positions)
        starts = [0, *(np.flatnonzero(np.diff(shards)) + 1).tolist(), len(texts)]
        return [(int(shards[start]), sliced(texts, start, end)) for start, end in pairwise(starts)]

    def _without_empty(self, shard: int, texts: Texts, replacements: int) -> TextsOfUnit:
        kept = texts if self._keep_empty else without_blank(texts)
        return TextsOfUnit(shard, [kept], len(texts) - len(kept), replacements)


def _joined(parts: Sequence[TextsOfUnit]) -> TextsOfUnit:
    return TextsOfUnit(
        parts[0].unit,
        [joined([part.columns[0] for part in parts])],
        sum(part.dropped for part in parts),
        sum(part.replacements for part in parts),
    )


@dataclass(eq=False)
class ShardWriter:
    """Write the shards that the manifest lacks, one after the other, and record them.

    A thread makes sure that the files of written shards are on the disk. A few shards wait at most, so a disk
    that is slower than the encoder slows the encoder down. After an error or an interruption, the written
    shards are recorded too.
    """

    manifest: Manifest
    form: OutputFormat
    layout: RowLayout
    tokenizer: Tokenizer
    reader: ShardReader

    def __post_init__(self) -> None:
        self.units = self.manifest.missing
        self.targets = [str(self.manifest.folder)]  # what an error of the system is about
        self._executor = ThreadPoolExecutor(1)
        self._waiting: deque[tuple[int, Future[Shard]]] = deque()

    @contextmanager
    def open(self, unit: int) -> Iterator[list[Write]]:
        """Yield the function that writes to a shard."""
        path = self.manifest.folder / f"{self.manifest.names[unit]}{self.form.suffix}"
        with self.form.open(str(path), self.tokenizer, self.layout) as write:
            yield [write]

    def finished(self, unit: int, tally: Tally) -> None:
        """Record a shard whose files are written; wait if too many shards are not on the disk."""
        self.reader.finish_inputs(unit)
        self._waiting.append((unit, self._executor.submit(self._stored, unit, tally)))
        while len(self._waiting) > _MAX_WAITING_SHARDS or self._first_is_done():
            self._record_first()

    def __enter__(self) -> ShardWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                while self._waiting:
                    self._record_first()
                if self.form.finish is not None:
                    names = self.manifest.names
                    files = [shard_files(name, self.form, self.layout) for name in names]
                    self.form.finish(self.manifest.folder, [*chain.from_iterable(files)])
        finally:
            self.reader.close()
            self._executor.shutdown()
            for number, shard in self._waiting:
                if shard.exception() is None:
                    self.manifest.record(number, shard.result())
            self.manifest.save()

    def _stored(self, unit: int, tally: Tally) -> Shard:
        manifest = self.manifest
        name = manifest.names[unit]
        files = shard_files(name, self.form, self.layout)
        stored = tuple(StoredFile.of(manifest.folder, file) for file in files)
        return Shard(name, stored, **{**vars(tally), "tokens": sum(tally.tokens)})

    def _first_is_done(self) -> bool:
        return bool(self._waiting) and self._waiting[0][1].done()

    def _record_first(self) -> None:
        number, shard = self._waiting.popleft()
        self.manifest.record(number, shard.result())


# ---- files


def shard_files(name: str, form: OutputFormat, layout: RowLayout) -> tuple[str, ...]:
    """Return the names of the files of a shard."""
    return form.files(f"{name}{form.suffix}", layout)


def checked_sources(
    sources: PathLike | Sequence[PathLike], folder: Path, keep: Sequence[str], options: ReadOptions
) -> list[str]:
    """Return the files to read; raise for stdin, for files without the fields `keep`, and for the folder."""
    given = path_list(sources, "sources")
    target = Path(os.path.realpath(folder))
    for path in given:
        if path == "-":
            problem = "must be files, not '-': an encoding that resumes reads them again"
            raise ArgumentError("sources", problem)
        inside = os.path.isdir(path) and target.is_relative_to(os.path.realpath(path))
        if inside:
            raise ArgumentError("out_dir", f"must not be inside of the source {path}")
    files = corpus_files(given)
    check_documents(files, options)
    for name in files if keep else ():
        if not format_of(name, options).has_fields:
            with_fields = ", ".join(format.name for format in FORMATS if format.has_fields)
            problem = f"needs {with_fields.replace(', ', ' or ')}: {name} has no fields"
            raise ArgumentError("keep", problem)
    return files


def delete_temporary_files(folder: Path) -> None:
    """Delete what processes that were killed left; the lock keeps others from writing here."""
    for path in folder.iterdir():
        if _TEMPORARY.fullmatch(path.name):
            with suppress(OSError):
                path.unlink()
