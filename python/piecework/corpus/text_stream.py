"""Read one input as a stream of text bytes, and the stream as complete lines.

The input is a file, URL, pipe or stdin. It is decompressed, and binary data is rejected.
"""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from piecework._internal.binary_data import binary_kind
from piecework._internal.memory_budget import available_memory
from piecework.corpus.compression import MAGIC_BYTES, decompressed_if_needed
from piecework.corpus.urls import is_url, open_url, url_bytes
from piecework.errors import CorpusError, FileError, MemoryLimitError
from piecework.io.read_file import errors_of_reading, is_device

MAX_LINE_BYTES = 1 << 30
# Encoding a line takes up to 32 times its size with a Unigram model, and 40 times after another long line.
MEMORY_SHARE = 48
# With offsets, as for `jsonl`, encoding takes up to 72 times the size.
MEMORY_SHARE_WITH_OFFSETS = 96
_MIN_LINE_BYTES = 4 << 20
# Lines up to this size are read however well they were compressed, and encoded beside others.
SHORT_LINE_BYTES = 16 << 20
# gzip compresses equal bytes by a factor of up to 1,032, bzip2 by over a million; text by 3 to 10.
MAX_COMPRESSION_RATIO = 200
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class TextStream:
    """The decompressed bytes of one input; reading binary data raises `CorpusError`.

    With `at_once`, `read` on a pipe or a terminal returns the bytes that have arrived and does not wait for
    `size` bytes. A program that writes one line and waits for the answer then receives it. `name` is the
    name of the input in errors.
    """

    def __init__(self, path: str, stack: ExitStack, *, at_once: bool = False) -> None:
        self.name = "<stdin>" if path == "-" else path
        with errors_of_reading(self.name):
            self._stored = StoredBytes(open_stored(path, stack), at_once=at_once)
        self._text = decompressed_if_needed(self._stored, self.name)
        self._is_checked = False

    def seek(self, byte_offset: int) -> bool:
        """Continue at an offset of the text; return False, and read on, for compressed data and pipes."""
        if self._text is not self._stored:
            return False
        with errors_of_reading(self.name):
            return self._stored.seek(byte_offset)

    @property
    def bytes_read(self) -> int:
        """The number of stored bytes read so far."""
        return self._stored.bytes_read

    @property
    def is_idle(self) -> bool:
        """Whether the next `read` would block."""
        return self._stored.is_idle

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes; returns no bytes only at the end.

        Raises `CorpusError` for binary data and damaged compressed data, `FileError` if reading fails.
        """
        with errors_of_reading(self.name):
            data = self._text.read(size)
        if not self._is_checked:
            rejection = binary_kind(data)
            if rejection is not None:
                found, expected, reason = rejection
                raise CorpusError(self.name, f"found {found}, expected {expected}", kind=reason)
            self._is_checked = True
        return data


class StoredBytes:
    """A stream of stored bytes that counts them; `head` has the first bytes."""

    def __init__(self, stream: BinaryIO, *, at_once: bool = False) -> None:
        self._stream = stream
        self._pipe = _pipe_of(stream) if at_once else None
        self._ahead = b""
        self.bytes_read = 0
        self.head = self._read_head()
        self._ahead = self.head

    @property
    def is_idle(self) -> bool:
        """Whether the next `read` would block."""
        return not self._ahead and self._is_empty_pipe()

    def read(self, size: int = -1) -> bytes:
        """Read up to `size` bytes, none only at the end; with `at_once`, do not wait for more."""
        data, self._ahead = self._ahead, b""
        if 0 <= size < len(data):
            data, self._ahead = data[:size], data[size:]
        while (size < 0 or len(data) < size) and not (data and self._is_empty_pipe()):
            more = self._read_some(size - len(data) if size >= 0 else -1)
            if not more:
                break
            data += more
        self.bytes_read += len(data)
        return data

    def seek(self, byte_offset: int) -> bool:
        """Continue at an offset, from which `bytes_read` counts; return False if the stream cannot."""
        if not self._stream.seekable():
            return False
        self._stream.seek(byte_offset)
        self._ahead = b""
        self.bytes_read = byte_offset
        return True

    def _read_head(self) -> bytes:
        """Read only as many bytes as are needed to recognize compressed data."""
        head = b""
        while any(magic.startswith(head) and magic != head for magic in MAGIC_BYTES):
            more = self._read_some(max(map(len, MAGIC_BYTES)) - len(head))
            if not more:
                break
            head += more
        return head

    def _read_some(self, size: int) -> bytes:
        if self._pipe is None or size < 0:
            return self._stream.read(size)
        return self._stream.read1(size)  # type: ignore[attr-defined, no-any-return]

    def _is_empty_pipe(self) -> bool:
        return self._pipe is not None and not select.select([self._pipe], [], [], 0)[0]


def open_stored(path: str, stack: ExitStack) -> BinaryIO:
    """Open a file or URL, which `stack` closes, or return stdin for `-`; the bytes are those stored."""
    if is_url(path):
        return open_url(path, stack)
    if path != "-":
        _check_no_device(path)
        return stack.enter_context(open(path, "rb"))
    if sys.stdin is None:  # started with a closed stdin
        raise FileError("<stdin>", "the stream is closed")
    return sys.stdin.buffer


def _check_no_device(path: str) -> None:
    """Raise `FileError` for a device other than a terminal; pipes are streams of text."""
    if not is_device(os.stat(path).st_mode):
        return
    with open(path, "rb", buffering=0) as stream:
        if not stream.isatty():
            raise FileError(path, "is a device, not a text file, a pipe or a terminal")


def stored_bytes(path: str) -> int:
    """Return the size of a file or URL in bytes; 0 if it is unknown."""
    return url_bytes(path) if is_url(path) else Path(path).stat().st_size


def _pipe_of(stream: BinaryIO) -> int | None:
    """Return the descriptor of a pipe, socket or terminal that `select` supports, otherwise None."""
    try:
        descriptor = stream.fileno()
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
    except (OSError, ValueError):  # streams of tests and notebooks have no descriptor
        return None
    return None if is_file or os.name == "nt" or not hasattr(stream, "read1") else descriptor


# ---- lines of a stream


def line_blocks(
    stream: TextStream, read_bytes: int, memory_share: int = MEMORY_SHARE
) -> Iterator[tuple[int, bytes]]:
    """Yield the complete lines of each read of `read_bytes`, after the number of the first, from 1.

    Only the last block may lack a line end.

    A pipe returns fewer bytes if it has no more now. Raises `MemoryLimitError` for a line over a
    `memory_share`th of the memory of the process, and `CorpusError` for one over 1 GiB, and for a line over
    16 MiB that has more than 200 times the compressed bytes that were read.
    """
    limit = max_line_bytes(memory_share)
    pending = bytearray()
    first_line = 1
    while chunk := stream.read(read_bytes):
        end = chunk.rfind(b"\n") + 1
        if end:
            block = b"".join((pending, memoryview(chunk)[:end]))
            pending = bytearray(chunk[end:])
            yield first_line, block
            first_line += _line_count(block)
        else:
            pending += chunk
        if len(pending) > SHORT_LINE_BYTES or len(pending) > limit:
            place = f"{stream.name} line {first_line}"
            check_size(len(pending), memory_share, stream, place)
    if pending:
        last, pending = bytes(pending), bytearray()
        yield first_line, last


def max_line_bytes(memory_share: int = MEMORY_SHARE) -> int:
    """Return the size of the longest line to read: a share of the memory, from 4 MiB to 1 GiB."""
    return min(max(available_memory() // memory_share, _MIN_LINE_BYTES), MAX_LINE_BYTES)


def check_size(
    size: int,
    memory_share: int,
    stream: TextStream,
    place: str,
    *,
    is_document: bool = False,
    advice: str = "divide it",
) -> None:
    """Raise if a line or document of `size` bytes, which was read in part, is too long; see `line_blocks`."""
    longer, over = (
        ("has a document of over",) * 2 if is_document else ("is longer than", "has over")
    )
    reason = f"a {'document' if is_document else 'line'} that is too long"
    limit = max_line_bytes(memory_share)
    if size > limit:
        error = CorpusError if limit == MAX_LINE_BYTES else MemoryLimitError
        of_memory = (
            "" if limit == MAX_LINE_BYTES else f", 1/{memory_share} of the memory of the process"
        )
        raise error(place, f"{longer} {limit} bytes{of_memory}; {advice}", kind=reason)
    if size > max(SHORT_LINE_BYTES, MAX_COMPRESSION_RATIO * stream.bytes_read):
        problem = (
            f"{over} {size} bytes from {stream.bytes_read} "
            f"compressed bytes, more than {MAX_COMPRESSION_RATIO} times as many"
        )
        raise CorpusError(place, problem, kind=reason)


def _line_count(block: bytes) -> int:
    """Return the number of line ends; for short lines, in a quarter of the time of `bytes.count`."""
    import numpy as np

    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))


def line_lists(stream: TextStream, read_bytes: int) -> Iterator[list[bytes]]:
    """Yield the lines of each block, without their ends."""
    for _, block in line_blocks(stream, read_bytes):
        yield block.removesuffix(b"\n").split(b"\n")
