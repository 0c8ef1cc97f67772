"""Compiled caches: tokenizers with the tables that take long to build.

A cache is refused, with an error that says why, when it is damaged or when another version of this library
wrote it; one that is kept beside a source is made anew then, and when the source has changed.
"""

from __future__ import annotations

from piecework._core import Core, read_cache, write_cache
from piecework.errors import FileError, PieceworkError
from piecework.io.read_file import reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from piecework.spec import SpecialInText

Loaded: TypeAlias = "tuple[Core, SpecialInText]"

SUFFIX = ".pwc"


def cached(path: str) -> Loaded:
    """Load a cache, whatever it was made of."""
    try:
        return read_cache(path, path, None)
    except OSError as error:
        raise FileError(path, reason(error), "a compiled cache") from error


def through_cache(path: str, key: bytes, read: Callable[[], Loaded]) -> Loaded:
    """Load a cache that was made with this key; without one, read the source and write it if it can be."""
    try:
        found = read_cache(path, path, key)
    except (PieceworkError, OSError):
        found = None
    if found is not None:
        return found
    loaded = read()
    _write(path, write_cache(*loaded, key))
    return loaded


def _write(path: str, data: bytes) -> None:
    """Write a cache where that is possible."""
    from contextlib import suppress

    from piecework.io.atomic_files import whole_file

    with suppress(PieceworkError, OSError), whole_file(path) as temporary:
        temporary.write_bytes(data)
