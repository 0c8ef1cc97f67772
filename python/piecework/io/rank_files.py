"""Where the rank files of the published encodings are on this machine; they are never downloaded."""

from __future__ import annotations

import errno
import os

from piecework.errors import FileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from piecework.spec import NamedEncoding

_OWN_FOLDER = "PIECEWORK_TIKTOKEN_DIR"
_TIKTOKEN_FOLDERS = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")


def find_rank_file(encoding: NamedEncoding) -> str:
    """Return the path of the rank file of an encoding: in the folder of this library, or tiktoken's cache.

    Raises `FileError`, which says where to put the file, if it is in none of the folders.
    """
    for path in _candidate_paths(encoding):
        if os.path.isfile(path):
            return path
    found = f"no file of the encoding {encoding.name!r} (rank files are never downloaded)"
    expected = (
        f"the file published at {encoding.url}, in the folder named by {_OWN_FOLDER} or "
        "passed as a path"
    )
    raise FileError(encoding.rank_file, f": there is {found}; get {expected}", errno=errno.ENOENT)


def find_cached_file(url: str) -> str:
    """Return the path of the file in tiktoken's cache that holds what an address has.

    Raises `FileError` if there is none.
    """
    path = _cached_path(url)
    if not os.path.isfile(path):
        problem = (
            "is not in the cache of tiktoken, and nothing is downloaded; "
            f"pass a path, or put the file at {path}"
        )
        raise FileError(url, problem, errno=errno.ENOENT)
    return path


def _candidate_paths(encoding: NamedEncoding) -> Iterator[str]:
    cached = _cached_path(encoding.url)
    if folder := os.environ.get(_OWN_FOLDER):
        yield os.path.join(folder, encoding.rank_file)
        yield os.path.join(folder, f"{encoding.rank_file}.gz")
        yield os.path.join(folder, os.path.basename(cached))
    yield cached


def _cached_path(url: str) -> str:
    """Return where tiktoken's cache keeps the file of an address."""
    import hashlib
    import tempfile

    name = hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()
    caches = (os.environ[each] for each in _TIKTOKEN_FOLDERS if each in os.environ)
    default = os.path.join(tempfile.gettempdir(), "data-gym-cache")
    return os.path.join(next(caches, default), name)
