"""Count and encode with Spark 4.1 or newer. Requires `piecework[spark]` and Java 17 or newer.

`count_files` and `encode_files` run one task for each group of files; `count_frame`, `encode_frame` and
`encode_udf` take data frames. Spark repeats the tasks that fail, and writes the output of one attempt only.
Functions of files use the session of this process if it has one; otherwise they start one for `master` and
stop it at the end.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import piecework as pw
from piecework._internal.extras import import_extra
from piecework._internal.renamed_arguments import renamed_arguments
from piecework._internal.validation import PathLike
from piecework.distributed import file_tasks
from piecework.distributed.arrow_counts import counts_of_table
from piecework.distributed.signed_counts import COUNTS_SCHEMA, from_signed
from piecework.distributed.task_settings import (
    count_batch_settings,
    count_files_settings,
    encode_files_settings,
    encode_settings,
)
from piecework.distributed.tasks import EncodedFile
from piecework.distributed.worker_functions import error_of_worker, worker_function
from piecework.errors import ArgumentError, WorkerError
from piecework.train.corpus_count import warn_of_replacements

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from piecework.distributed.task_settings import CountFilesOptions, EncodeFilesOptions

__all__ = ["count_files", "count_frame", "encode_files", "encode_frame", "encode_udf"]

_ENCODED_FILES_SCHEMA = "input string, output string, rows long, tokens long, replacements long"
_IDS_TYPE = "array<int>"


@renamed_arguments(pipeline="preset")
def count_files(
    paths: PathLike | Sequence[PathLike],
    *,
    preset: str | pw.train.Preset | pw.train.Pipeline = "bert-uncased",
    first_source: int = 0,
    session: Any = None,
    master: str | None = None,
    task_bytes: int = file_tasks.TASK_BYTES,
    **options: Unpack[CountFilesOptions],
) -> pw.Counts:
    """Count the words of files that every worker can open; return the counts of `piecework.count_files`.

    Words, counts and first positions are those of one process, in the same order. `task_bytes` is the number
    of bytes as stored that one task counts at least, in consecutive files; a file is never divided.
    `session` is a `SparkSession` (None: the active one, otherwise a new one for `master`, such as
    `local[2]`). The other arguments are those of `count_files`; `memory` is for each task, 1 GiB by default.

    Raises `WorkerError` for a worker without this version of piecework, and the errors of `count_files`.
    """
    cloudpickle = _cloudpickle()
    groups = file_tasks.file_groups(paths, task_bytes, first_source)
    resolved, settings = count_files_settings(preset, options, cloudpickle.dumps)
    with _session(session, master) as spark:
        arguments = [(group.first_source, group.paths) for group in groups]
        count = worker_function("spark_tasks", "count_group", settings)
        counted = _tasks(spark, count, arguments, COUNTS_SCHEMA)
        counts = _sum(counted, resolved)
    warn_of_replacements(counts.replacements)
    return counts


@renamed_arguments(pipeline="preset")
def count_frame(
    frame: Any,
    column: str = "text",
    *,
    preset: str | pw.train.Preset | pw.train.Pipeline = "bert-uncased",
    position_column: str | None = None,
) -> pw.Counts:
    """Count the words of a column of a data frame, such as `spark.read.parquet(...)`.

    Words and counts are those of `piecework.count_texts`. `position_column` has the position of the first
    byte of each text, (source << 40) + byte offset; without it, first positions are unknown. Rows without a
    text are skipped.
    """
    resolved, settings = count_batch_settings(preset, column, position_column, _cloudpickle().dumps)
    columns = [column] if position_column is None else [column, position_column]
    count = worker_function("spark_tasks", "count_batches", settings)
    with _errors_of_workers():
        return _sum(frame.select(*columns).mapInArrow(count, COUNTS_SCHEMA), resolved)


def encode_frame(
    frame: Any,
    tokenizer: pw.Tokenizer,
    column: str = "text",
    *,
    ids_column: str = "ids",
    add_special_tokens: bool = True,
) -> Any:
    """Return a data frame with the ids of a column of texts as a further column, `array<int>`.

    The frame is lazy: writing it runs the tasks, for example `encode_frame(...).write.parquet(folder)`. The
    tokenizer is unpickled once in each worker process. Padding to the longest row of a batch is not applied.
    Raises `ArgumentError` if the frame has `ids_column` already.
    """
    settings = encode_settings(
        tokenizer, column, ids_column, add_special_tokens, _cloudpickle().dumps
    )
    for name, is_there in ((column, True), (ids_column, False)):
        if (name in frame.columns) is not is_there:
            missing = f"is missing; there are the columns {', '.join(frame.columns)}"
            problem = missing if is_there else "exists already; choose another name"
            raise ArgumentError(f"column {name!r}", problem)
    types = import_extra("pyspark.sql.types", "spark")
    ids = types.StructField(ids_column, types.ArrayType(types.IntegerType()))
    schema = types.StructType([*frame.schema.fields, ids])
    return frame.mapInArrow(worker_function("spark_tasks", "encode_batches", settings), schema)


def encode_udf(tokenizer: pw.Tokenizer, *, add_special_tokens: bool = True) -> Any:
    """Return a function from a column of texts to a column of ids, `array<int>`.

    `frame.withColumn("ids", encode_udf(tokenizer)("text"))` has the ids of `encode_frame`.
    """
    settings = encode_settings(tokenizer, "text", "ids", add_special_tokens, _cloudpickle().dumps)
    functions = import_extra("pyspark.sql.functions", "spark")
    arrow = import_extra("pyarrow", "spark")
    encode = worker_function("spark_tasks", "encode_texts", settings)

    def encode_column(texts):  # type: ignore[no-untyped-def]
        return encode(texts)

    # Spark recognizes the kind of the function by these types.
    encode_column.__annotations__ = {"texts": arrow.Array, "return": arrow.Array}
    return functions.arrow_udf(encode_column, returnType=_IDS_TYPE)


def encode_files(
    tokenizer: pw.Tokenizer,
    paths: PathLike | Sequence[PathLike],
    out_dir: PathLike,
    *,
    format: str = "parquet",
    session: Any = None,
    master: str | None = None,
    **options: Unpack[EncodeFilesOptions],
) -> list[EncodedFile]:
    """Encode each file into one file of a folder: `part-00000.parquet` for the first, and so on.

    Every worker must be able to open the files and the folder. Each output has the bytes that
    `piecework.encode_files` writes for that input, and appears when it is complete; a repeated task replaces
    it by the same bytes. Formats and the other arguments are those of `encode_files`.
    """
    files = file_tasks.files_of(paths)
    outputs = file_tasks.output_paths(files, out_dir, format)
    settings = encode_files_settings(tokenizer, format, options, _cloudpickle().dumps)
    encode = worker_function("spark_tasks", "encode_file", settings)
    with file_tasks.folder_for_attempts(out_dir) as attempts, _session(session, master) as spark:
        arguments = [(*paths, attempts) for paths in zip(files, outputs, strict=True)]
        rows = _tasks(spark, encode, arguments, _ENCODED_FILES_SCHEMA).collect()
    order = {path: index for index, path in enumerate(outputs)}
    return sorted((EncodedFile(*row) for row in rows), key=lambda file: order[file.output])


def _tasks(
    spark: Any, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], schema: str
) -> Any:
    """Return a data frame of the record batches that a function returns, with one task for each call."""

    def run(batches):  # type: ignore[no-untyped-def]
        for batch in batches:
            for index in batch.column(0).to_pylist():
                yield from function(*arguments[index])

    return spark.range(0, len(arguments), 1, len(arguments)).mapInArrow(run, schema)


def _sum(counted: Any, pipeline: pw.train.Pipeline) -> pw.Counts:
    """Add up rows of counts in a shuffle; return the sum."""
    functions = import_extra("pyspark.sql.functions", "spark")
    # `try_sum` is null where the sum exceeds 63 bits; `sum` would wrap around without the ANSI mode.
    sums = counted.groupBy("word").agg(
        functions.try_sum("count").alias("count"), functions.min("first").alias("first")
    )
    return counts_of_table(from_signed(sums.toArrow()), pipeline)


@contextmanager
def _session(session: Any, master: str | None) -> Iterator[Any]:
    """Yield the session given, the active one or a new one; raise the errors of workers here."""
    sql = import_extra("pyspark.sql", "spark")
    existing = sql.SparkSession.getActiveSession() if session is None else session
    if existing is not None:
        if master is not None:
            raise ArgumentError("master", "= does not apply: there is a Spark session already")
        with _errors_of_workers():
            yield existing
        return
    started = _started(sql.SparkSession.builder.appName("piecework"), master)
    try:
        with _errors_of_workers():
            yield started
    finally:
        started.stop()


def _started(builder: Any, master: str | None) -> Any:
    """Start a session; raise `WorkerError` with what is missing."""
    if master is not None:
        builder = builder.master(master)
        if master.startswith("local"):
            # The interpreter of workers; the default is the first python3 of the PATH.
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        return builder.config("spark.ui.enabled", "false").getOrCreate()
    except Exception as error:
        found = f"no session ({str(error).strip().splitlines()[0]})"
        java = os.environ.get("JAVA_HOME", "java on the PATH")
        expected = (
            f"a running master, and Java 17 or newer ({java}): apt install openjdk-17-jre-headless"
        )
        problem = f": there is {found}; Spark needs {expected}"
        raise WorkerError(f"master {master!r}", problem) from error


@contextmanager
def _errors_of_workers() -> Iterator[None]:
    """Raise the error of piecework that a task of Spark failed with."""
    try:
        yield
    except Exception as error:
        found = error_of_worker(str(error))
        if found is None:
            raise
        raise found from error


def _cloudpickle() -> Any:
    import_extra("pyarrow", "spark")
    return import_extra("pyspark.cloudpickle", "spark")
