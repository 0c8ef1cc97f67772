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
    raise FileError(encoding.rank_file, found, expected, errno.ENOENT)


def _candidate_paths(encoding: NamedEncoding) -> Iterator[str]:
    import hashlib
    import tempfile

    cached_name = hashlib.sha1(encoding.url.encode(), usedforsecurity=False).hexdigest()
    if folder := os.environ.get(_OWN_FOLDER):
        yield os.path.join(folder, encoding.rank_file)
        yield os.path.join(folder, f"{encoding.rank_file}.gz")
        yield os.path.join(folder, cached_name)
    caches = (os.environ[name] for name in _TIKTOKEN_FOLDERS if name in os.environ)
    default = os.path.join(tempfile.gettempdir(), "data-gym-cache")
    yield os.path.join(next(caches, default), cached_name)
