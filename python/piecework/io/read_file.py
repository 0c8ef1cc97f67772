"""Read whole files that end, and recognize files by identity and checksum; errors contain the path."""

from __future__ import annotations

import os
import stat
from typing import Any, BinaryIO

from piecework._internal._core import Xxh128
from piecework.errors import (
    FileError,
    FormatError,
    MemoryLimitError,
    PieceworkError,
    _Translation,
)

MAX_PIPE_BYTES = 1 << 29
"""The most bytes that are read from a pipe into one file in memory."""

# Paths of streams that the process already has: `/dev/stdin`, and `<(command)` of a shell.
_OPEN_STREAMS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


def file_bytes(path: str | os.PathLike[str], expected: str) -> bytes:
    """Return the bytes of a file, or of a pipe that the process has open, up to 512 MiB.

    Raises `FileError` with `expected` if it cannot be read or need not end, such as a device, and
    `MemoryLimitError` if it does not fit into memory.
    """
    name = os.fspath(path)
    with errors_of_reading(name):
        is_file = check_that_it_ends(name, expected)
        with open(path, "rb") as file:
            data = file.read() if is_file else file.read(MAX_PIPE_BYTES + 1)
    if not is_file and len(data) > MAX_PIPE_BYTES:
        problem = f"is a pipe with over {MAX_PIPE_BYTES} bytes, too many for {expected}"
        raise FileError(name, problem)
    return data


def json_object(source: str) -> dict[str, Any]:
    """Return the JSON object in a file; raises `FileError`, and `FormatError` for anything else."""
    import json

    data = file_bytes(source, "a JSON object")
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        problem = f"found invalid UTF-8 at byte {error.start}, expected a JSON object in UTF-8"
        raise FormatError(source, problem) from None
    except RecursionError:
        raise FormatError(source, "the values are nested too deeply") from None
    except ValueError as error:
        raise FormatError(source, f"is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise FormatError(source, f"found {type(value).__name__}, expected a JSON object")
    return value


def errors_of_reading(name: str) -> _Translation:
    """Return a context that raises `FileError`, or `MemoryLimitError` for a file that is too large."""

    def translated(error: BaseException) -> PieceworkError | None:
        if isinstance(error, MemoryError):
            return too_large(name)
        return FileError.reading(name, error) if isinstance(error, OSError) else None

    return _Translation(translated)


def exact_bytes(stream: BinaryIO, size: int, name: str) -> bytes:
    """Read `size` bytes of a file; raises `FileError`, also for a file that became shorter meanwhile."""
    with FileError.while_reading(name):
        data = stream.read(size)
    if len(data) < size:
        raise FileError(name, "is shorter than when it was opened")
    return data


def check_that_it_ends(path: str, expected: str) -> bool:
    """Return whether the path is a regular file; raise `FileError` if reading it may never end.

    >>> check_that_it_ends("/dev/zero", "a tokenizer file")
    Traceback (most recent call last):
        ...
    piecework.errors.FileError: /dev/zero: is a device, not a tokenizer file

    Devices need not end, and a named pipe may have no writer. Pipes that the process has open are accepted:
    `/dev/stdin`, and `<(command)` of a shell. Raises `OSError` for a path that does not exist.
    """
    mode = os.stat(path).st_mode
    if is_device(mode):
        raise FileError(path, f"is a device, not {expected}")
    is_open = os.path.abspath(path).startswith(_OPEN_STREAMS)
    if (stat.S_ISFIFO(mode) and not is_open) or stat.S_ISSOCK(mode):
        raise FileError(path, f"is a named pipe or a socket, not {expected} that is a regular file")
    return stat.S_ISREG(mode)


def is_device(mode: int) -> bool:
    """Return whether a mode of `os.stat` belongs to a device."""
    return stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


def too_large(name: str) -> MemoryLimitError:
    """Return the error for a file that does not fit into memory."""
    return MemoryLimitError(name, "does not fit into memory")


def text_lines(path: str | os.PathLike[str]) -> list[str]:
    """Return the lines of a small UTF-8 file, without their ends.

    Raises `FileError` if it cannot be read, `FormatError` with the byte offset of invalid UTF-8.
    """
    data = file_bytes(path, "a readable text file")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        problem = f"found invalid UTF-8 at byte {error.start}, expected UTF-8 text"
        raise FormatError(os.fspath(path), problem) from error


_READ_BYTES = 256 << 10


def file_identity(name: str) -> dict[str, Any]:
    """Return the absolute path of a file, its size in bytes and the time of its last change in nanoseconds.

    >>> file_identity("https://example.com/a.txt")
    {'name': 'https://example.com/a.txt'}

    Returns only the name of a URL or of a file that does not exist.
    """
    try:
        status = os.stat(name)
    except OSError:
        return {"name": name}
    return {"name": os.path.abspath(name), "size": status.st_size, "modified": status.st_mtime_ns}


def file_checksum(path: str | os.PathLike[str], *, sync: bool = False) -> str:
    """Return the XXH3 checksum (128 bits) of a file, as `xxh128sum` prints it.

    With `sync`, the content is on the disk when the function returns. Raises `FileError`.
    """
    digest = Xxh128()
    with FileError.while_reading(path), open(path, "r+b" if sync else "rb", buffering=0) as stream:
        while data := stream.read(_READ_BYTES):
            digest.update(data)
        if sync:
            os.fsync(stream.fileno())
    return digest.hexdigest()
