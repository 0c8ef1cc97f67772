"""Where the rank files of the published encodings are on this machine."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from piecework.errors import FileError
from piecework.spec import NamedEncoding

_OWN_FOLDER = "PIECEWORK_TIKTOKEN_DIR"
_TIKTOKEN_FOLDERS = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")


def find_rank_file(encoding: NamedEncoding) -> str:
    """Return the path of the rank file of an encoding.

    Raises `FileError`, which says where to put the file, if it is in none of the folders.
    """
    for path in _candidate_paths(encoding):
        if path.is_file():
            return str(path)
    expected = (
        f"the file published at {encoding.url}, in the folder named by {_OWN_FOLDER} or "
        "passed as ranks="
    )
    raise FileError(encoding.rank_file, "no such file (rank files are never downloaded)", expected)


def _candidate_paths(encoding: NamedEncoding) -> Iterator[Path]:
    cached_name = hashlib.sha1(encoding.url.encode(), usedforsecurity=False).hexdigest()
    if folder := os.environ.get(_OWN_FOLDER):
        yield Path(folder, encoding.rank_file)
        yield Path(folder, f"{encoding.rank_file}.gz")
        yield Path(folder, cached_name)
    caches = (os.environ[name] for name in _TIKTOKEN_FOLDERS if name in os.environ)
    yield Path(next(caches, str(Path(tempfile.gettempdir(), "data-gym-cache"))), cached_name)
