"""Open and list `fsspec` URLs, such as `s3://bucket/data/*.jsonl.gz`."""

from __future__ import annotations

import errno
import io
import re
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from typing import Any, BinaryIO, TypeVar, cast

from piecework._internal.extras import import_extra
from piecework.errors import FileError, MissingExtraError
from piecework.io.read_file import file_identity

Result = TypeVar("Result")

# A scheme of one letter is a drive of Windows. A chain such as `simplecache::s3://a.txt` contains a URL.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(://|::.*://)")
_GLOB = re.compile(r"[*?\[]")
# One request reads this much of a text. The default of s3fs, 50 MB, exceeds small memory budgets.
_BLOCK_BYTES = 16 << 20
# Their paths begin with the name of a bucket.
_BUCKETS = {"s3", "s3a", "gs", "gcs"}
# By file system, the field of a file that changes with its content.
_VERSIONS = (
    "ETag",
    "etag",
    "blob_id",
    "md5Hash",
    "content_md5",
    "LastModified",
    "mtime",
    "created",
)


def is_url(name: str) -> bool:
    """Return whether a name is a URL and not a path.

    >>> is_url("s3://bucket/a.txt"), is_url("a.txt"), is_url("C:/a.txt")
    (True, False, False)
    """
    return _URL.match(name) is not None


def open_url(url: str, stack: ExitStack, *, in_ranges: bool = False) -> BinaryIO:
    """Open a URL to read its bytes as stored, in blocks; `stack` closes it.

    With `in_ranges`, each read requests the bytes that are read, and no more, if the scheme has ranges.
    Raises `FileError`, and `MissingExtraError` if `fsspec` or the package for the scheme is not installed.
    """
    fs, path = _checked(url, lambda: _resolved(url))
    settings = {"cache_type": "none"} if in_ranges else {"block_size": _BLOCK_BYTES}

    def opened() -> Any:
        try:
            return fs.open(path, "rb", **settings)
        except TypeError:  # a file system without caches
            return fs.open(path, "rb")

    raw: Any = _RawUrl(url, fs, stack.enter_context(_checked(url, opened)))
    return cast("BinaryIO", raw) if in_ranges else io.BufferedReader(raw)


def url_bytes(url: str) -> int:
    """Return the size of a URL in bytes, 0 if it is unknown."""

    def size() -> int:
        fs, path = _resolved(url)
        return int(fs.size(path) or 0)

    try:
        return _checked(url, size)
    except FileError:
        return 0


def identity_of(name: str) -> dict[str, Any]:
    """Return what tells whether a file or a URL has changed, as JSON data.

    >>> identity_of("memory://nowhere.txt")
    {'name': 'memory://nowhere.txt'}
    """
    return url_identity(name) if is_url(name) else file_identity(name)


def url_identity(url: str) -> dict[str, Any]:
    """Return a URL, with the size and the version (such as an ETag) of its content where they are known.

    >>> url_identity("memory://nowhere.txt")
    {'name': 'memory://nowhere.txt'}
    """
    try:
        fs, path = _checked(url, lambda: _resolved(url))
        known: dict[str, Any] = _checked(url, lambda: fs.info(path))
    except FileError:
        return {"name": url}
    identity: dict[str, Any] = {"name": url}
    if isinstance(known.get("size"), int):
        identity["size"] = known["size"]
    versions = (known[name] for name in _VERSIONS if known.get(name))
    if (version := next(versions, None)) is not None:
        identity["version"] = str(version)
    return identity


def forget_listings(names: Iterable[str]) -> None:
    """Make the file systems of URLs list their files again, because they remember earlier listings."""
    for url in filter(is_url, names):
        fs, _ = _checked(url, partial(_resolved, url))
        fs.invalidate_cache()


def files_of_glob(url: str) -> list[str]:
    """Return the URLs of the files that a pattern matches, sorted."""

    def found() -> list[str]:
        fs, path = _resolved(url)
        matches: dict[str, dict[str, Any]] = fs.glob(path, detail=True)
        if not matches:
            _check_bucket(url)
        return [name for name, info in matches.items() if info.get("type") != "directory"]

    return _urls(url, _checked(url, found))


def files_of_directory(url: str, is_included: Callable[[str], bool]) -> list[str] | None:
    """Return the URLs of files below a directory, sorted; None if the URL is not a directory.

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
    except (FileError, MissingExtraError):
        raise
    except ImportError as error:
        message = " ".join(str(error).split())
        problem = f"needs another package of fsspec's file systems: {message}"
        raise MissingExtraError(url, problem) from error
    except Exception as error:
        if isinstance(error, FileNotFoundError):
            _check_bucket(url)
        raise _file_error(url, error) from error


def _check_bucket(url: str) -> None:
    """Raise `FileError` if the bucket that a URL names does not exist."""
    scheme = url.partition("://")[0]
    if scheme not in _BUCKETS:
        return
    fs, path = _resolved(url)
    bucket = path.partition("/")[0]
    try:
        exists = fs.exists(bucket)
    except Exception:  # the error that led here says more
        return
    if not exists:
        message = f"there is no bucket {bucket!r} that these credentials can read"
        raise FileError(url, message, errno=errno.ENOENT)


def _file_error(url: str, error: Exception) -> FileError:
    reason, hint = _reason(error), ""
    if type(error).__name__ == "FileExpired":
        reason, hint = "the file changed while it was read", "run again"
    # botocore's NoCredentialsError and PartialCredentialsError, google.auth's DefaultCredentialsError
    elif isinstance(error, PermissionError) or "Credentials" in type(error).__name__:
        hint = "put credentials for it into the environment"
    return FileError(url, f"cannot be read: {reason}", hint=hint, errno=_errno(error))


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return " ".join(str(error).split())[:200] or type(error).__name__


def _errno(error: Exception) -> int | None:
    """Return the error number; packages also raise `FileNotFoundError` and `PermissionError` without one."""
    if isinstance(error, FileNotFoundError):
        return error.errno or errno.ENOENT
    if isinstance(error, PermissionError):
        return error.errno or errno.EACCES
    return error.errno if isinstance(error, OSError) else None


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
