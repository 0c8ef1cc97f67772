"""Rearrange the rows of a shard: shuffle documents, and pack them into rows of a fixed length."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from itertools import chain
from random import Random
from typing import Any, Protocol, TypeAlias

import numpy as np

from piecework.export.encoded_lines import DocumentLengths, EncodedLines, Write, with_rows
from piecework.export.settings import CorpusSettings
from piecework.tokenizer.batch import Batch

Array: TypeAlias = "np.ndarray[Any, Any]"

SHUFFLED_TOKENS = 16 << 20
PACKED_TOKENS = 4 << 20
"""Windows of this number of tokens are shuffled, and packed by `BestFit`."""

_TOKENS_AT_ONCE = 1 << 20


class Stage(Protocol):
    """Collect documents and yield rows in another arrangement."""

    def add(self, lines: EncodedLines) -> Iterator[EncodedLines]:
        """Add documents; yields the rows that are complete."""

    def finish(self) -> Iterator[EncodedLines]:
        """Yield the rows that remain."""


def new_stages(settings: CorpusSettings, shard: int, padding_id: int) -> list[Stage]:
    """Return the stages that rearrange the rows of a shard."""
    stages: list[Stage] = []
    if settings.shuffle_seed is not None:
        stages.append(Shuffle(settings.shuffle_seed, shard))
    if settings.pack is not None:
        packer = Concatenation if settings.strategy == "concat" else BestFit
        stages.append(packer(settings.pack, padding_id))
    return stages


class Arranged:
    """Pass rows through stages to a writer, and count the rows that are written."""

    def __init__(self, stages: Sequence[Stage], write: Write) -> None:
        self.rows = 0
        self._stages = stages
        self._write = write

    def add(self, lines: EncodedLines) -> None:
        """Add encoded lines."""
        self._pass_on([lines], self._stages)

    def finish(self) -> None:
        """Write what the stages still have."""
        for index, stage in enumerate(self._stages):
            self._pass_on(stage.finish(), self._stages[index + 1 :])

    def _pass_on(
        self, batches: Iterator[EncodedLines] | list[EncodedLines], stages: Sequence[Stage]
    ) -> None:
        for stage in stages:
            batches = chain.from_iterable(map(stage.add, batches))
        for lines in batches:
            self.rows += len(lines.batch)
            self._write(lines)


# ---- shuffling


class Shuffle:
    """Collect documents until a window has 16 million tokens, and return them in random order.

    The order depends on the seed, the number of the shard and the documents only, in every version of Python
    and numpy.
    """

    def __init__(self, seed: int, shard: int) -> None:
        # Python promises the same `random()` for a seed in all versions, but not the same `shuffle()`.
        self._draw = Random(f"{seed} {shard}").random
        self._window: list[EncodedLines] = []
        self._tokens = 0

    def add(self, lines: EncodedLines) -> Iterator[EncodedLines]:
        """Add documents; yields a full window in random order."""
        tokens = len(lines.batch.ids)
        if self._window and self._tokens + tokens > SHUFFLED_TOKENS:
            yield from self.finish()
        self._window.append(lines)
        self._tokens += tokens

    def finish(self) -> Iterator[EncodedLines]:
        """Yield the last window in random order."""
        window, self._window, self._tokens = self._window, [], 0
        if window:
            lines = _concatenated(window)
            window.clear()
            keys = [self._draw() for _ in range(len(lines.batch))]
            yield from _reordered(lines, np.argsort(keys, kind="stable"))


def _concatenated(window: Sequence[EncodedLines]) -> EncodedLines:
    if len(window) == 1:
        return window[0]
    ids = np.concatenate([lines.batch.ids for lines in window])
    lengths = np.concatenate([np.diff(lines.batch.row_offsets) for lines in window])
    kept = {
        name: list(chain.from_iterable(lines.kept[name] for lines in window))
        for name in window[0].kept
    }
    return EncodedLines(with_rows(window[0].batch, ids, row_offsets_of(lengths)), kept=kept)


def _reordered(lines: EncodedLines, order: np.ndarray[Any, Any]) -> Iterator[EncodedLines]:
    """Yield the rows in another order, in batches of about a million tokens."""
    starts = lines.batch.row_offsets[:-1][order]
    lengths = np.diff(lines.batch.row_offsets)[order]
    batch_of_row = np.cumsum(lengths) // _TOKENS_AT_ONCE
    for rows in np.split(np.arange(len(order)), np.flatnonzero(np.diff(batch_of_row)) + 1):
        ids, offsets = gather(lines.batch.ids, starts[rows], lengths[rows])
        numbers = order[rows].tolist()
        kept = {name: [texts[row] for row in numbers] for name, texts in lines.kept.items()}
        yield EncodedLines(with_rows(lines.batch, ids, offsets), kept=kept)


# ---- packing


class Concatenation:
    """Cut the documents, one after the other, into rows of `length` ids; pad only the last row."""

    def __init__(self, length: int, padding_id: int) -> None:
        self._length = length
        self._padding_id = padding_id
        self._ids: Array = np.empty(0, np.uint32)
        self._ends: Array = np.empty(0, np.int64)
        self._batch: Batch | None = None

    def add(self, lines: EncodedLines) -> Iterator[EncodedLines]:
        """Add documents; yields the rows that are full."""
        self._batch = lines.batch
        ends = np.concatenate([self._ends, lines.batch.row_offsets[1:] + len(self._ids)])
        ids = np.concatenate([self._ids, lines.batch.ids])
        full = len(ids) // self._length * self._length
        self._ids, self._ends = ids[full:].copy(), ends[ends > full] - full
        if full:
            row_ends = np.arange(self._length, full + 1, self._length)
            yield self._rows(ids[:full], np.union1d(ends[ends <= full], row_ends))

    def finish(self) -> Iterator[EncodedLines]:
        """Yield the last row, padded."""
        if self._batch is not None and len(self._ids):
            padded = np.full(self._length, self._padding_id, np.uint32)
            padded[: len(self._ids)] = self._ids
            yield self._rows(padded, np.unique(self._ends))
            self._ids, self._ends = self._ids[:0], self._ends[:0]

    def _rows(self, ids: Array, ends: Array) -> EncodedLines:
        """Return rows; `ends` has where a document or its part in a row ends."""
        assert self._batch is not None
        ends = ends[ends > 0]
        row_offsets = np.arange(0, len(ids) + 1, self._length)
        lengths = np.diff(ends, prepend=0)
        documents = DocumentLengths(lengths, np.searchsorted(ends, row_offsets, "right"))
        return EncodedLines(with_rows(self._batch, ids, row_offsets), documents=documents)


class BestFit:
    """Put each document into the fullest row that has room for it; cut only documents over `length`.

    Works on windows of four million tokens, longest documents first. A document over `length` is cut into
    rows of its own and a rest. Source: Ding et al., "Fewer Truncations Improve Language Modeling" (2024).
    """

    def __init__(self, length: int, padding_id: int) -> None:
        self._length = length
        self._padding_id = padding_id
        self._window: list[EncodedLines] = []
        self._tokens = 0

    def add(self, lines: EncodedLines) -> Iterator[EncodedLines]:
        """Add documents; yields the rows of a full window."""
        self._window.append(lines)
        self._tokens += len(lines.batch.ids)
        if self._tokens >= max(PACKED_TOKENS, self._length):
            yield from self.finish()

    def finish(self) -> Iterator[EncodedLines]:
        """Yield the rows of the window."""
        window, self._window, self._tokens = self._window, [], 0
        if not any(len(lines.batch.ids) for lines in window):
            return
        batch = _concatenated(window).batch
        starts, lengths = _pieces(np.diff(batch.row_offsets), self._length)
        rows = _best_fit_rows(lengths, self._length)
        by_row = np.lexsort((starts, rows))
        starts, lengths, rows = starts[by_row], lengths[by_row], rows[by_row]
        documents = DocumentLengths(
            lengths, np.searchsorted(rows, np.arange(int(rows[-1]) + 2), "left")
        )
        packed = self._padded(batch.ids, starts, documents)
        row_offsets = np.arange(0, len(packed) + 1, self._length)
        yield EncodedLines(with_rows(batch, packed, row_offsets), documents=documents)

    def _padded(self, ids: Array, starts: Array, documents: DocumentLengths) -> Array:
        """Return the pieces, row after row, with padding at the end of each row."""
        lengths, row_offsets = documents
        rows = len(row_offsets) - 1
        packed = np.full(rows * self._length, self._padding_id, np.uint32)
        values, offsets = gather(ids, starts, lengths)
        tokens_in_rows = np.diff(offsets[row_offsets])
        is_token = np.arange(self._length) < tokens_in_rows[:, None]
        packed[is_token.reshape(-1)] = values
        return packed


def _pieces(lengths: Array, limit: int) -> tuple[Array, Array]:
    """Return the start and the length of each piece of at most `limit` ids."""
    counts = -(-lengths // limit)
    numbers = np.arange(int(counts.sum())) - np.repeat(row_offsets_of(counts)[:-1], counts)
    within = numbers * limit
    starts = np.repeat(row_offsets_of(lengths)[:-1], counts) + within
    return starts, np.minimum(np.repeat(lengths, counts) - within, limit)


def _best_fit_rows(lengths: Array, limit: int) -> Array:
    """Return the number of the row of each piece: the row with the least room that is enough."""
    row_of_piece = np.empty(len(lengths), np.int64)
    rows_with_room: dict[int, list[int]] = {}
    rooms: list[int] = []  # the keys of `rows_with_room`, sorted
    rows = 0
    order = np.argsort(-lengths, kind="stable")
    for piece, length in zip(order.tolist(), lengths[order].tolist(), strict=True):
        at = bisect_left(rooms, length)
        if at < len(rooms):
            room = rooms[at]
            row = rows_with_room[room].pop()
            if not rows_with_room[room]:
                del rows_with_room[room], rooms[at]
        else:
            row, room, rows = rows, limit, rows + 1
        row_of_piece[piece] = row
        room -= length
        if room:
            if room not in rows_with_room:
                rows_with_room[room] = []
                insort(rooms, room)
            rows_with_room[room].append(row)
    return row_of_piece


# ---- spans of arrays


def gather(
    values: np.ndarray[Any, Any], starts: np.ndarray[Any, Any], lengths: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Concatenate spans of an array; also return the offset of each in the result.

    >>> values, offsets = gather(np.arange(10), np.array([7, 2]), np.array([2, 3]))
    >>> values.tolist(), offsets.tolist()
    ([7, 8, 2, 3, 4], [0, 2, 5])
    """
    offsets = row_offsets_of(lengths)
    index = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
    return values[index], offsets


def row_offsets_of(lengths: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the offsets of rows of some lengths, and the number of values."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
