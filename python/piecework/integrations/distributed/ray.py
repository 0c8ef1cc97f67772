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
from piecework._internal.setting_fields import given_to, takes_settings
from piecework._internal.validation import PathLike
from piecework.errors import ArgumentError, WorkerError
from piecework.export.settings import EncodeSettings
from piecework.integrations.distributed import engines
from piecework.integrations.distributed.arrow_counts import counts_of_table, merge_counts
from piecework.integrations.distributed.tasks import (
    EncodedFile,
    errors_of_workers,
    worker_function,
)
from piecework.train.counting import PartCountSettings

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from piecework.export.options import EncodeOptions
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
    task_bytes: int = engines.TASK_BYTES,
    **settings: Unpack[CountPartOptions],
) -> pw.Counts:
    """Count the words of files that every node can open; return the counts of `piecework.count_files`.

    Words, counts and first positions are the same as in one process, in the same order. `task_bytes` is the
    number of bytes as stored that one task counts at least, in consecutive files; a file is never divided.
    `address` is the address of the cluster (None: the environment variable RAY_ADDRESS, a cluster that runs
    on this machine, or a new one here). `memory` and `num_threads` apply to each task, by default 1 GiB and
    1.

    Raises `WorkerError` for a worker without this version of piecework, and the errors of `count_files`.
    """
    checked = given_to(count_files, PartCountSettings, settings)
    return engines.count_files(_Ray(address), paths, preset, checked, first_source, task_bytes)


def count_dataset(
    dataset: Any,
    column: str = "text",
    *,
    preset: str | pw.train.Preset | pw.train.Pipeline = "bert-uncased",
    position_column: str | None = None,
) -> pw.Counts:
    """Count the words of a column of a `ray.data.Dataset`, such as `ray.data.read_parquet(...)`.

    Words and counts are the same as from `piecework.count_texts`. `position_column` has the position of the
    first byte of each text, (source << 40) + byte offset; without it, first positions are unknown. Rows
    without a text are skipped.
    """
    cluster = _Ray()
    columns, settings = engines.arguments_of_counting(preset, column, position_column)
    with cluster.errors():
        tables = dataset.select_columns(columns).map_batches(
            worker_function("count_table", cluster.dumps(settings)),
            batch_size=None,
            batch_format="pyarrow",
            zero_copy_batch=True,
        )
        merged = cluster.sum(tables.to_arrow_refs())
    return counts_of_table(merged, settings["preset"])


def encode_dataset(
    dataset: Any,
    tokenizer: pw.Tokenizer,
    column: str = "text",
    *,
    ids_column: str = "ids",
    add_special_tokens: bool = True,
) -> Any:
    """Return a `ray.data.Dataset` with the ids of a column of texts as lists of uint32.

    The data set is lazy, as usual in Ray Data: writing it runs the tasks, for example
    `encode_dataset(...).write_parquet(folder)`. The tokenizer is sent to each worker process once. Padding to
    the longest row of a batch is not applied.
    """
    settings = engines.arguments_of_encoding(tokenizer, column, ids_column, add_special_tokens)
    return dataset.map_batches(
        worker_function("encode_table", _Ray().dumps(settings)),
        batch_format="pyarrow",
        zero_copy_batch=True,
    )


@takes_settings(EncodeSettings, without=("on_error",))
def encode_files(
    tokenizer: pw.Tokenizer,
    paths: PathLike | Sequence[PathLike],
    out_dir: PathLike,
    *,
    format: str = "parquet",
    address: str | None = None,
    **settings: Unpack[EncodeOptions],
) -> list[EncodedFile]:
    """Encode each file into one file of a folder: `part-00000.parquet` for the first, and so on.

    Every node must be able to open the files and the folder. Each output has the bytes that
    `piecework.encode_files` writes for that input, and appears when it is complete; a repeated task replaces
    it by the same bytes. Formats and the other arguments are the same as for `encode_files`; `num_threads`
    applies to each task, by default 1.
    """
    checked = given_to(encode_files, EncodeSettings, settings)
    return engines.encode_files(_Ray(address), tokenizer, paths, out_dir, format, checked)


class _Ray:
    """The cluster at an address, or the cluster of this process."""

    def __init__(self, address: str | None = None) -> None:
        import_extra("pyarrow", "ray")
        self._ray = import_extra("ray", "ray")
        self._address = address

    def dumps(self, value: object) -> bytes:
        pickled: bytes = import_extra("ray.cloudpickle", "ray").dumps(value)
        return pickled

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Connect to a cluster unless this process is connected."""
        ray, address = self._ray, self._address
        if ray.is_initialized():
            if address is not None:
                problem = "does not apply: this process is connected to a Ray cluster already"
                raise ArgumentError("address", problem)
            with self.errors():
                yield
            return
        try:
            _check_reachable(address)
            ray.init(address=address, logging_level="ERROR", log_to_driver=False)
        except (OSError, RuntimeError, ValueError) as error:
            problem = f"no Ray cluster runs there ({error}); `ray start --head` starts one"
            raise WorkerError(f"address {address!r}", problem) from error
        try:
            with self.errors():
                yield
        finally:
            ray.shutdown()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Raise the error of piecework that a task failed with."""
        try:
            with errors_of_workers(self._ray.exceptions.RayError):
                yield
        except self._ray.exceptions.WorkerCrashedError as error:
            problem = "the worker processes died in every attempt; a smaller memory may help"
            raise WorkerError("Ray", problem) from error

    def counted(self, settings: bytes, groups: Sequence[engines.FileGroup]) -> Any:
        count = self._ray.remote(worker_function("count_group", settings))
        # Nothing here holds the references, so that Ray frees each table after its merge.
        return self.sum([count.remote(*group) for group in groups])

    def encoded(self, settings: bytes, files: Sequence[tuple[str, ...]]) -> list[EncodedFile]:
        encode = self._ray.remote(worker_function("encode_file", settings))
        encoded: list[EncodedFile] = self._ray.get([encode.remote(*names) for names in files])
        return encoded

    def sum(self, tables: Sequence[Any]) -> Any:
        """Add up references to tables in a tree of tasks; return the sum."""
        merge = self._ray.remote(worker_function("merge_tables", b""))
        while len(tables) > _TABLES_PER_MERGE:
            starts = range(0, len(tables), _TABLES_PER_MERGE)
            tables = [merge.remote(*tables[start : start + _TABLES_PER_MERGE]) for start in starts]
        return merge_counts(self._ray.get(list(tables)))


def _check_reachable(address: str | None) -> None:
    """Raise `OSError` if nothing listens at HOST:PORT; Ray itself tries again for minutes."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host, int(port)), timeout=_CONNECTION_SECONDS).close()
