"""Tables of one column, `ids`, a list of uint32 a row: Arrow and Parquet, by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from piecework.batch import Batch
from piecework.errors import MissingExtraError
from piecework.export.text_lines import EncodedLines, Write
from piecework.io.atomic_files import whole_stream
from piecework.tokenizer import Tokenizer

_IDS_A_ROW_GROUP = 4 << 20


@contextmanager
def write_arrow(path: str, tokenizer: Tokenizer) -> Iterator[Write]:
    """Write an Arrow IPC file, which can be memory-mapped, or a stream to stdout."""
    pyarrow = import_pyarrow("pyarrow")
    schema = _schema(pyarrow)
    new_writer = pyarrow.ipc.new_stream if path == "-" else pyarrow.ipc.new_file
    with whole_stream(path) as stream, new_writer(stream, schema) as writer:
        yield lambda lines: writer.write_batch(_record_batch(pyarrow, schema, lines.batch))


@contextmanager
def write_parquet(path: str, tokenizer: Tokenizer) -> Iterator[Write]:
    """Write Parquet in row groups of about four million ids."""
    pyarrow, parquet = import_pyarrow("pyarrow"), import_pyarrow("pyarrow.parquet")
    schema = _schema(pyarrow)
    held: list[Any] = []

    def write(lines: EncodedLines) -> None:
        held.append(_record_batch(pyarrow, schema, lines.batch))
        if sum(len(rows.column(0).values) for rows in held) >= _IDS_A_ROW_GROUP:
            write_held()

    def write_held() -> None:
        # pyarrow's own `write_batch` would hold a million rows, however long they are.
        writer.write_table(pyarrow.Table.from_batches(held, schema))
        held.clear()

    with (
        whole_stream(path) as stream,
        parquet.ParquetWriter(stream, schema, compression="zstd") as writer,
    ):
        yield write
        if held:
            write_held()


def _schema(pyarrow: Any) -> Any:
    return pyarrow.schema([pyarrow.field("ids", pyarrow.list_(pyarrow.uint32()))])


def _record_batch(pyarrow: Any, schema: Any, batch: Batch) -> Any:
    offsets = pyarrow.array(batch.row_offsets, pyarrow.int32())
    rows = pyarrow.ListArray.from_arrays(offsets, pyarrow.array(batch.ids))
    return pyarrow.record_batch([rows], schema=schema)


def import_pyarrow(module: str) -> Any:
    """Import a module of pyarrow; raises `MissingExtraError` without it."""
    try:
        return import_module(module)
    except ImportError as error:
        expected = "the extra that brings it: pip install 'piecework[parquet]'"
        raise MissingExtraError("Arrow and Parquet", "no pyarrow", expected) from error
