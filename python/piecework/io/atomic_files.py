"""Write files atomically, to a temporary file that is then renamed; lock a folder that a run writes to."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from piecework.errors import FileError

if sys.platform != "win32":
    import fcntl

# `pathlib` is imported only to write: loading a tokenizer does not need it.

# Paths of open streams are written in place, not replaced.
_STREAM_NAMES = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path in the same directory; rename it to `path` on success, delete it on failure.

    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> with atomic_file(target) as temporary:
    ...     _ = temporary.write_text("whole")
    >>> target.read_text()
    'whole'

    An interrupt is a failure too. Symbolic links are followed. For a device, a pipe or an open stream, such
    as `/dev/null` or `/dev/stdout`, yields the path itself. Raises `FileError` with `path` if it is not
    writable, and for an `OSError` of the block, such as a full disk: what the block reads must raise
    errors of its own.
    """
    if _is_device(path):
        with FileError.while_writing(path):
            yield Path(path)
        return
    target = _resolved(path)
    with _temporary_beside(target, path) as temporary:
        with FileError.while_writing(path):
            yield temporary
        _rename(temporary, target, path)


@contextmanager
def atomic_stream(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a binary stream to a file that is written atomically, or to stdout for `-`."""
    if os.fspath(path) == "-":
        with FileError.while_writing("<stdout>"), _stdout() as stream:
            yield stream
        return
    with atomic_file(path) as temporary, temporary.open("wb") as stream:
        yield stream


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise `FileError` if `path` is not writable; call this before long work."""
    if os.path.isdir(path):
        message = "is a directory; give the name of a file"
        raise FileError(os.fspath(path), message, errno=errno.EISDIR)
    if not _is_device(path):
        with _temporary_beside(_resolved(path), path):
            pass


@contextmanager
def _stdout() -> Iterator[BinaryIO]:
    if sys.stdout is None:  # the process was started with a closed stdout
        raise FileError("<stdout>", "the stream is closed")
    stream = sys.stdout.buffer
    if isinstance(stream, io.RawIOBase):
        # With `python -u` the stream is unbuffered, and `write` can write only a part.
        with open(sys.stdout.fileno(), "wb", closefd=False) as buffered:
            yield buffered
        return
    yield stream
    stream.flush()


def _resolved(path: str | os.PathLike[str]) -> Path:
    return Path(os.path.realpath(path))


def _is_device(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a device, a pipe or the name of an open stream."""
    if os.path.abspath(path).startswith(_STREAM_NAMES):
        return True
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


@contextmanager
def _temporary_beside(target: Path, path: str | os.PathLike[str]) -> Iterator[Path]:
    """Create an empty file beside `target`; delete it at the end if it still has its name."""
    temporary = target.with_name(f".{os.urandom(8).hex()}.tmp")
    try:  # An interrupt can arrive as soon as the file exists.
        _create(temporary, path)
        yield temporary
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _create(temporary: Path, path: str | os.PathLike[str]) -> None:
    with FileError.while_writing(path):
        # Unlike the permissions of the tempfile module, these follow the umask.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))


def _rename(temporary: Path, target: Path, path: str | os.PathLike[str]) -> None:
    with FileError.while_writing(path):
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)


LOCK_FILE = "lock"


@contextmanager
def locked_folder(folder: Path, found: str) -> Iterator[None]:
    """Create a folder, lock it, and delete the lock file at the end.

    >>> import tempfile
    >>> with locked_folder(Path(tempfile.mkdtemp()) / "state", "a folder in use"):
    ...     pass

    The operating system releases the lock of a process that is killed. Raises `FileError` with `found` if
    another process has the lock. Windows has no such lock, and gets no file.
    """
    path = folder / LOCK_FILE
    with FileError.while_writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = None if sys.platform == "win32" else _opened_and_locked(path, folder, found)
    if lock is None:
        yield
        return
    with lock:
        try:
            yield
        finally:
            try:  # noqa: SIM105 (an interrupt can arrive within `suppress`, but not within `os.unlink`)
                os.unlink(path)
            except OSError:
                pass


def _opened_and_locked(path: Path, folder: Path, found: str) -> TextIO:
    while True:
        lock = open(path, "a")  # noqa: SIM115 (the caller closes it)
        try:
            fcntl.flock(lock.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            problem = f"is {found}; wait for it, or use another folder"
            raise FileError(str(folder), problem) from error
        # A process that ends deletes the file, perhaps between the two calls above.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(lock.fileno()), os.stat(path)):
                return lock
        lock.close()
