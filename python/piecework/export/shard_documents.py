"""Read the documents of a corpus in order, in batches that each belong to one shard.

Memory is bounded by a few blocks of lines. The batches of a shard do not depend on the shards before it, so
they are the same in a run that continues.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from piecework.corpus.texts import Texts, joined, sizes, sliced, without_blank
from piecework.errors import CorpusError
from piecework.export.input_lines import LineSource
from piecework.export.shard_plan import ShardPlan
from piecework.io.file_identity import file_checksum, file_identity

BATCH_BYTES = 2 << 20


class Documents(NamedTuple):
    """Consecutive documents of one shard, without the empty ones, and what was left out or replaced."""

    shard: int
    texts: Texts
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
        """Yield the documents of unfinished shards, in order, in batches of about 2 MB."""
        pending: list[Documents] = []
        size = 0
        for documents in self._documents():
            if pending and (documents.shard != pending[0].shard or size >= BATCH_BYTES):
                yield _joined(pending)
                pending, size = [], 0
            pending.append(documents)
            size += int(sizes(documents.texts).sum())
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

    def _documents(self) -> Iterator[Documents]:
        for file, entry in enumerate(self._inputs):
            bytes_before = self.bytes_read
            if not self._wanted.isdisjoint(self._plan.shards_of_file(file)):
                name, is_known = entry["name"], "xxh128" in entry
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
                runs = self._runs(file, texts, bytes_before, source.bytes_read)
                replacements = source.replacements - replacements_before
                for shard, part in runs:
                    if shard in self._wanted:
                        yield self._without_empty(shard, part, replacements)
                    replacements = 0  # those of a block count for the shard of its first document
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

    def _without_empty(self, shard: int, texts: Texts, replacements: int) -> Documents:
        if self._keep_empty:
            return Documents(shard, texts, 0, replacements)
        kept = without_blank(texts)
        return Documents(shard, kept, len(texts) - len(kept), replacements)


def _joined(parts: Sequence[Documents]) -> Documents:
    return Documents(
        parts[0].shard,
        joined([part.texts for part in parts]),
        sum(part.empty_lines_dropped for part in parts),
        sum(part.replacements for part in parts),
    )
