"""Read the documents of a corpus in order, in batches that each belong to one shard.

Memory is bounded by a few blocks of lines. The batches of a shard do not depend on the shards before it, so
they are the same in a run that continues.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from piecework.errors import CorpusError
from piecework.export.encoded_files import is_blank
from piecework.export.input_lines import LineSource
from piecework.export.shard_plan import ShardPlan
from piecework.io.file_identity import file_checksum, file_identity

BATCH_CHARS = 2 << 20


class Documents(NamedTuple):
    """Consecutive documents of one shard, without the empty ones, and what was left out or replaced."""

    shard: int
    texts: list[str]
    empty_lines_dropped: int
    replacements: int


class ShardReader:
    """Reads the inputs that unfinished shards need, and computes their checksums meanwhile."""

    def __init__(
        self,
        inputs: Sequence[dict[str, Any]],
        plan: ShardPlan,
        wanted: Collection[int],
        open_source: Callable[[str], LineSource],
        *,
        keep_empty: bool,
    ) -> None:
        self.bytes_read = 0
        self.total_bytes = sum(entry["size"] for entry in inputs)
        self._inputs = inputs
        self._plan = plan
        self._wanted = frozenset(wanted)
        self._open_source = open_source
        self._keep_empty = keep_empty
        self._executor = ThreadPoolExecutor(1)
        self._opened: dict[int, tuple[dict[str, Any], Future[str] | None]] = {}

    def close(self) -> None:
        """Stop the thread that computes checksums."""
        self._executor.shutdown(cancel_futures=True)

    def batches(self) -> Iterator[Documents]:
        """Yield the documents of unfinished shards, in order, in batches of about two million characters."""
        pending: list[Documents] = []
        chars = 0
        for documents in self._documents():
            if pending and (documents.shard != pending[0].shard or chars >= BATCH_CHARS):
                yield _joined(pending)
                pending, chars = [], 0
            pending.append(documents)
            chars += sum(map(len, documents.texts))
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
                entry["blake2b"] = checksum.result()
            if file_identity(entry["name"]) != identity:
                expected = "a file that does not change during the run"
                raise CorpusError(entry["name"], "a file that changed while it was read", expected)

    def _documents(self) -> Iterator[Documents]:
        for file, entry in enumerate(self._inputs):
            bytes_before = self.bytes_read
            if not self._wanted.isdisjoint(self._plan.shards_of_file(file)):
                name, is_known = entry["name"], "blake2b" in entry
                checksum = None if is_known else self._executor.submit(file_checksum, name)
                self._opened[file] = file_identity(name), checksum
                yield from self._documents_of_file(file, name)
            self.bytes_read = bytes_before + entry["size"]

    def _documents_of_file(self, file: int, name: str) -> Iterator[Documents]:
        source = self._open_source(name)
        last_wanted = max(self._wanted.intersection(self._plan.shards_of_file(file)))
        file_start = self.bytes_read
        bytes_before = replacements_before = 0
        with closing(source.blocks()) as blocks:  # type: ignore[type-var]
            for texts in blocks:
                shards = self._shards_of_texts(file, texts, bytes_before, source.bytes_read)
                yield from self._parts(shards, texts, source.replacements - replacements_before)
                if shards[-1] > last_wanted:
                    break
                bytes_before, replacements_before = source.bytes_read, source.replacements
                self.bytes_read = file_start + bytes_before

    def _parts(
        self, shards: np.ndarray[Any, Any], texts: list[str], replacements: int
    ) -> Iterator[Documents]:
        """Yield the part of a block for each unfinished shard; its first shard counts replacements."""
        for shard, start, end in _runs(shards):
            if shard in self._wanted:
                yield self._without_empty(shard, texts[start:end], 0 if start else replacements)

    def _shards_of_texts(
        self, file: int, texts: Sequence[str], start: int, end: int
    ) -> np.ndarray[Any, Any]:
        """Return the shard of each text of a block, whose texts share its bytes by their lengths."""
        shards = self._plan.shards_of_file(file)
        if len(shards) == 1:
            return np.full(len(texts), shards[0])
        ends = np.cumsum([len(text) + 1 for text in texts])
        starts = np.concatenate([[0], ends[:-1]])
        found = self._plan.shards_of_positions(file, start + starts * (end - start) // ends[-1])
        within: np.ndarray[Any, Any] = np.clip(found, shards[0], shards[-1])
        return within

    def _without_empty(self, shard: int, texts: list[str], replacements: int) -> Documents:
        if self._keep_empty:
            return Documents(shard, texts, 0, replacements)
        keep = [not is_blank(text) for text in texts]
        kept = texts if all(keep) else list(compress(texts, keep))
        return Documents(shard, kept, len(texts) - len(kept), replacements)


def _runs(shards: np.ndarray[Any, Any]) -> Iterator[tuple[int, int, int]]:
    """Yield each shard of a sorted array with the start and the end of its run."""
    starts = [0, *(np.flatnonzero(np.diff(shards)) + 1).tolist()]
    for start, end in zip(starts, [*starts[1:], len(shards)], strict=True):
        yield int(shards[start]), start, end


def _joined(parts: Sequence[Documents]) -> Documents:
    return Documents(
        parts[0].shard,
        [text for part in parts for text in part.texts],
        sum(part.empty_lines_dropped for part in parts),
        sum(part.replacements for part in parts),
    )
