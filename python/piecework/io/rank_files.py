"""The encodings of published models, and their rank files on this machine; they are never downloaded."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

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
    """Return the path under which tiktoken's cache has the file of an address.

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


ENCODING_OF_MODEL: Final[Mapping[str, str]] = MappingProxyType(
    {
        model: encoding
        for encoding, models in {
            "o200k_base": "o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o",
            "cl100k_base": "gpt-4 gpt-3.5-turbo gpt-3.5 gpt-35-turbo davinci-002 babbage-002 "
            "text-embedding-ada-002 text-embedding-3-small text-embedding-3-large",
            "p50k_base": "text-davinci-003 text-davinci-002 code-davinci-002 code-davinci-001 "
            "code-cushman-002 code-cushman-001 davinci-codex cushman-codex",
            "p50k_edit": "text-davinci-edit-001 code-davinci-edit-001",
            "r50k_base": "text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 davinci curie "
            "babbage ada text-similarity-davinci-001 text-similarity-curie-001 "
            "text-similarity-babbage-001 text-similarity-ada-001 text-search-davinci-doc-001 "
            "text-search-curie-doc-001 text-search-babbage-doc-001 text-search-ada-doc-001 "
            "code-search-babbage-code-001 code-search-ada-code-001",
            "gpt2": "gpt2 gpt-2",
        }.items()
        for model in models.split()
    }
)

# The first prefix that matches decides.
ENCODING_OF_PREFIX: Final = (
    ("o1-", "o200k_base"),
    ("o3-", "o200k_base"),
    ("o4-mini-", "o200k_base"),
    ("gpt-5", "o200k_base"),
    ("gpt-4.5-", "o200k_base"),
    ("gpt-4.1-", "o200k_base"),
    ("chatgpt-4o-", "o200k_base"),
    ("gpt-4o-", "o200k_base"),
    ("gpt-4-", "cl100k_base"),
    ("gpt-3.5-turbo-", "cl100k_base"),
    ("gpt-35-turbo-", "cl100k_base"),
    ("gpt-oss-", "o200k_harmony"),
    ("ft:gpt-4o", "o200k_base"),
    ("ft:gpt-4", "cl100k_base"),
    ("ft:gpt-3.5-turbo", "cl100k_base"),
    ("ft:davinci-002", "cl100k_base"),
    ("ft:babbage-002", "cl100k_base"),
)


def encoding_of_model(name: str) -> str | None:
    """Return the name of the encoding of an OpenAI model, None for another name.

    >>> encoding_of_model("gpt-4o-mini"), encoding_of_model("bert-base-uncased")
    ('o200k_base', None)
    """
    if name in ENCODING_OF_MODEL:
        return ENCODING_OF_MODEL[name]
    for prefix, encoding in ENCODING_OF_PREFIX:
        if name.startswith(prefix):
            return encoding
    return None
