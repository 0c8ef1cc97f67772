"""Word counts as Arrow tables: count a batch of texts, merge tables, convert them to `Counts`.

A table has the columns `word` (null in one row), `count` (uint64) and `first` (uint64, null if unknown). The
row without a word counts the invalid UTF-8 sequences that became U+FFFD, so that a sum of tables has their
sum. `first` is (source << 40) + byte offset in that source, as in `Counts`. Offsets in tables count from the
beginning of the whole source, so that the first position of a sum is the smallest one, also for parts of one
source.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

import piecework as pw
from piecework._internal.extras import import_extra
from piecework.errors import ArgumentError, InputTypeError, TrainingError

_TEXT_TYPES = ("string", "large_string", "string_view", "null")


def counts_table(counts: pw.Counts) -> Any:
    """Return counts as a `pyarrow.Table`.

    >>> import piecework as pw
    >>> counts_table(pw.count_texts(["hug pug"])).to_pydict()
    {'word': ['hug', 'pug'], 'count': [1, 1], 'first': [0, 4]}
    """
    if counts.has_boundaries:
        raise ArgumentError("counts", "have boundaries; add them to the sum of all tables")
    pa = _pyarrow()
    first = counts.first
    columns = [
        pa.array(counts.words, pa.large_string()),
        pa.array(counts.counts, pa.uint64()),
        pa.nulls(len(counts), pa.uint64()) if first is None else pa.array(first, pa.uint64()),
    ]
    table = pa.table(columns, schema=_schema())
    if not counts.replacements:
        return table
    invalid = pa.table([[None], [counts.replacements], [None]], schema=_schema())
    return pa.concat_tables([table, invalid])


def counts_of_table(table: Any, pipeline: pw.train.Pipeline | None = None) -> pw.Counts:
    """Return the `Counts` of a table; raises `TrainingError` for a count of 2**64 or more.

    >>> import piecework as pw
    >>> counts = pw.count_texts(["hug pug"])
    >>> counts_of_table(counts_table(counts), counts.pipeline) == counts
    True

    The counts have first positions if every word of the table has one.
    """
    pc = _compute()
    invalid = table.filter(pc.is_null(table.column("word")))
    words = table.filter(pc.is_valid(table.column("word")))
    first = words.column("first")
    counts = pw.Counts._of_columns(
        words.column("word").to_pylist(),
        _numbers(words.column("count")),
        None if first.null_count else _numbers(first),
        pipeline,
    )
    counts.replacements = sum(invalid.column("count").to_pylist())
    return counts


def merge_counts(tables: Iterable[Any]) -> Any:
    """Return the sum of tables; associative and commutative up to the order of the rows.

    >>> import piecework as pw
    >>> table = counts_table(pw.count_texts(["hug"]))
    >>> merge_counts([table, table]).to_pydict()
    {'word': ['hug'], 'count': [2], 'first': [0]}

    A word has a first position if it has one in every table that contains it. Raises `TrainingError` for a
    sum of 2**64 or more.
    """
    pa, pc = _pyarrow(), _compute()
    parts = [table.cast(_schema()) for table in tables]
    if not parts:
        return _schema().empty_table()
    rows = pa.concat_tables(parts)
    counts = rows.column("count")
    if _numbers(counts).sum(dtype=np.float64) >= 1 << 63:  # Arrow's sums of integers wrap around
        rows = rows.set_column(1, "count", counts.cast(pa.decimal128(20, 0)))
    options = pc.ScalarAggregateOptions(skip_nulls=False)
    merged = rows.group_by("word").aggregate([("count", "sum"), ("first", "min", options)])
    merged = merged.select(["word", "count_sum", "first_min"]).rename_columns(_schema().names)
    try:
        return merged.cast(_schema())
    except pa.ArrowInvalid as error:
        raise TrainingError("counts", "must have sums below 2**64") from error


def count_batch(
    batch: Any,
    column: str,
    *,
    preset: str | pw.train.Preset | pw.train.Pipeline,
    position_column: str | None = None,
) -> Any:
    """Count the words of a column of texts in an Arrow table or record batch.

    >>> import pyarrow as pa
    >>> batch = pa.table({"text": ["hug pug", None, "hug"], "at": [100, 108, 108]})
    >>> count_batch(batch, "text", preset="bert-uncased", position_column="at").to_pydict()
    {'word': ['hug', 'pug'], 'count': [2, 1], 'first': [100, 104]}

    `position_column` has the position of the first byte of each text, (source << 40) + byte offset; without
    it, first positions are unknown. Texts that follow each other in a source are one byte apart, as in
    `count_texts`. Rows without a text are skipped. Batches with rows in the order of their positions are
    counted fastest. Raises `ArgumentError` for a column that is missing or has another type.
    """
    texts = text_column(batch, column)
    if position_column is None:
        counts = pw.count_texts(texts.drop_null().to_pylist(), preset=preset, num_threads=1)
        table = counts_table(counts)
        return table.set_column(2, "first", _pyarrow().nulls(len(table), _pyarrow().uint64()))
    positions = _positions(batch, position_column, texts)
    tables = []
    for rows, first in _runs(texts.drop_null().to_pylist(), positions):
        table = counts_table(pw.count_texts(rows, preset=preset, num_threads=1))
        shifted = _compute().add(table.column("first"), _pyarrow().scalar(first, "uint64"))
        tables.append(table.set_column(2, "first", shifted))
    return tables[0] if len(tables) == 1 else merge_counts(tables)


def text_column(batch: Any, column: str) -> Any:
    """Return a column of texts as one Arrow array; raises `ArgumentError` if it has another type."""
    pa = _pyarrow()
    if not isinstance(batch, (pa.Table, pa.RecordBatch)):
        found = type(batch).__name__
        raise InputTypeError(
            "batch", f"must be a pyarrow.Table or pyarrow.RecordBatch, not {found}"
        )
    texts = _column(batch, column)
    # A column without any text can have the type null.
    if str(texts.type) not in _TEXT_TYPES:
        problem = f"must contain texts, not values of type {texts.type}"
        raise ArgumentError(f"column {column!r}", problem)
    return texts


def _column(batch: Any, column: str) -> Any:
    pa = _pyarrow()
    names = batch.schema.names
    if names.count(column) != 1:
        problem = f"must be one column; the table has the columns {', '.join(names)}"
        raise ArgumentError(f"column {column!r}", problem)
    values = batch.column(column)
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def _positions(batch: Any, column: str, texts: Any) -> npt.NDArray[np.uint64]:
    """Return the positions of the rows that have a text."""
    pa, pc = _pyarrow(), _compute()
    positions = _column(batch, column).filter(pc.is_valid(texts))
    place = f"column {column!r}"
    if not pa.types.is_integer(positions.type):
        raise ArgumentError(place, f"must contain integers, not values of type {positions.type}")
    if positions.null_count:
        raise ArgumentError(place, f"must not have empty cells; it has {positions.null_count}")
    try:
        return _numbers(positions.cast(pa.uint64()))
    except pa.ArrowInvalid as error:
        raise ArgumentError(place, f"must contain integers from 0 to 2**64 - 1: {error}") from error


def _runs(texts: list[str], positions: npt.NDArray[np.uint64]) -> Iterable[tuple[list[str], int]]:
    """Yield the texts that follow each other in a source, with the position of the first one."""
    lengths = np.fromiter((len(text.encode()) + 1 for text in texts), np.uint64, len(texts))
    breaks = np.flatnonzero(positions[1:] != positions[:-1] + lengths[:-1]) + 1
    bounds = [0, *breaks.tolist(), len(texts)]
    for start, end in pairwise(bounds):
        if start < end:
            yield texts[start:end], int(positions[start])


def _numbers(column: Any) -> npt.NDArray[np.uint64]:
    return np.asarray(column.to_numpy(zero_copy_only=False), np.uint64) if len(column) else _NONE


_NONE = np.empty(0, np.uint64)


def _schema() -> Any:
    pa = _pyarrow()
    kinds = {"word": pa.large_string(), "count": pa.uint64(), "first": pa.uint64()}
    return pa.schema(list(kinds.items()))


def _pyarrow() -> Any:
    return import_extra("pyarrow", "arrow")


def _compute() -> Any:
    return import_extra("pyarrow.compute", "arrow")
