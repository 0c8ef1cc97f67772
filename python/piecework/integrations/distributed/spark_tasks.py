"""What the workers of Spark run: the functions of `tasks`, on record batches and signed integers.

Spark has no unsigned integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from piecework._internal.extras import import_extra
from piecework.errors import TrainingError
from piecework.integrations.distributed import tasks

COUNTS_SCHEMA = "word string, count long, first long"
"""The columns of counts in Spark."""

_ROWS_PER_BATCH = 65_536
# Counts of batches are added up in the worker until they have this number of rows.
_MAX_ROWS = 1 << 20


def count_group(settings: bytes, first_source: int, paths: Sequence[str]) -> Iterator[Any]:
    """Count files; yield record batches."""
    return signed_batches(tasks.count_group(settings, first_source, paths))


def count_batches(settings: bytes, batches: Iterator[Any]) -> Iterator[Any]:
    """Count the words of a column of batches; yield record batches."""
    tables: list[Any] = []
    for batch in batches:
        tables.append(tasks.count_table(settings, batch))
        if sum(map(len, tables)) > _MAX_ROWS:
            tables = [tasks.merge_tables(b"", *tables)]
            if len(tables[0]) > _MAX_ROWS // 2:
                yield from signed_batches(tables.pop())
    if tables:
        yield from signed_batches(tasks.merge_tables(b"", *tables))


def encode_batches(settings: bytes, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield batches with a column of ids at the end."""
    for batch in batches:
        table = tasks.encode_table(settings, batch)
        last = table.num_columns - 1
        ids = signed_ids(table.column(last))
        yield from table.set_column(last, table.schema.names[last], ids).to_batches()


def encode_texts(settings: bytes, texts: Any) -> Any:
    """Return the ids of an Arrow array of texts."""
    pa = import_extra("pyarrow", "spark")
    ids = tasks.encode_table(settings, pa.table({"text": texts})).column("ids")
    return signed_ids(ids).combine_chunks()


def encode_file(settings: bytes, path: str, output: str, attempts: str) -> Iterator[Any]:
    """Encode one file into one file; yield one row that describes it."""
    pa = import_extra("pyarrow", "spark")
    done = tasks.encode_file(settings, path, output, attempts)
    yield pa.RecordBatch.from_pylist([done._asdict()])


# ---- signed integers


def signed_batches(table: Any) -> Iterator[Any]:
    """Yield the rows of a table of counts as record batches with signed integers.

    Raises `TrainingError` for counts of 2**63 or more and for sources from 2**23 on.
    """
    pa = import_extra("pyarrow", "spark")
    schema = pa.schema([("word", pa.string()), ("count", pa.int64()), ("first", pa.int64())])
    for batch in table.to_batches(max_chunksize=_ROWS_PER_BATCH):
        try:
            yield batch.cast(schema)
        except pa.ArrowInvalid as error:
            expected = "counts below 2**63 and sources below 2**23 with Spark"
            message = f"Spark needs {expected.removesuffix(' with Spark')}: {error}"
            raise TrainingError("counts", message) from error


def from_signed(table: Any) -> Any:
    """Return a table of counts of Spark with unsigned integers; a sum that is null was too large."""
    pa = import_extra("pyarrow", "spark")
    if table.column("count").null_count:
        raise TrainingError("counts", "must have sums below 2**63 with Spark")
    kinds = [("word", pa.large_string()), ("count", pa.uint64()), ("first", pa.uint64())]
    return table.cast(pa.schema(kinds))


def signed_ids(ids: Any) -> Any:
    """Return lists of ids as lists of int32."""
    pa = import_extra("pyarrow", "spark")
    return ids.cast(pa.list_(pa.int32()))
