"""Keep other processes from using a folder, with a lock file in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from piecework.errors import FileError

if sys.platform != "win32":
    import fcntl

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
