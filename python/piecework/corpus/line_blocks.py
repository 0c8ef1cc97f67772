"""Read the complete lines of a stream, in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Iterator

from piecework._internal.memory_budget import available_memory
from piecework.corpus.text_stream import TextStream
from piecework.errors import CorpusError, MemoryLimitError

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
        raise error(place, f"{longer} {limit} bytes{of_memory}; {advice}", reason=reason)
    if size > max(SHORT_LINE_BYTES, MAX_COMPRESSION_RATIO * stream.bytes_read):
        problem = (
            f"{over} {size} bytes from {stream.bytes_read} "
            f"compressed bytes, more than {MAX_COMPRESSION_RATIO} times as many"
        )
        raise CorpusError(place, problem, reason=reason)


def _line_count(block: bytes) -> int:
    """Return the number of line ends; for short lines, in a quarter of the time of `bytes.count`."""
    import numpy as np

    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))


def line_lists(stream: TextStream, read_bytes: int) -> Iterator[list[bytes]]:
    """Yield the lines of each block, without their ends."""
    for _, block in line_blocks(stream, read_bytes):
        yield block.removesuffix(b"\n").split(b"\n")
