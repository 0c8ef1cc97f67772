"""Counting and encoding files on any engine: check the arguments, divide the files, run tasks, add up.

`ray` and `spark` have an `Engine` each, and functions with the documents of their arguments.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import piecework as pw
from piecework._internal.validation import (
    PathLike,
    check_choice,
    check_positive,
    check_tokenizer,
    file_path,
)
from piecework.errors import ArgumentError, FileError
from piecework.export.settings import EncodeSettings
from piecework.integrations.distributed.arrow_counts import counts_of_table
from piecework.integrations.distributed.tasks import EncodedFile
from piecework.train.counting import PartCountSettings, pipeline_of_preset, warn_of_replacements

TASK_BYTES = 256 << 20
"""Files are grouped until a group has this size in bytes as stored; larger files are groups of their own."""

_TASK_MEMORY = "1GiB"


class Engine(Protocol):
    """What an engine does: it connects, runs tasks, repeats those that fail, and keeps their results."""

    def dumps(self, value: object) -> bytes:
        """Pickle settings, functions by value where that is needed."""

    def connected(self) -> AbstractContextManager[None]:
        """Return a context with a connection, in which the errors of workers are raised here."""

    def counted(self, settings: bytes, groups: Sequence[FileGroup]) -> Any:
        """Run the task `count_group` for each group; return the sum as an Arrow table."""

    def encoded(self, settings: bytes, files: Sequence[tuple[str, ...]]) -> list[EncodedFile]:
        """Run the task `encode_file` for each file, with its output and the folder for attempts."""


def count_files(
    engine: Engine,
    paths: PathLike | Sequence[PathLike],
    preset: str | pw.train.Preset | pw.train.Pipeline,
    settings: PartCountSettings,
    first_source: int,
    task_bytes: int,
) -> pw.Counts:
    """Count the words of files; raise `ArgumentError` for `sentences` with a size.

    Such a sample needs the whole corpus.
    """
    groups = file_groups(paths, task_bytes, first_source)
    if settings.rules.size:
        problem = "must be all sentences on a cluster; a sample draws a share of them"
        raise ArgumentError("sentences", problem)
    memory, num_threads = settings.memory or _TASK_MEMORY, settings.num_threads or 1
    of_tasks = vars(replace(settings, memory=memory, num_threads=num_threads))
    pipeline = pipeline_of_preset(preset)
    with engine.connected():
        table = engine.counted(engine.dumps({"preset": pipeline, **of_tasks}), groups)
    counts = counts_of_table(table, pipeline)
    warn_of_replacements(counts.replacements)
    return counts


def encode_files(
    engine: Engine,
    tokenizer: pw.Tokenizer,
    paths: PathLike | Sequence[PathLike],
    out_dir: PathLike,
    format: str,
    settings: EncodeSettings,
) -> list[EncodedFile]:
    """Encode each file into one file of a folder, in the order of the files."""
    check_tokenizer(tokenizer)
    files = files_of(paths)
    outputs = output_paths(files, out_dir, format)
    of_tasks = vars(replace(settings, num_threads=settings.num_threads or 1))
    pickled = engine.dumps((tokenizer, {"format": format, **of_tasks}))
    with _folder_for_attempts(out_dir) as attempts, engine.connected():
        tasks = [(*names, attempts) for names in zip(files, outputs, strict=True)]
        encoded = {file.output: file for file in engine.encoded(pickled, tasks)}
    return [encoded[output] for output in outputs]


def arguments_of_counting(
    preset: str | pw.train.Preset | pw.train.Pipeline, column: str, position_column: str | None
) -> tuple[list[str], dict[str, Any]]:
    """Return the columns to read, and the arguments of `count_batch` besides the batch."""
    columns = [column] if position_column is None else [column, position_column]
    pipeline = pipeline_of_preset(preset)
    return columns, {"column": column, "preset": pipeline, "position_column": position_column}


def arguments_of_encoding(
    tokenizer: pw.Tokenizer, column: str, ids_column: str, add_special_tokens: bool
) -> tuple[str, dict[str, Any]]:
    """Return the name of the column of ids, and the arguments of `encode_batch_column` besides the batch.

    Rows are not padded to the longest one of a batch, because batches depend on the engine.
    """
    check_tokenizer(tokenizer)
    padding = tokenizer.spec.padding
    if padding is not None and padding.length is None:
        tokenizer = tokenizer.without_padding()
    return ids_column, {
        "column": column,
        "tokenizer": tokenizer,
        "add_special_tokens": add_special_tokens,
    }


# ---- files of tasks


class FileGroup(NamedTuple):
    """Consecutive files of a corpus, and the number of the first one."""

    first_source: int
    paths: list[str]


def file_groups(
    paths: PathLike | Sequence[PathLike], task_bytes: int, first_source: int = 0
) -> list[FileGroup]:
    """Return the files of a corpus in groups, in order, with directories expanded."""
    check_positive("task_bytes", task_bytes)
    groups: list[FileGroup] = []
    size = task_bytes
    for source, path in enumerate(files_of(paths), first_source):
        if size >= task_bytes:
            groups.append(FileGroup(source, []))
            size = 0
        groups[-1].paths.append(path)
        size += Path(path).stat().st_size if Path(path).is_file() else 0
    return groups


def files_of(paths: PathLike | Sequence[PathLike]) -> list[str]:
    """Return all files as absolute paths, which workers with another current folder can open."""
    files = pw.corpus.corpus_files(paths)
    if "-" in files:
        raise ArgumentError("paths", "must be files: workers cannot read stdin")
    return [str(Path(path).absolute()) for path in files]


def output_paths(files: Sequence[str], folder: PathLike, format: str) -> list[str]:
    """Return the path of the encoded file of each input: `part-00000.parquet` and so on."""
    check_choice("format", format, pw.export.FORMATS)
    suffix = pw.export.FORMATS[format].suffix
    digits = max(5, len(str(len(files))))
    absolute = Path(file_path(folder, "out_dir", ArgumentError)).absolute()
    return [str(absolute / f"part-{index:0{digits}}{suffix}") for index in range(len(files))]


@contextmanager
def _folder_for_attempts(out_dir: PathLike) -> Iterator[str]:
    """Yield a hidden folder inside the output folder; delete it and what killed workers left in it."""
    with FileError.while_writing(out_dir):
        Path(out_dir).mkdir(parents=True, exist_ok=True)
        folder = tempfile.mkdtemp(prefix=".piecework-", dir=Path(out_dir).absolute())
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
