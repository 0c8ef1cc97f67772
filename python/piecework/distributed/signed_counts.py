"""Tables of counts and ids in the types of Spark, which has no unsigned integers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from piecework._internal.extras import import_extra
from piecework.errors import TrainingError

COUNTS_SCHEMA = "word string, count long, first long"
"""The columns of counts in Spark."""

_ROWS_PER_BATCH = 65_536


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
            raise TrainingError("counts", message=message) from error


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
