"""Read whole files; errors contain the path."""

from __future__ import annotations

import os

from piecework.errors import FileError, FormatError


def file_bytes(path: str | os.PathLike[str], expected: str) -> bytes:
    """Return the bytes of a file; raises `FileError` with `expected` if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise FileError(os.fspath(path), reason(error), expected, error.errno) from error


def text_lines(path: str | os.PathLike[str]) -> list[str]:
    """Return the lines of a small UTF-8 file, without their ends.

    Raises `FileError` if it cannot be read, `FormatError` with the byte offset of invalid UTF-8.
    """
    data = file_bytes(path, "a readable text file")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        found = f"invalid UTF-8 at byte {error.start}"
        raise FormatError(os.fspath(path), found, "UTF-8 text") from error


def reason(error: OSError) -> str:
    """Return the message of the operating system in lower case: "no such file or directory"."""
    # Arrow puts a text of its own before the message.
    return (os.strerror(error.errno) if isinstance(error.errno, int) else str(error)).lower()
