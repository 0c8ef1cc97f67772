"""Files read whole, with errors that name them."""

from __future__ import annotations

import os

from piecework.errors import FileError, FormatError


def file_bytes(path: str | os.PathLike[str], expected: str) -> bytes:
    """Read a file; raises `FileError`, which says what was `expected`, when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise FileError(os.fspath(path), reason(error), expected) from error


def text_lines(path: str | os.PathLike[str]) -> list[str]:
    """Read the lines of a small text file in UTF-8, without their ends.

    Raises `FileError` when it cannot be read, `FormatError` with the byte where it is not UTF-8.
    """
    data = file_bytes(path, "a readable text file")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        found = f"invalid UTF-8 at byte {error.start}"
        raise FormatError(os.fspath(path), found, "UTF-8 text") from error


def reason(error: OSError) -> str:
    """Return the system's words for an error, in lower case: "no such file or directory"."""
    return (error.strerror or str(error)).lower()
