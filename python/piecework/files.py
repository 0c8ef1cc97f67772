"""Files written whole or not at all: a temporary name in the same directory, then a rename."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from piecework.errors import FileError


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside `path`; rename it on success, remove it on any failure.

    >>> target = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with whole_file(target) as temporary:
    ...     _ = temporary.write_text("whole")
    >>> target.read_text()
    'whole'

    An interrupt counts as a failure. Raises `FileError` when the path cannot be written.
    """
    target = Path(path)
    temporary = _temporary_beside(target)
    try:
        yield temporary
        _rename(temporary, target)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise `FileError` now if `path` could not be written later, before long work begins."""
    target = Path(path)
    if target.is_dir():
        raise FileError(str(target), "a directory", "the name of a file to write")
    _temporary_beside(target).unlink()


def _temporary_beside(target: Path) -> Path:
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise FileError(str(target), reason(error), "a path in a writable directory") from error
    os.close(handle)
    return Path(name)


def _rename(temporary: Path, target: Path) -> None:
    try:
        temporary.chmod(_mode_of(target))
        temporary.replace(target)
    except OSError as error:
        raise FileError(str(target), reason(error), "a path that can be written") from error


def _mode_of(target: Path) -> int:
    """Return the mode of the file to be replaced, or what a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def reason(error: OSError) -> str:
    """Return the system's words for an error, in lower case: "no such file or directory"."""
    return (error.strerror or str(error)).lower()
