"""How a saved state recognizes its files: by size and time, and by a checksum of the content."""

from __future__ import annotations

import os
from typing import Any

from piecework._internal._core import Xxh128
from piecework.errors import FileError

_READ_BYTES = 256 << 10


def file_identity(name: str) -> dict[str, Any]:
    """Return the absolute path of a file, its size in bytes and the time of its last change in nanoseconds.

    >>> file_identity("https://example.com/a.txt")
    {'name': 'https://example.com/a.txt'}

    Returns only the name of a URL or of a file that does not exist.
    """
    try:
        status = os.stat(name)
    except OSError:
        return {"name": name}
    return {"name": os.path.abspath(name), "size": status.st_size, "modified": status.st_mtime_ns}


def file_checksum(path: str | os.PathLike[str], *, sync: bool = False) -> str:
    """Return the XXH3 checksum (128 bits) of a file, as `xxh128sum` prints it.

    With `sync`, the content is on the disk when the function returns. Raises `FileError`.
    """
    digest = Xxh128()
    with FileError.while_reading(path), open(path, "r+b" if sync else "rb", buffering=0) as stream:
        while data := stream.read(_READ_BYTES):
            digest.update(data)
        if sync:
            os.fsync(stream.fileno())
    return digest.hexdigest()
