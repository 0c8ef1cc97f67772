"""Read rows of ids: recognize the format by its first bytes and call its reader."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias, TypeVar

from piecework._internal.validation import PathLike, check_number, path_text
from piecework.errors import CorpusError, FileError, IdRangeError
from piecework.export.arrow_files import ARROW_READERS, ARROW_STREAM_MAGIC
from piecework.export.megatron_files import (
    MEGATRON_MAGIC,
    is_megatron_data,
    megatron_files,
    read_megatron,
)
from piecework.export.npy_files import NPY_MAGIC, read_npy
from piecework.export.text_files import read_text
from piecework.io.read_file import is_device

Rows: TypeAlias = list[list[int]]

Reader = TypeVar("Reader")

_ROWS_AT_ONCE = 8192
_TEXT_BYTES_AT_ONCE = 1 << 20
_HEAD_BYTES = 8

_PATH_READERS: dict[bytes, Callable[[str, int], Iterator[Rows]]] = {
    NPY_MAGIC: read_npy,
    MEGATRON_MAGIC[:_HEAD_BYTES]: read_megatron,
}


def read_ids(path: PathLike, *, id_limit: int = 2**32) -> Iterator[Rows]:
    """Yield the rows of ids in a file, in lists of bounded size.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ids.txt"
    >>> _ = path.write_text("5 6\\n\\n7\\n")
    >>> list(read_ids(path))
    [[[5, 6], [], [7]]]

    The first bytes of the file decide the format: lines of ids or of JSON objects with `ids` (both also
    with gzip or Zstandard), `.npy` with its row offsets, Arrow (file or stream), Parquet, Megatron-LM's
    `.bin` and `.idx` (either, or their common prefix). `-` is stdin. Memory is constant.

    Raises `IdRangeError` for an id that is not below `id_limit` and `CorpusError` for other content, with
    the line or row number from 1; `FileError`, `MissingExtraError`.
    """
    source = path_text(path)
    check_number("id_limit", id_limit, (int,), "int")
    if source == "-":
        yield from _rows_of_stdin(id_limit)
        return
    if is_megatron_data(source):
        source = megatron_files(source)[1]
    head = _head_of(source)
    if read_path := _reader_for(head, _PATH_READERS):
        yield from _checked(read_path(source, _ROWS_AT_ONCE), source, id_limit)
    elif read_stream := _reader_for(head, ARROW_READERS):
        with open(source, "rb") as stream:
            yield from _checked(read_stream(stream, source, _ROWS_AT_ONCE), source, id_limit)
    else:
        yield from read_text(source, id_limit, _TEXT_BYTES_AT_ONCE)


def _rows_of_stdin(id_limit: int) -> Iterator[Rows]:
    if sys.stdin is None:  # the process was started with a closed stdin
        raise FileError("<stdin>", "the stream is closed")
    stream = sys.stdin.buffer
    # One byte tells text from binary formats; waiting for more would block on a slow pipe.
    head = stream.peek(1)[:_HEAD_BYTES] if hasattr(stream, "peek") else b""
    if head.startswith((NPY_MAGIC, MEGATRON_MAGIC[:7])):
        problem = (
            "has one of the two files of npy or Megatron; "
            "give the path of the file, with the other one beside it"
        )
        raise CorpusError("<stdin>", problem)
    if head[:1] == ARROW_STREAM_MAGIC[:1]:
        head = ARROW_STREAM_MAGIC
    read = _reader_for(head, ARROW_READERS)
    if read is None:
        yield from read_text("-", id_limit, _TEXT_BYTES_AT_ONCE)
    else:
        yield from _checked(read(stream, "<stdin>", _ROWS_AT_ONCE), "<stdin>", id_limit)


def _reader_for(head: bytes, readers: Mapping[bytes, Reader]) -> Reader | None:
    return next((read for magic, read in readers.items() if head.startswith(magic)), None)


def _head_of(path: str) -> bytes:
    with FileError.while_reading(path):
        if is_device(os.stat(path).st_mode):
            raise FileError(path, "is a device, not a file of ids")
        with open(path, "rb") as stream:
            return stream.read(_HEAD_BYTES)


def _checked(row_lists: Iterator[Rows], name: str, id_limit: int) -> Iterator[Rows]:
    """Yield the rows; raises `IdRangeError` with the number of the row for an id out of range."""
    number = 0
    for rows in row_lists:
        for row in rows:
            number += 1
            if row and (min(row) < 0 or max(row) >= id_limit):
                wrong = next(id for id in row if not 0 <= id < id_limit)
                problem = f"must be ids from 0 to {id_limit - 1}, not {wrong}"
                raise IdRangeError(f"{name} row {number}", problem)
        yield rows
