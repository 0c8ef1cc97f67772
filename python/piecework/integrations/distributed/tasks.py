"""What the workers of an engine run: count files, merge counts, encode files and batches.

Each task is a function of pickled settings and of its input alone. A task that is repeated, on the same or
on another worker, has the same result.
"""

from __future__ import annotations

import importlib
import pickle
import platform
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import piecework as pw
from piecework import errors
from piecework._internal.extras import import_extra
from piecework.errors import PieceworkError, TrainingError, TrainingWarning, WorkerError
from piecework.integrations.distributed.arrow_counts import (
    count_batch,
    counts_table,
    merge_counts,
    text_column,
)

SPARK_COUNTS = "word string, count long, first long"
"""The columns of counts in Spark."""

_ROWS_PER_BATCH = 65_536
# Counts of batches are added up in a worker of Spark until they have this number of rows.
_MAX_ROWS = 1 << 20

# The last line of a traceback of a worker, as text.
_ERROR_LINE = re.compile(r"^(?:piecework\.errors\.)(\w+): (.*)$", re.MULTILINE)
_WORKER_LINE = re.compile(r"^RuntimeError: (worker [^:]*): (.*)$", re.MULTILINE)


class EncodedFile(NamedTuple):
    """One encoded file: its input and output, and the numbers of rows, tokens and invalid sequences."""

    input: str
    output: str
    rows: int
    tokens: int
    replacements: int


def version_of_worker(settings: bytes) -> str:
    """Return the version of piecework on a worker."""
    return pw.__version__


def count_group(settings: bytes, first_source: int, paths: Sequence[str]) -> Any:
    """Count files as the sources `first_source`, `first_source + 1`, ...; return an Arrow table."""
    with warnings.catch_warnings():
        # The caller warns once of the sum.
        warnings.filterwarnings("ignore", ".* invalid UTF-8 ", TrainingWarning)
        counts = pw.count_files(list(paths), first_source=first_source, **_unpickled(settings))
    return counts_table(counts)


def count_table(settings: bytes, batch: Any) -> Any:
    """Count the words of a column of a batch; return an Arrow table."""
    return count_batch(batch, **_unpickled(settings))


def merge_tables(settings: bytes, *tables: Any) -> Any:
    """Return the sum of tables of counts."""
    return merge_counts(tables)


def encode_table(settings: bytes, batch: Any) -> Any:
    """Append a column of ids to a batch, or replace the column of that name; return an Arrow table."""
    ids_column, arguments = _unpickled(settings)
    pa = import_extra("pyarrow", "arrow")
    ids = encode_batch_column(batch, **arguments)
    table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
    index = table.schema.get_field_index(ids_column)
    if index >= 0:
        return table.set_column(index, ids_column, ids)
    return table.append_column(ids_column, ids)


def encode_file(settings: bytes, path: str, output: str, attempts: str) -> EncodedFile:
    """Encode one file in a folder for attempts, then move the result to its place."""
    tokenizer, options = _unpickled(settings)
    target = Path(output)
    with tempfile.TemporaryDirectory(dir=attempts) as folder:
        attempt = Path(folder, target.name)
        done = pw.encode_files(tokenizer, path, attempt, **options)
        for made in sorted(Path(folder).iterdir()):
            made.replace(target.parent / made.name)
    return EncodedFile(path, output, done.lines_written, done.tokens[0], done.replacements)


@lru_cache(maxsize=4)
def _unpickled(settings: bytes) -> Any:
    """Unpickle settings once in each worker process, not once for each batch."""
    return pickle.loads(settings)


# ---- Spark: the same on record batches and signed integers, as Spark has no unsigned ones


def spark_count_group(settings: bytes, first_source: int, paths: Sequence[str]) -> Iterator[Any]:
    """Count files; yield record batches."""
    return signed_batches(count_group(settings, first_source, paths))


def spark_count_batches(settings: bytes, batches: Iterator[Any]) -> Iterator[Any]:
    """Count the words of a column of batches; yield record batches."""
    tables: list[Any] = []
    for batch in batches:
        tables.append(count_table(settings, batch))
        if sum(map(len, tables)) > _MAX_ROWS:
            tables = [merge_tables(b"", *tables)]
            if len(tables[0]) > _MAX_ROWS // 2:
                yield from signed_batches(tables.pop())
    if tables:
        yield from signed_batches(merge_tables(b"", *tables))


