"""Divide files among tasks: consecutive files with about the same number of bytes."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import piecework as pw
from piecework._internal.validation import PathLike, check_choice, check_positive, file_path
from piecework.errors import ArgumentError, FileError

TASK_BYTES = 256 << 20
"""Files are grouped until a group has this size in bytes as stored; larger files are groups of their own."""

_SUFFIXES = {
    "tokens": ".txt",
    "ids": ".txt",
    "jsonl": ".jsonl",
    "npy": ".npy",
    "arrow": ".arrow",
    "parquet": ".parquet",
    "megatron": ".bin",
}


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
    check_choice("format", format, _SUFFIXES)
    digits = max(5, len(str(len(files))))
    absolute = Path(file_path(folder, "out_dir", ArgumentError)).absolute()
    return [
        str(absolute / f"part-{index:0{digits}}{_SUFFIXES[format]}") for index in range(len(files))
    ]


@contextmanager
def folder_for_attempts(out_dir: PathLike) -> Iterator[str]:
    """Yield a hidden folder inside the output folder; delete it and what killed workers left in it."""
    with FileError.while_writing(out_dir, "a writable folder"):
        Path(out_dir).mkdir(parents=True, exist_ok=True)
        folder = tempfile.mkdtemp(prefix=".piecework-", dir=Path(out_dir).absolute())
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
