"""Read and write compiled caches (`.pwc`): tokenizers with their built tables.

The core rejects a cache that is damaged or that another version of this library wrote.
`read_through_cache` replaces such a cache, and one whose key differs because the source file or the load
options changed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from piecework._core import Core, read_cache, write_cache
from piecework.errors import FileError, PieceworkError
from piecework.io.read_file import check_that_it_ends

if TYPE_CHECKING:
    from piecework.spec import ParseSpecial

CoreAndSpecial: TypeAlias = "tuple[Core, ParseSpecial]"
"""A compiled core, and the `parse_special` of its tokenizer."""

SUFFIX = ".pwc"


def read_compiled(path: str) -> CoreAndSpecial:
    """Read a compiled cache; raises `FileError`, and `FormatError` for one that is not valid."""
    with FileError.while_reading(path):
        check_that_it_ends(path, "a compiled cache")
        return read_cache(path, source=path, key=None)


def read_through_cache(
    path: str, key: bytes, read_source: Callable[[], CoreAndSpecial]
) -> CoreAndSpecial:
    """Read a cache if its stored key equals `key`; otherwise read the source and write the cache.

    `key` is the digest of the source file and the load options.
    """
    try:
        check_that_it_ends(path, "a compiled cache")
        cached = read_cache(path, source=path, key=key)
    except (PieceworkError, OSError):
        cached = None
    if cached is not None:
        return cached
    loaded = read_source()
    _write_if_possible(path, loaded, key)
    return loaded


def _write_if_possible(path: str, loaded: CoreAndSpecial, key: bytes) -> None:
    from piecework.io.atomic_files import atomic_file

    with suppress(PieceworkError, OSError), atomic_file(path) as temporary:
        temporary.write_bytes(write_cache(*loaded, key))
