"""Open and list `fsspec` URLs, such as `s3://bucket/data/*.jsonl.gz`."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, BinaryIO, TypeVar

from piecework._internal.extras import import_extra
from piecework.errors import FileError, MissingExtraError

Result = TypeVar("Result")

# A scheme of one letter is a drive of Windows. A chain such as `simplecache::s3://a.txt` contains a URL.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(://|::.*://)")
_GLOB = re.compile(r"[*?\[]")


def is_url(name: str) -> bool:
    """Return whether a name is a URL and not a path.

    >>> is_url("s3://bucket/a.txt"), is_url("a.txt"), is_url("C:/a.txt")
    (True, False, False)
    """
    return _URL.match(name) is not None


def open_url(url: str, stack: ExitStack) -> BinaryIO:
    """Open a URL to read its bytes as stored; `stack` closes it.

    Raises `FileError`, and `MissingExtraError` if `fsspec` or the package for the scheme is not installed.
    """
    fs, path = _checked(url, lambda: _resolved(url))
    file = stack.enter_context(_checked(url, lambda: fs.open(path, "rb")))
    return io.BufferedReader(_RawUrl(url, fs, file))


def url_bytes(url: str) -> int:
    """Return the size of a URL in bytes, 0 if it is unknown."""

    def size() -> int:
        fs, path = _resolved(url)
        return int(fs.size(path) or 0)

    try:
        return _checked(url, size)
    except FileError:
        return 0


def files_of_glob(url: str) -> list[str]:
    """Return the URLs of the files that a pattern matches, sorted."""

    def found() -> list[str]:
        fs, path = _resolved(url)
        matches: dict[str, dict[str, Any]] = fs.glob(path, detail=True)
        return [name for name, info in matches.items() if info.get("type") != "directory"]

    return _urls(url, _checked(url, found))


def files_of_directory(url: str, is_included: Callable[[str], bool]) -> list[str] | None:
    """Return the URLs of files below a directory, sorted; None if the URL is no directory.

    `is_included` decides by the path below the directory, with slashes.
    """

    def found() -> list[str] | None:
        fs, path = _resolved(url)
        if not fs.isdir(path):
            return None
        names: list[str] = fs.find(path)
        return [name for name in names if is_included(name.removeprefix(path).lstrip("/"))]

    files = _checked(url, found)
    return None if files is None else _urls(url, files)


def has_glob(name: str) -> bool:
    """Return whether a path or URL contains `*`, `?` or `[`; a `?` of a URL begins its query.

    >>> has_glob("a/*.txt"), has_glob("https://host/a?b=c")
    (True, False)
    """
    if name.startswith(("http://", "https://")):
        name = name.partition("?")[0]
    return _GLOB.search(name) is not None


def _resolved(url: str) -> tuple[Any, str]:
    core = import_extra("fsspec.core", "fsspec", url)
    fs, path = core.url_to_fs(url)
    return fs, path


def _urls(url: str, paths: list[str]) -> list[str]:
    fs, _ = _resolved(url)
    outer = url.partition("::")[2]
    names = (fs.unstrip_protocol(path) for path in paths)
    return sorted(f"{name}::{outer}" if outer else name for name in names)


def _checked(url: str, action: Callable[[], Result]) -> Result:
    """Run an action on a file system; the exceptions of its package become `FileError`."""
    try:
        return action()
    except MissingExtraError:
        raise
    except ImportError as error:
        message = " ".join(str(error).split())
        raise MissingExtraError(url, message, "that package of fsspec's file systems") from error
    except Exception as error:
        raise FileError(url, _message(error), "a readable URL") from error


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return " ".join(str(error).split())[:200] or type(error).__name__


class _RawUrl(io.RawIOBase):
    """The stored bytes of a URL; the exceptions of its file system become `FileError`."""

    def __init__(self, url: str, fs: Any, file: Any) -> None:
        self._url = url
        self._fs = fs  # an archive closes its files when it is collected
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._file.seekable())

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return _checked(self._url, lambda: int(self._file.seek(offset, whence)))

    def tell(self) -> int:
        return int(self._file.tell())

    def readinto(self, buffer: Any, /) -> int:
        data = _checked(self._url, lambda: self._file.read(len(buffer)))
        buffer[: len(data)] = data
        return len(data)
