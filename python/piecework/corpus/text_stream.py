"""Open one input as a stream of text bytes: a file, a pipe or stdin, decompressed, never binary data."""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import BinaryIO

from piecework.corpus.compression import MAGIC_BYTES, decompressed
from piecework.corpus.recognize import refuse_binary
from piecework.errors import FileError, PieceworkError
from piecework.io.read_file import reason


class TextStream:
    """The decompressed bytes of one input, refused when they turn out to be binary.

    With `at_once`, `read` on a pipe or a terminal returns what has arrived instead of waiting for `size`
    bytes, so that a program that writes a line and waits for its answer gets it. Errors call the input
    `name`.
    """

    def __init__(self, path: str, stack: ExitStack, *, at_once: bool = False) -> None:
        self.name = "<stdin>" if path == "-" else path
        with self._naming_the_file():
            self._stored = StoredBytes(_opened(path, stack), at_once=at_once)
        self._text = decompressed(self._stored, self.name)
        self._is_checked = False

    @property
    def bytes_read(self) -> int:
        """How many bytes of the file, as stored, have been read."""
        return self._stored.bytes_read

    @property
    def is_idle(self) -> bool:
        """Whether the next `read` would wait for somebody to write."""
        return self._stored.is_idle

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes, none only at the end.

        Raises `CorpusError` for binary data and for damaged compressed data, `FileError` when reading fails.
        """
        with self._naming_the_file():
            data = self._text.read(size)
        if not self._is_checked:
            refuse_binary(data, self.name)
            self._is_checked = True
        return data

    @contextmanager
    def _naming_the_file(self) -> Iterator[None]:
        try:
            yield
        except PieceworkError:
            raise
        except OSError as error:
            raise FileError(self.name, reason(error), "a readable text file") from error


class StoredBytes:
    """The bytes of a file as stored: counted, with the first of them in `head`."""

    def __init__(self, stream: BinaryIO, *, at_once: bool = False) -> None:
        self._stream = stream
        self._pipe = _pipe_of(stream) if at_once else None
        self._ahead = b""
        self.bytes_read = 0
        self.head = self._read_head()
        self._ahead = self.head

    @property
    def is_idle(self) -> bool:
        """Whether the next `read` would wait for somebody to write."""
        return not self._ahead and self._is_empty_pipe()

    def read(self, size: int = -1) -> bytes:
        """Read up to `size` bytes, none only at the end; from a pipe read `at_once`, what has arrived."""
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

    def _read_head(self) -> bytes:
        """Read the first bytes, no more of them than it takes to see that they are not compressed."""
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


def _opened(path: str, stack: ExitStack) -> BinaryIO:
    """Open a file, closed by `stack`, or stdin for `-`."""
    if path != "-":
        return stack.enter_context(open(path, "rb"))
    if sys.stdin is None:  # started with a closed stdin
        raise FileError("<stdin>", "a closed stream", "text")
    return sys.stdin.buffer


def _pipe_of(stream: BinaryIO) -> int | None:
    """Return the descriptor of a pipe, socket or terminal that can be polled, None for other streams."""
    try:
        descriptor = stream.fileno()
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
    except (OSError, ValueError):  # a stream of a test or a notebook
        return None
    return None if is_file or os.name == "nt" or not hasattr(stream, "read1") else descriptor
