"""Write and read ids as Arrow IPC files and Parquet: one column `ids`, a list of uint32 for each row."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from piecework._internal.extras import import_extra
from piecework.errors import CorpusError
from piecework.export.chats import MASK_NAME, mask_of, without_mask
from piecework.export.damaged_files import damage_as_corpus_error
from piecework.export.encoded_lines import PLAIN, EncodedLines, RowLayout, Write
from piecework.io.atomic_files import atomic_stream
from piecework.tokenizer import Tokenizer

ARROW_FILE_MAGIC = b"ARROW1"
ARROW_STREAM_MAGIC = b"\xff\xff\xff\xff"
PARQUET_MAGIC = b"PAR1"

_IDS_PER_ROW_GROUP = 4 << 20
_IDS_NAMES = ("ids", "input_ids")


# ---- writing


@contextmanager
def write_arrow(path: str, tokenizer: Tokenizer, layout: RowLayout = PLAIN) -> Iterator[Write]:
    """Write an Arrow IPC file, which can be memory-mapped; to stdout, an Arrow IPC stream."""
    with _written(path, layout, "new_stream" if path == "-" else "new_file") as write:
        yield write


@contextmanager
def write_arrow_stream(
    path: str, tokenizer: Tokenizer, layout: RowLayout = PLAIN
) -> Iterator[Write]:
    """Write an Arrow IPC stream, which can be read while it is written."""
    with _written(path, layout, "new_stream") as write:
        yield write


@contextmanager
def _written(path: str, layout: RowLayout, new_writer: str) -> Iterator[Write]:
    pyarrow = _import_pyarrow("pyarrow")
    schema = _schema(pyarrow, layout)
    with (
        atomic_stream(path) as stream,
        getattr(pyarrow.ipc, new_writer)(stream, schema) as writer,
    ):
        yield lambda lines: writer.write_batch(_record_batch(pyarrow, schema, lines, layout))


@contextmanager
def write_parquet(path: str, tokenizer: Tokenizer, layout: RowLayout = PLAIN) -> Iterator[Write]:
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
    ids, row_offsets = lines.batch.ids, lines.batch.row_offsets
    masks: Any = None
    if layout.has_mask:
        masks, ids = mask_of(lines.batch), without_mask(lines).batch.ids
    columns = [_lists(pyarrow, ids, row_offsets, pyarrow.uint32())]
    if lines.documents is not None:
        columns.append(_lists(pyarrow, *lines.documents, pyarrow.uint32()))
    if masks is not None:
        columns.append(_lists(pyarrow, masks, row_offsets, pyarrow.uint8()))
    columns += [pyarrow.array(texts, pyarrow.string()) for texts in lines.kept.values()]
    return pyarrow.record_batch(columns, schema=schema)


def _lists(pyarrow: Any, values: Any, row_offsets: Any, of_type: Any) -> Any:
    offsets = pyarrow.array(row_offsets, pyarrow.int32())
    return pyarrow.ListArray.from_arrays(offsets, pyarrow.array(values, of_type))


# ---- reading


def read_arrow_path(path: str, rows_at_once: int) -> Iterator[list[list[int]]]:
    """Yield the rows of an Arrow IPC file, which is read batch by batch."""
    pyarrow = _import_pyarrow("pyarrow")
    with (
        damage_as_corpus_error(path, "a complete Arrow file"),
        pyarrow.OSFile(path) as source,
    ):
        yield from _file_rows(pyarrow.ipc.open_file(source), path, rows_at_once)


def read_arrow_file(stream: BinaryIO, name: str, rows_at_once: int) -> Iterator[list[list[int]]]:
    """Yield the rows of an Arrow IPC file from a stream, which is read whole."""
    pyarrow = _import_pyarrow("pyarrow")
    with damage_as_corpus_error(name, "a complete Arrow file"):
        reader = pyarrow.ipc.open_file(io.BytesIO(stream.read()))
        yield from _file_rows(reader, name, rows_at_once)


def read_arrow_stream(stream: BinaryIO, name: str, rows_at_once: int) -> Iterator[list[list[int]]]:
    """Yield the rows of an Arrow IPC stream."""
    pyarrow = _import_pyarrow("pyarrow")
    with damage_as_corpus_error(name, "a complete Arrow stream"):
        for batch in pyarrow.ipc.open_stream(stream):
            yield from _batch_rows(batch, name, rows_at_once)


def read_parquet(stream: BinaryIO, name: str, rows_at_once: int) -> Iterator[list[list[int]]]:
    """Yield the rows of a Parquet file; a stream that cannot seek is read whole."""
    parquet = _import_pyarrow("pyarrow.parquet")
    with damage_as_corpus_error(name, "a complete Parquet file"):
        source = stream if stream.seekable() else io.BytesIO(stream.read())
        for batch in parquet.ParquetFile(source).iter_batches(batch_size=rows_at_once):
            yield from _batch_rows(batch, name, rows_at_once)


def _file_rows(reader: Any, name: str, rows_at_once: int) -> Iterator[list[list[int]]]:
    for index in range(reader.num_record_batches):
        yield from _batch_rows(reader.get_batch(index), name, rows_at_once)


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
