"""Count and encode on a Ray cluster. Requires `piecework[ray]`.

`count_files` and `encode_files` run one task for each group of files; `count_dataset` and `encode_dataset`
take a data set of Ray Data. Ray repeats the tasks of a worker that dies. Each function uses the connection of
this process if it has one; otherwise it connects to `address` and disconnects at the end.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import piecework as pw
from piecework._internal.extras import import_extra
from piecework._internal.validation import PathLike
from piecework.distributed import file_tasks, task_settings
from piecework.distributed.arrow_counts import counts_of_table, merge_counts
from piecework.distributed.tasks import EncodedFile
from piecework.distributed.worker_functions import error_of_worker, worker_function
from piecework.errors import ArgumentError, WorkerError
from piecework.train.counting import PartCountSettings, warn_of_replacements
from piecework.train.setting_fields import given_to, takes_settings

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from piecework.distributed.task_settings import EncodeFilesOptions
    from piecework.train.settings import CountPartOptions

__all__ = ["count_dataset", "count_files", "encode_dataset", "encode_files"]

_TABLES_PER_MERGE = 8
_CONNECTION_SECONDS = 10


@takes_settings(PartCountSettings)
def count_files(
    paths: PathLike | Sequence[PathLike],
    *,
    preset: str | pw.train.Preset | pw.train.Pipeline = "bert-uncased",
    first_source: int = 0,
    address: str | None = None,
    task_bytes: int = file_tasks.TASK_BYTES,
    **settings: Unpack[CountPartOptions],
) -> pw.Counts:
    """Count the words of files that every node can open; return the counts of `piecework.count_files`.

    Words, counts and first positions are those of one process, in the same order. `task_bytes` is the number
    of bytes as stored that one task counts at least, in consecutive files; a file is never divided. `address`
    is that of the cluster (None: the environment variable RAY_ADDRESS, a cluster that runs on this machine,
    or a new one here). `memory` and `num_threads` are those of each task, by default 1 GiB and 1.

    Raises `WorkerError` for a worker without this version of piecework, and the errors of `count_files`.
    """
    ray = _ray()
    groups = file_tasks.file_groups(paths, task_bytes, first_source)
    checked = given_to(count_files, PartCountSettings, settings)
    resolved, task = task_settings.count_files_settings(preset, checked, ray.cloudpickle.dumps)
    with _connection(ray, address):
        count = ray.remote(worker_function("tasks", "count_group", task))
        # Nothing here holds the references, so that Ray frees each table after its merge.
        merged = _merged(ray, [count.remote(group.first_source, group.paths) for group in groups])
    counts = counts_of_table(merged, resolved)
    warn_of_replacements(counts.replacements)
    return counts


def count_dataset(
    dataset: Any,
    column: str = "text",
    *,
    preset: str | pw.train.Preset | pw.train.Pipeline = "bert-uncased",
    position_column: str | None = None,
) -> pw.Counts:
    """Count the words of a column of a `ray.data.Dataset`, such as `ray.data.read_parquet(...)`.

    Words and counts are those of `piecework.count_texts`. `position_column` has the position of the first
    byte of each text, (source << 40) + byte offset; without it, first positions are unknown. Rows without a
    text are skipped.
    """
    ray = _ray()
    resolved, settings = task_settings.count_batch_settings(
        preset, column, position_column, ray.cloudpickle.dumps
    )
    with _errors_of_workers(ray):
        columns = [column] if position_column is None else [column, position_column]
        tables = dataset.select_columns(columns).map_batches(
            worker_function("tasks", "count_table", settings),
            batch_size=None,
            batch_format="pyarrow",
            zero_copy_batch=True,
        )
        merged = _merged(ray, tables.to_arrow_refs())
    return counts_of_table(merged, resolved)


def encode_dataset(
    dataset: Any,
    tokenizer: pw.Tokenizer,
    column: str = "text",
    *,
    ids_column: str = "ids",
    add_special_tokens: bool = True,
) -> Any:
    """Return a `ray.data.Dataset` with the ids of a column of texts as lists of uint32.

    The data set is lazy, as those of Ray Data are: writing it runs the tasks, for example
    `encode_dataset(...).write_parquet(folder)`. The tokenizer is sent to each worker process once. Padding to
    the longest row of a batch is not applied.
    """
    ray = _ray()
    settings = task_settings.encode_settings(
        tokenizer, column, ids_column, add_special_tokens, ray.cloudpickle.dumps
    )
    return dataset.map_batches(
        worker_function("tasks", "encode_table", settings),
        batch_format="pyarrow",
        zero_copy_batch=True,
    )


def encode_files(
    tokenizer: pw.Tokenizer,
    paths: PathLike | Sequence[PathLike],
    out_dir: PathLike,
    *,
    format: str = "parquet",
    address: str | None = None,
    **options: Unpack[EncodeFilesOptions],
) -> list[EncodedFile]:
    """Encode each file into one file of a folder: `part-00000.parquet` for the first, and so on.

    Every node must be able to open the files and the folder. Each output has the bytes that
    `piecework.encode_files` writes for that input, and appears when it is complete; a repeated task replaces
    it by the same bytes. Formats and the other arguments are those of `encode_files`.
    """
    ray = _ray()
    files = file_tasks.files_of(paths)
    outputs = file_tasks.output_paths(files, out_dir, format)
    settings = task_settings.encode_files_settings(
        tokenizer, format, options, ray.cloudpickle.dumps
    )
    with file_tasks.folder_for_attempts(out_dir) as attempts, _connection(ray, address):
        encode = ray.remote(worker_function("tasks", "encode_file", settings))
        encoded: list[EncodedFile] = ray.get(
            [
                encode.remote(file, output, attempts)
                for file, output in zip(files, outputs, strict=True)
            ]
        )
        return encoded


def _merged(ray: Any, tables: Sequence[Any]) -> Any:
    """Add up references to tables in a tree of tasks; return the sum."""
    merge = ray.remote(worker_function("tasks", "merge_tables", b""))
    while len(tables) > _TABLES_PER_MERGE:
        starts = range(0, len(tables), _TABLES_PER_MERGE)
        tables = [merge.remote(*tables[start : start + _TABLES_PER_MERGE]) for start in starts]
    return merge_counts(ray.get(list(tables)))


@contextmanager
def _connection(ray: Any, address: str | None) -> Iterator[None]:
    """Connect to a cluster unless this process is connected; raise the errors of workers here."""
    if ray.is_initialized():
        if address is not None:
            problem = "does not apply: this process is connected to a Ray cluster already"
            raise ArgumentError("address", problem)
        with _errors_of_workers(ray):
            yield
        return
    try:
        _check_reachable(address)
        ray.init(address=address, logging_level="ERROR", log_to_driver=False)
    except (OSError, RuntimeError, ValueError) as error:
        problem = f"no Ray cluster runs there ({error}); `ray start --head` starts one"
        raise WorkerError(f"address {address!r}", problem) from error
    try:
        with _errors_of_workers(ray):
            yield
    finally:
        ray.shutdown()


def _check_reachable(address: str | None) -> None:
    """Raise `OSError` if nothing listens at HOST:PORT; Ray itself tries again for minutes."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host, int(port)), timeout=_CONNECTION_SECONDS).close()


@contextmanager
def _errors_of_workers(ray: Any) -> Iterator[None]:
    """Raise the error of piecework that a task of Ray failed with."""
    try:
        yield
    except ray.exceptions.WorkerCrashedError as error:
        problem = "the worker processes died in every attempt; a smaller memory may help"
        raise WorkerError("Ray", problem) from error
    except ray.exceptions.RayError as error:
        found = error_of_worker(str(error))
        if found is None:
            raise
        raise found from error


def _ray() -> Any:
    import_extra("pyarrow", "ray")
    ray = import_extra("ray", "ray")
    import_extra("ray.cloudpickle", "ray")
    return ray
