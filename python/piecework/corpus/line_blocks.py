"""Read the complete lines of a stream, in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from piecework.corpus.text_stream import TextStream
from piecework.errors import CorpusError

MAX_LINE_BYTES = 1 << 30
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def line_blocks(stream: TextStream, read_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield the complete lines of each read of `read_bytes`, after the number of the first, from 1.

    Only the last block may lack a line end.

    A pipe returns fewer bytes if it has no more now. Raises `CorpusError` for a line over 1 GB.
    """
    pending = bytearray()
    first_line = 1
    while chunk := stream.read(read_bytes):
        end = chunk.rfind(b"\n") + 1
        if end:
            block = b"".join((pending, memoryview(chunk)[:end]))
            yield first_line, block
            first_line += _line_count(block)
            pending = bytearray(chunk[end:])
        else:
            pending += chunk
        if len(pending) > MAX_LINE_BYTES:
            limit = f"at most {MAX_LINE_BYTES} bytes"
            raise CorpusError(f"{stream.name} line {first_line}", "a longer line", limit)
    if pending:
        yield first_line, bytes(pending)


def _line_count(block: bytes) -> int:
    """Return the number of line ends; for short lines, in a quarter of the time of `bytes.count`."""
    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))


def line_lists(stream: TextStream, read_bytes: int) -> Iterator[list[bytes]]:
    """Yield the lines of each block, without their ends."""
    for _, block in line_blocks(stream, read_bytes):
        yield block.removesuffix(b"\n").split(b"\n")