def spark_encode_batches(settings: bytes, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield batches with a column of ids at the end."""
    for batch in batches:
        table = encode_table(settings, batch)
        last = table.num_columns - 1
        ids = signed_ids(table.column(last))
        yield from table.set_column(last, table.schema.names[last], ids).to_batches()


def spark_encode_texts(settings: bytes, texts: Any) -> Any:
    """Return the ids of an Arrow array of texts."""
    pa = import_extra("pyarrow", "spark")
    ids = encode_table(settings, pa.table({"text": texts})).column("ids")
    return signed_ids(ids).combine_chunks()


def spark_encode_file(settings: bytes, path: str, output: str, attempts: str) -> Iterator[Any]:
    """Encode one file into one file; yield one row that describes it."""
    pa = import_extra("pyarrow", "spark")
    done = encode_file(settings, path, output, attempts)
    yield pa.RecordBatch.from_pylist([done._asdict()])


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


# ---- encode a column of texts in an Arrow batch


def encode_batch_column(
    batch: Any,
    column: str,
    tokenizer: pw.Tokenizer,
    *,
    add_special_tokens: bool = True,
    num_threads: int | None = 1,
) -> Any:
    """Return the ids of a column of texts, as an Arrow array of lists of uint32.

    >>> import pyarrow as pa
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> encode_batch_column(pa.table({"text": ["ab", None, "b"]}), "text", tok).to_pylist()
    [[1, 2], None, [2]]

    A row without a text has no ids. Raises `ArgumentError` for a column that is missing or has another type.
    """
    pa = import_extra("pyarrow", "arrow")
    texts = text_column(batch, column)
    if pa.types.is_null(texts.type):
        return pa.nulls(len(texts), pa.large_list(pa.uint32()))
    has_text = np.asarray(texts.is_valid())
    encoded = tokenizer.encode_batch(
        texts.drop_null(), add_special_tokens=add_special_tokens, num_threads=num_threads
    )
    ids = pa.chunked_array([pa.table(encoded).column("input_ids").combine_chunks()])
    ids = ids.cast(pa.large_list(pa.uint32())).combine_chunks()
    if has_text.all():
        return ids
    rows = np.cumsum(has_text) - 1
    return ids.take(pa.array(rows, mask=~has_text))


# ---- what an engine sends to its workers


def worker_function(task: str, settings: bytes) -> Callable[..., Any]:
    """Return a function that calls a task of this module with pickled settings and its own arguments.

    >>> worker_function("version_of_worker", b"")() == pw.__version__
    True

    The engines pickle a function of a module by its name, and a worker without that module fails with an
    error that does not name the cause. A nested function is pickled by value: it runs on any worker. On one
    without piecework, or with another version, it raises an error that `error_of_worker` recognizes.
    """
    expected_version, tasks = pw.__version__, __name__

    def run(*arguments: Any) -> Any:
        place = f"worker {platform.node()}"
        expected = f"piecework {expected_version} on every worker"
        try:
            version = importlib.import_module("piecework").__version__
        except (ImportError, AttributeError) as error:
            found = f"no piecework ({error})"
            raise RuntimeError(f"{place}: found {found}, expected {expected}") from None
        if version != expected_version:
            raise RuntimeError(f"{place}: found piecework {version}, expected {expected}")
        return getattr(importlib.import_module(tasks), task)(settings, *arguments)

    return run


@contextmanager
def errors_of_workers(kind: type[Exception] = Exception) -> Iterator[None]:
    """Raise the error of piecework that a task failed with; `kind` is what the engine raises."""
    try:
        yield
    except kind as error:
        found = error_of_worker(str(error))
        if found is None:
            raise
        raise found from error


def error_of_worker(message: str) -> PieceworkError | None:
    """Return the error of piecework in the message of an engine, None if there is none.

    >>> print(error_of_worker("Traceback ...\\npiecework.errors.FileError: a.txt: no such file"))
    worker: a.txt: no such file
    """
    if lines := _WORKER_LINE.findall(message):
        return WorkerError(*lines[-1])
    for name, text in reversed(_ERROR_LINE.findall(message)):
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and issubclass(kind, PieceworkError):
            return kind("worker", text)
    return None
