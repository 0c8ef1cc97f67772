"""Count and encode with Spark 4.1 or newer. Requires `piecework[spark]` and Java 17 or newer.

`count_files` and `encode_files` run one task for each group of files; `count_frame`, `encode_frame` and
`encode_udf` take data frames. Spark repeats the tasks that fail, and writes the output of one attempt only.
Functions of files use the session of this process if it has one; otherwise they start one for `master` and
stop it at the end.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import piecework as pw
from piecework._internal.extras import import_extra
from piecework._internal.setting_fields import given_to, takes_settings
from piecework._internal.validation import PathLike
from piecework.errors import ArgumentError, WorkerError
from piecework.export.settings import EncodeSettings
from piecework.integrations.distributed import engines
from piecework.integrations.distributed.arrow_counts import counts_of_table
from piecework.integrations.distributed.tasks import (
    SPARK_COUNTS,
    EncodedFile,
    errors_of_workers,
    from_signed,
    worker_function,
)
from piecework.train.counting import PartCountSettings

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from piecework.export.options import EncodeOptions
    from piecework.train.settings import CountPartOptions

__all__ = ["count_files", "count_frame", "encode_files", "encode_frame", "encode_udf"]

_ENCODED_FILES_SCHEMA = "input string, output string, rows long, tokens long, replacements long"
_IDS_TYPE = "array<int>"


@takes_settings(PartCountSettings)
def count_files(
    paths: PathLike | Sequence[PathLike],
    *,
    preset: str | pw.train.Preset | pw.train.Pipeline = "bert-uncased",
    first_source: int = 0,
    session: Any = None,
    master: str | None = None,
    task_bytes: int = engines.TASK_BYTES,
    **settings: Unpack[CountPartOptions],
) -> pw.Counts:
    """Count the words of files that every worker can open; return the counts of `piecework.count_files`.

    Words, counts and first positions are the same as in one process, in the same order. `task_bytes` is the
    number of bytes as stored that one task counts at least, in consecutive files; a file is never divided.
    `session` is a `SparkSession` (None: the active one, otherwise a new one for `master`, such as
    `local[2]`). `memory` and `num_threads` apply to each task, by default 1 GiB and 1.

    Raises `WorkerError` for a worker without this version of piecework, and the errors of `count_files`.
    """
    checked = given_to(count_files, PartCountSettings, settings)
    engine = _Spark(session, master)
    return engines.count_files(engine, paths, preset, checked, first_source, task_bytes)


def count_frame(
    frame: Any,
    column: str = "text",
    *,
    preset: str | pw.train.Preset | pw.train.Pipeline = "bert-uncased",
    position_column: str | None = None,
) -> pw.Counts:
    """Count the words of a column of a data frame, such as `spark.read.parquet(...)`.

    Words and counts are the same as from `piecework.count_texts`. `position_column` has the position of the
    first byte of each text, (source << 40) + byte offset; without it, first positions are unknown. Rows
    without a text are skipped.
    """
    columns, settings = engines.arguments_of_counting(preset, column, position_column)
    count = worker_function("spark_count_batches", _dumps(settings))
    with errors_of_workers():
        table = _sum(frame.select(*columns).mapInArrow(count, SPARK_COUNTS))
    return counts_of_table(table, settings["preset"])


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
    settings = engines.arguments_of_encoding(tokenizer, column, ids_column, add_special_tokens)
    for name, is_there in ((column, True), (ids_column, False)):
        if (name in frame.columns) is not is_there:
            missing = f"is missing; there are the columns {', '.join(frame.columns)}"
            problem = missing if is_there else "exists already; choose another name"
            raise ArgumentError(f"column {name!r}", problem)
    types = import_extra("pyspark.sql.types", "spark")
    ids = types.StructField(ids_column, types.ArrayType(types.IntegerType()))
    schema = types.StructType([*frame.schema.fields, ids])
    encode = worker_function("spark_encode_batches", _dumps(settings))
    return frame.mapInArrow(encode, schema)


def encode_udf(tokenizer: pw.Tokenizer, *, add_special_tokens: bool = True) -> Any:
    """Return a function from a column of texts to a column of ids, `array<int>`.

    `frame.withColumn("ids", encode_udf(tokenizer)("text"))` has the ids of `encode_frame`.
    """
    settings = engines.arguments_of_encoding(tokenizer, "text", "ids", add_special_tokens)
    functions = import_extra("pyspark.sql.functions", "spark")
    arrow = import_extra("pyarrow", "spark")
    encode = worker_function("spark_encode_texts", _dumps(settings))

    def encode_column(texts):  # type: ignore[no-untyped-def]
        return encode(texts)

    # Spark recognizes the kind of the function by these types.
    encode_column.__annotations__ = {"texts": arrow.Array, "return": arrow.Array}
    return functions.arrow_udf(encode_column, returnType=_IDS_TYPE)


@takes_settings(EncodeSettings, without=("on_error",))
def encode_files(
    tokenizer: pw.Tokenizer,
    paths: PathLike | Sequence[PathLike],
    out_dir: PathLike,
    *,
    format: str = "parquet",
    session: Any = None,
    master: str | None = None,
    **settings: Unpack[EncodeOptions],
) -> list[EncodedFile]:
    """Encode each file into one file of a folder: `part-00000.parquet` for the first, and so on.

    Every worker must be able to open the files and the folder. Each output has the bytes that
    `piecework.encode_files` writes for that input, and appears when it is complete; a repeated task replaces
    it by the same bytes. Formats and the other arguments are the same as for `encode_files`; `num_threads`
    applies to each task, by default 1.
    """
    checked = given_to(encode_files, EncodeSettings, settings)
    engine = _Spark(session, master)
    return engines.encode_files(engine, tokenizer, paths, out_dir, format, checked)


class _Spark:
    """The session given, the active one, or a new one that `connected` stops."""

    def __init__(self, session: Any, master: str | None) -> None:
        self._session = session
        self._master = master

    def dumps(self, value: object) -> bytes:
        return _dumps(value)

    @contextmanager
    def connected(self) -> Iterator[None]:
        sql = import_extra("pyspark.sql", "spark")
        if self._session is None:
            self._session = sql.SparkSession.getActiveSession()
        if self._session is not None:
            if self._master is not None:
                raise ArgumentError("master", "does not apply: there is a Spark session already")
            with errors_of_workers():
                yield
            return
        self._session = _started(sql.SparkSession.builder.appName("piecework"), self._master)
        try:
            with errors_of_workers():
                yield
        finally:
            self._session.stop()

    def counted(self, settings: bytes, groups: Sequence[engines.FileGroup]) -> Any:
        return _sum(self._tasks("spark_count_group", settings, groups, SPARK_COUNTS))

    def encoded(self, settings: bytes, files: Sequence[tuple[str, ...]]) -> list[EncodedFile]:
        rows = self._tasks("spark_encode_file", settings, files, _ENCODED_FILES_SCHEMA).collect()
        return [EncodedFile(*row) for row in rows]

    def _tasks(
        self, task: str, settings: bytes, arguments: Sequence[tuple[Any, ...]], schema: str
    ) -> Any:
        """Return a data frame of the record batches of a task, which runs once for each call."""
        function = worker_function(task, settings)
        calls = [tuple(each) for each in arguments]  # a worker may have no piecework to unpickle

        def run(batches):  # type: ignore[no-untyped-def]
            for batch in batches:
                for index in batch.column(0).to_pylist():
                    yield from function(*calls[index])

        return self._session.range(0, len(calls), 1, len(calls)).mapInArrow(run, schema)


def _sum(counted: Any) -> Any:
    """Add up rows of counts in a shuffle; return the sum."""
    functions = import_extra("pyspark.sql.functions", "spark")
    # `try_sum` is null where the sum exceeds 63 bits; `sum` would wrap around without the ANSI mode.
    sums = counted.groupBy("word").agg(
        functions.try_sum("count").alias("count"), functions.min("first").alias("first")
    )
    return from_signed(sums.toArrow())


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
        problem = f"there is {found}; Spark needs {expected}"
        raise WorkerError(f"master {master!r}", problem) from error


def _dumps(value: object) -> bytes:
    import_extra("pyarrow", "spark")
    pickled: bytes = import_extra("pyspark.cloudpickle", "spark").dumps(value)
    return pickled
