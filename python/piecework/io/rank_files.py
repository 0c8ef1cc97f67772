"""Where the rank files of the published encodings are on this machine; they are never downloaded."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from piecework.errors import FileError

if TYPE_CHECKING:
    from piecework.spec import NamedEncoding

_OWN_FOLDER = "PIECEWORK_TIKTOKEN_DIR"
_TIKTOKEN_FOLDERS = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")


class Package(NamedTuple):
    """A package that carries rank files under the names of tiktoken's cache, in a folder of a module."""

    name: str
    module: str
    folder: str
    rank_files: tuple[str, ...]


PACKAGES = (
    Package(
        "litellm",
        "litellm",
        "litellm_core_utils/tokenizers",
        ("cl100k_base.tiktoken", "o200k_base.tiktoken", "p50k_base.tiktoken"),
    ),
    Package(
        "llama-index-core",
        "llama_index",
        "core/_static/tiktoken_cache",
        ("cl100k_base.tiktoken", "o200k_base.tiktoken"),
    ),
)
"""As of litellm 1.110 and llama-index-core 0.14."""


def find_rank_file(encoding: NamedEncoding) -> str:
    """Return the path of the rank file of an encoding.

    It is in the folder of this library, in tiktoken's cache, or in an installed package that carries it. No
    package is imported. Raises `FileError`, which says where to put the file and which packages carry it, if
    it is nowhere.
    """
    for path in _candidate_paths(encoding):
        if os.path.isfile(path):
            return path
    found = f"no file of the encoding {encoding.name!r} (rank files are never downloaded)"
    expected = (
        f"the file published at {encoding.url}, in the folder named by {_OWN_FOLDER} or "
        f"passed as a path{_packages_with(encoding)}"
    )
    raise FileError(encoding.rank_file, f"there is {found}; get {expected}", errno=errno.ENOENT)


def find_cached_file(url: str) -> str:
    """Return the path of the file in tiktoken's cache that holds what an address has.

    Raises `FileError` if there is none.
    """
    path = _cached_path(url)
    if not os.path.isfile(path):
        problem = "is not in the cache of tiktoken, and nothing is downloaded"
        hint = f"pass a path, or put the file at {path}"
        raise FileError(url, problem, hint=hint, errno=errno.ENOENT)
    return path


def _candidate_paths(encoding: NamedEncoding) -> Iterator[str]:
    cached = _cached_path(encoding.url)
    if folder := os.environ.get(_OWN_FOLDER):
        yield os.path.join(folder, encoding.rank_file)
        yield os.path.join(folder, f"{encoding.rank_file}.gz")
        yield os.path.join(folder, os.path.basename(cached))
    yield cached
    for package in PACKAGES:
        if encoding.rank_file in package.rank_files:
            for folder in _folders_of_module(package.module):
                yield os.path.join(folder, package.folder, os.path.basename(cached))


def _folders_of_module(name: str) -> list[str]:
    """Return the folders of an installed package, without importing it."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):  # a module that is half imported, or blocked
        return []
    return list(spec.submodule_search_locations or ()) if spec is not None else []


def _packages_with(encoding: NamedEncoding) -> str:
    names = [package.name for package in PACKAGES if encoding.rank_file in package.rank_files]
    return f", or install a package that carries it: {' or '.join(names)}" if names else ""


def _cached_path(url: str) -> str:
    """Return where tiktoken's cache keeps the file of an address."""
    import hashlib
    import tempfile

    name = hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()
    caches = (os.environ[each] for each in _TIKTOKEN_FOLDERS if each in os.environ)
    default = os.path.join(tempfile.gettempdir(), "data-gym-cache")
    return os.path.join(next(caches, default), name)
