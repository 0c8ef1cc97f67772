"""Lines in, with `-` for stdin; outputs looked at before the work."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import BinaryIO, NamedTuple

import piecework as pw
from piecework.files import check_writable, whole_stream
from piecework.reading import reason

_BATCH_LINES = 8192
_BATCH_BYTES = 4 << 20


class Line(NamedTuple):
    """One line without its end, and where it stands for messages: "a.txt line 3"."""

    data: bytes
    place: str


def save_tokenizer(tokenizer: pw.Tokenizer, path: str) -> None:
    """Write a tokenizer file, or a `tokenizer.json` to stdout for `-`."""
    if path != "-":
        tokenizer.save(path)
        return
    with whole_stream("-") as stream:
        stream.write(tokenizer.to_json().encode() + b"\n")


def check_output(path: str) -> None:
    """Complain about a path that cannot be written before the work, not after it."""
    if path != "-":
        check_writable(path)


def line_batches(paths: Sequence[str]) -> Iterator[list[Line]]:
    """Give the lines of files in batches of bounded size, one line at a time from a terminal."""
    batch: list[Line] = []
    batch_bytes = 0
    limit = 1 if "-" in paths and _stdin().isatty() else _BATCH_LINES
    for line in _lines(paths):
        batch.append(line)
        batch_bytes += len(line.data)
        if len(batch) >= limit or batch_bytes >= _BATCH_BYTES:
            yield batch
            batch, batch_bytes = [], 0
    if batch:
        yield batch


def text_of(line: Line, errors: str) -> str:
    """Decode a line; invalid UTF-8 becomes U+FFFD, or an error with its byte under "strict"."""
    try:
        return line.data.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        found = f"invalid UTF-8 at byte {error.start} of the line"
        raise pw.errors.InvalidUtf8Error(line.place, found, "UTF-8 text") from error


def _lines(paths: Sequence[str]) -> Iterator[Line]:
    for path in paths:
        name = "<stdin>" if path == "-" else path
        try:
            with nullcontext(_stdin()) if path == "-" else open(path, "rb") as stream:
                for number, line in enumerate(stream, start=1):
                    yield Line(line.rstrip(b"\r\n"), f"{name} line {number}")
        except OSError as error:
            raise pw.errors.FileError(name, reason(error), "a readable file") from error


def _stdin() -> BinaryIO:
    if sys.stdin is None:  # started with a closed stdin
        raise pw.errors.FileError("<stdin>", "a closed stream", "text")
    return sys.stdin.buffer
