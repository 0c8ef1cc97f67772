"""Read plain text in blocks of complete lines, or in documents of several lines (`documents`).

Lines are split before 16 MB, or, with `whole_lines`, limited by the memory (`line_blocks`). The sequence of
split blocks depends on the bytes of the source only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from piecework._internal.warn import warn
from piecework.corpus.documents import read_documents
from piecework.corpus.line_blocks import BYTE_ORDER_MARK, line_blocks
from piecework.corpus.rows import READ_BYTES, ReadOptions, Rows, TextBlock
from piecework.corpus.text_stream import TextStream
from piecework.errors import CorpusWarning

_MAX_LINE_BYTES = 16 << 20
MAX_READ_AHEAD = _MAX_LINE_BYTES + READ_BYTES
"""The most bytes of text that are read after the end of a block before it is yielded."""


def read_plain_text(
    stream: TextStream, options: ReadOptions
) -> Iterator[TextBlock] | Iterator[Rows]:
    """Return blocks of about `options.read_bytes`, or one longer line, without a byte order mark.

    Documents of several lines are returned as rows.
    """
    are_lines = options.document == "line"
    read = _split_lines if are_lines and not options.whole_lines else _whole_lines
    blocks = _with_warning(read(stream, options), stream.name)
    return blocks if are_lines else read_documents(blocks, stream, options)


def _with_warning(blocks: Iterator[TextBlock], name: str) -> Iterator[TextBlock]:
    for block in blocks:
        if not block.byte_offset:
            _warn_of_json_lines(block.data, name)
        yield block


def _whole_lines(stream: TextStream, options: ReadOptions) -> Iterator[TextBlock]:
    end = 0
    for first_line, block in line_blocks(stream, options.read_bytes, options.memory_share):
        data = block.removeprefix(BYTE_ORDER_MARK) if first_line == 1 else block
        start, end = end, end + len(data)
        yield TextBlock(data, start, end)


def _split_lines(stream: TextStream, options: ReadOptions) -> Iterator[TextBlock]:
    """Yield blocks that follow `options.start`; a stream that cannot seek is read up to there."""
    first = stream.read(options.read_bytes)
    if not first:
        return
    mark = len(BYTE_ORDER_MARK) if first.startswith(BYTE_ORDER_MARK) else 0
    first, byte_offset = first[mark:], 0
    first_end, start = len(first), options.start
    if start is not None and stream.seek(mark + start.byte_offset):
        byte_offset, first_end = start
        first = stream.read(first_end - byte_offset)
    for data, bytes_read in _blocks_of_lines(first, first_end, stream, options.read_bytes):
        if start is None or byte_offset >= start.byte_offset:
            yield TextBlock(data, byte_offset, bytes_read)
        byte_offset += len(data)


def _blocks_of_lines(
    first: bytes, bytes_read: int, stream: TextStream, read_bytes: int
) -> Iterator[tuple[bytes, int]]:
    """Yield the lines of `first` and of the rest of the stream in blocks, with the bytes read by then.

    `first` has been read, and ends after `bytes_read` bytes of the text.
    """
    pending = bytearray(first)
    while True:
        for start in _split_long_line(pending):
            yield start, bytes_read
        end = pending.rfind(b"\n") + 1
        if end:
            yield bytes(pending[:end]), bytes_read
            del pending[:end]
        chunk = stream.read(read_bytes)
        if not chunk:
            break
        bytes_read += len(chunk)
        pending += chunk
    if pending:
        yield bytes(pending), bytes_read


def _split_long_line(pending: bytearray) -> Iterator[bytes]:
    """Remove and yield the start of the first line of `pending` while the line is too long.

    The split depends on the line only, so shards are split like the whole corpus.
    """
    while len(pending) > _MAX_LINE_BYTES and pending.find(b"\n", 0, _MAX_LINE_BYTES) < 0:
        cut = _split_position(pending[:_MAX_LINE_BYTES])
        yield bytes(pending[:cut])
        del pending[:cut]


def _split_position(line: bytearray) -> int:
    """Return the position before the last space or tab, otherwise before the last character."""
    before_space = max(line.rfind(b" "), line.rfind(b"\t"))
    if before_space > 0:
        return before_space
    # Bytes 10xxxxxx continue a character; UTF-8 has at most three of them in a row.
    last = range(len(line) - 1, len(line) - 5, -1)
    starts = (index for index in last if line[index] & 0xC0 != 0x80)
    return next(starts, len(line))


def _warn_of_json_lines(data: bytes, name: str) -> None:
    """Warn with `CorpusWarning` if the first line of plain text is a JSON object."""
    first_line, line_end, _ = data.partition(b"\n")
    if not first_line.startswith(b"{") or not (line_end or first_line.rstrip().endswith(b"}")):
        return
    try:
        json.loads(first_line)
    except (ValueError, RecursionError):
        return
    takes_field = name == "<stdin>" or ".json" in Path(name.lower()).suffixes
    advice = "name the field" if takes_field else "name it .jsonl"
    message = (
        f"{name} begins with a JSON object and is read as plain text; for JSON lines, {advice}"
    )
    warn(message, CorpusWarning)
