"""Caches: tokenizers with the tables that take long to build, mapped into memory when they are loaded.

A cache is refused, with an error that says why, when it is damaged or when another version of this library
wrote it; one that is kept beside a source is made anew then, and when the source has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from piecework._core import Core, read_cache, write_cache
from piecework.errors import FileError, PieceworkError
from piecework.files import reason, whole_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from piecework.spec import SpecialInText

Loaded: TypeAlias = "tuple[Core, SpecialInText]"

SUFFIX = ".pwc"


def cached(path: str) -> Loaded:
    """Load a cache, whatever it was made of."""
    with _system_errors_told(path):
        return read_cache(path, path, None)


def through_cache(path: str, key: bytes, read: Callable[[], Loaded]) -> Loaded:
    """Load a cache that was made with this key; without one, read the source and write it if it can be."""
    with suppress(PieceworkError), _system_errors_told(path):
        found = read_cache(path, path, key)
        if found is not None:
            return found
    loaded = read()
    with suppress(PieceworkError, OSError), whole_file(path) as temporary:
        temporary.write_bytes(write_cache(*loaded, key))
    return loaded


@contextmanager
def _system_errors_told(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileError(path, reason(error), "a cache") from error
