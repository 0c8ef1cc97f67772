"""Write and read ids as Arrow IPC files and Parquet: one column `ids`, a list of uint32 for each row."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO

from piecework._internal.extras import import_extra
from piecework.errors import CorpusError
from piecework.export.chats import MASK_NAME, ids_and_mask
from piecework.export.damaged_files import damage_as_corpus_error
from piecework.export.encoded_lines import EncodedLines, RowLayout, Write
from piecework.io.atomic_files import atomic_stream
from piecework.tokenizer import Tokenizer

ARROW_STREAM_MAGIC = b"\xff\xff\xff\xff"

_PARQUET_MAGIC = b"PAR1"

_IDS_PER_ROW_GROUP = 4 << 20
_IDS_NAMES = ("ids", "input_ids")


# ---- writing


@contextmanager
def write_arrow(kind: str, path: str, tokenizer: Tokenizer, layout: RowLayout) -> Iterator[Write]:
    """Write an Arrow IPC file, which can be memory-mapped, or a stream, which is read while it is written.

    `kind` is "file" or "stream"; stdout is always a stream.
    """
    pyarrow = _import_pyarrow("pyarrow")
    schema = _schema(pyarrow, layout)
    is_file = kind == "file" and path != "-"
    new_writer = pyarrow.ipc.new_file if is_file else pyarrow.ipc.new_stream
    with atomic_stream(path) as stream, new_writer(stream, schema) as writer:
        yield lambda lines: writer.write_batch(_record_batch(pyarrow, schema, lines, layout))


@contextmanager
def write_parquet(path: str, tokenizer: Tokenizer, layout: RowLayout) -> Iterator[Write]:
    """Write Parquet in row groups of about four million ids."""
    pyarrow, parquet = _import_pyarrow("pyarrow"), _import_pyarrow("pyarrow.parquet")
    schema = _schema(pyarrow, layout)
    row_group: list[Any] = []

    def write(lines: EncodedLines) -> None:
        row_group.append(_record_batch(pyarrow, schema, lines, layout))
        if sum(len(batch.column(0).values) for batch in row_group) >= _IDS_PER_ROW_GROUP:
            flush()

    def flush() -> None:
        # `ParquetWriter.write_batch` buffers a million rows, whatever their length.
        writer.write_table(pyarrow.Table.from_batches(row_group, schema))
        row_group.clear()

    with (
        atomic_stream(path) as stream,
        parquet.ParquetWriter(stream, schema, compression="zstd") as writer,
    ):
        yield write
        if row_group:
            flush()


def _schema(pyarrow: Any, layout: RowLayout) -> Any:
    lists = pyarrow.list_(pyarrow.uint32())
    names = [layout.ids_name, *(["lengths"] if layout.packed_length else [])]
    fields = [pyarrow.field(name, lists) for name in names]
    if layout.has_mask:
        fields.append(pyarrow.field(MASK_NAME, pyarrow.list_(pyarrow.uint8())))
    return pyarrow.schema(
        [*fields, *(pyarrow.field(name, pyarrow.string()) for name in layout.kept)]
    )


def _record_batch(pyarrow: Any, schema: Any, lines: EncodedLines, layout: RowLayout) -> Any:
    row_offsets = lines.batch.row_offsets
    ids, mask = ids_and_mask(lines.batch) if layout.has_mask else (lines.batch.ids, None)
    columns = [_lists(pyarrow, ids, row_offsets, pyarrow.uint32())]
    if lines.documents is not None:
        columns.append(_lists(pyarrow, *lines.documents, pyarrow.uint32()))
    if mask is not None:
        columns.append(_lists(pyarrow, mask, row_offsets, pyarrow.uint8()))
    columns += [pyarrow.array(texts, pyarrow.string()) for texts in lines.kept.values()]
    return pyarrow.record_batch(columns, schema=schema)


def _lists(pyarrow: Any, values: Any, row_offsets: Any, of_type: Any) -> Any:
    offsets = pyarrow.array(row_offsets, pyarrow.int32())
    return pyarrow.ListArray.from_arrays(offsets, pyarrow.array(values, of_type))


# ---- reading


def _read_arrow(
    magic: bytes, stream: BinaryIO, name: str, rows_at_once: int
) -> Iterator[list[list[int]]]:
    """Yield the rows of an Arrow or Parquet file; a stream that cannot seek is read whole for a file."""
    pyarrow, parquet = _import_pyarrow("pyarrow"), _import_pyarrow("pyarrow.parquet")
    with damage_as_corpus_error(name, "a complete Arrow or Parquet file"):
        if magic == ARROW_STREAM_MAGIC:
            batches = pyarrow.ipc.open_stream(stream)
        else:
            source = stream if stream.seekable() else io.BytesIO(stream.read())
            if magic == _PARQUET_MAGIC:
                batches = parquet.ParquetFile(source).iter_batches(batch_size=rows_at_once)
            else:
                reader = pyarrow.ipc.open_file(source)
                batches = map(reader.get_batch, range(reader.num_record_batches))
        for batch in batches:
            yield from _batch_rows(batch, name, rows_at_once)


ARROW_READERS = {
    magic: partial(_read_arrow, magic) for magic in (b"ARROW1", ARROW_STREAM_MAGIC, _PARQUET_MAGIC)
}
"""The reader for the first bytes of a file."""


def _batch_rows(batch: Any, name: str, rows_at_once: int) -> Iterator[list[list[int]]]:
    """Yield the rows of the column of ids of a record batch."""
    expected = "a column `ids` or `input_ids` of lists of integers"
    ids_name = next((name for name in _IDS_NAMES if name in batch.schema.names), None)
    if ids_name is None:
        problem = f"has the columns {', '.join(batch.schema.names)}; it needs {expected}"
        raise CorpusError(name, problem)
    column = batch.column(batch.schema.get_field_index(ids_name))
    types = _import_pyarrow("pyarrow.types")
    is_list = types.is_list(column.type) or types.is_large_list(column.type)
    if not (is_list and types.is_integer(column.type.value_type)):
        raise CorpusError(
            f"{name} column {ids_name!r}", f"found {column.type}, expected {expected}"
        )
    # `null_count`, `flatten` and `to_pylist` trust the lengths and offsets of a file.
    column.validate(full=True)
    if column.null_count or column.flatten().null_count:
        raise CorpusError(f"{name} column {ids_name!r}", "must not have nulls")
    for start in range(0, len(column), rows_at_once):
        yield column.slice(start, rows_at_once).to_pylist()


def _import_pyarrow(module: str) -> Any:
    return import_extra(module, "parquet")
