"""Write and read ids as Arrow IPC files and Parquet: one column `ids`, a list of uint32 for each row."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from piecework._internal.extras import import_extra
from piecework.batch import Batch
from piecework.errors import CorpusError
from piecework.export.damaged_files import damage_as_corpus_error
from piecework.export.encoded_lines import EncodedLines, Write
from piecework.io.atomic_files import atomic_stream
from piecework.tokenizer import Tokenizer

ARROW_FILE_MAGIC = b"ARROW1"
ARROW_STREAM_MAGIC = b"\xff\xff\xff\xff"
PARQUET_MAGIC = b"PAR1"

_IDS_PER_ROW_GROUP = 4 << 20


# ---- writing


@contextmanager
def write_arrow(path: str, tokenizer: Tokenizer) -> Iterator[Write]:
    """Write an Arrow IPC file, which can be memory-mapped; to stdout, an Arrow IPC stream."""
    pyarrow = _import_pyarrow("pyarrow")
    schema = _schema(pyarrow)
    new_writer = pyarrow.ipc.new_stream if path == "-" else pyarrow.ipc.new_file
    with atomic_stream(path) as stream, new_writer(stream, schema) as writer:
        yield lambda lines: writer.write_batch(_record_batch(pyarrow, schema, lines.batch))


@contextmanager
def write_parquet(path: str, tokenizer: Tokenizer) -> Iterator[Write]:
    """Write Parquet in row groups of about four million ids."""
    pyarrow, parquet = _import_pyarrow("pyarrow"), _import_pyarrow("pyarrow.parquet")
    schema = _schema(pyarrow)
    row_group: list[Any] = []

    def write(lines: EncodedLines) -> None:
        row_group.append(_record_batch(pyarrow, schema, lines.batch))
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


def _schema(pyarrow: Any) -> Any:
    return pyarrow.schema([pyarrow.field("ids", pyarrow.list_(pyarrow.uint32()))])


def _record_batch(pyarrow: Any, schema: Any, batch: Batch) -> Any:
    offsets = pyarrow.array(batch.row_offsets, pyarrow.int32())
    rows = pyarrow.ListArray.from_arrays(offsets, pyarrow.array(batch.ids))
    return pyarrow.record_batch([rows], schema=schema)


# ---- reading


def map_arrow_file(path: str, rows_at_once: int) -> Iterator[list[list[int]]]:
    """Yield the rows of a memory-mapped Arrow IPC file."""
    pyarrow = _import_pyarrow("pyarrow")
    with (
        damage_as_corpus_error(path, "a complete Arrow file"),
        pyarrow.memory_map(path) as source,
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
    """Yield the rows of the column `ids` of a record batch."""
    expected = "a column `ids` of lists of integers"
    if "ids" not in batch.schema.names:
        raise CorpusError(name, f"columns {', '.join(batch.schema.names)}", expected)
    column = batch.column(batch.schema.get_field_index("ids"))
    types = _import_pyarrow("pyarrow.types")
    is_list = types.is_list(column.type) or types.is_large_list(column.type)
    if not (is_list and types.is_integer(column.type.value_type)):
        raise CorpusError(f"{name} column 'ids'", str(column.type), expected)
    if column.null_count or column.flatten().null_count:
        raise CorpusError(f"{name} column 'ids'", "nulls", expected)
    for start in range(0, len(column), rows_at_once):
        yield column.slice(start, rows_at_once).to_pylist()


def _import_pyarrow(module: str) -> Any:
    return import_extra(module, "parquet")
