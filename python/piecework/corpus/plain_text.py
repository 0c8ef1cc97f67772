"""Read plain text in blocks of complete lines, or in documents of several lines.

Lines are split before 16 MB, or, with `whole_lines`, limited by the memory (`line_blocks`). The sequence of
split blocks depends on the bytes of the source only. Documents are separated by blank lines, or a file each.
A blank line is empty or has only whitespace. Line ends inside a document stay as they are in the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from piecework._internal.warn import warn
from piecework.corpus.rows import READ_BYTES, ReadOptions, Rows, TextBlock, decode_lines
from piecework.corpus.text_stream import (
    BYTE_ORDER_MARK,
    SHORT_LINE_BYTES,
    TextStream,
    check_size,
    line_blocks,
    max_line_bytes,
)
from piecework.errors import CorpusWarning

_MAX_LINE_BYTES = 16 << 20
MAX_READ_AHEAD = _MAX_LINE_BYTES + READ_BYTES
"""The most bytes of text that are read after the end of a block before it is yielded."""

# The end of a line, and all blank lines after it; `\s` has the characters of `str.isspace`.
_SEPARATOR = re.compile(r"\n\s*\n")


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
    for data, bytes_read in _blocks_of_lines(first, first_end, stream, options):
        if start is None or byte_offset >= start.byte_offset:
            yield TextBlock(data, byte_offset, bytes_read)
        byte_offset += len(data)


def _blocks_of_lines(
    first: bytes, bytes_read: int, stream: TextStream, options: ReadOptions
) -> Iterator[tuple[bytes, int]]:
    """Yield the lines of `first` and of the rest of the stream in blocks, with the bytes read by then.

    `first` has been read, and ends after `bytes_read` bytes of the text.
    """
    pending = bytearray(first)
    while True:
        for start in _split_long_line(pending, options.max_line_bytes or _MAX_LINE_BYTES):
            yield start, bytes_read
        end = pending.rfind(b"\n") + 1
        if end:
            yield bytes(pending[:end]), bytes_read
            del pending[:end]
        chunk = stream.read(options.read_bytes)
        if not chunk:
            break
        bytes_read += len(chunk)
        pending += chunk
    if pending:
        yield bytes(pending), bytes_read


def _split_long_line(pending: bytearray, limit: int) -> Iterator[bytes]:
    """Remove and yield the start of the first line of `pending` while the line is too long.

    The split depends on the line only, so shards are split like the whole corpus.
    """
    while len(pending) > limit and pending.find(b"\n", 0, limit) < 0:
        cut = _split_position(pending[:limit])
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
    found = f"{name} begins with a JSON object and is read as plain text"
    warn(f"{found}; for JSON lines, {advice}", CorpusWarning)


# ---- documents of several lines


def read_documents(
    blocks: Iterator[TextBlock], stream: TextStream, options: ReadOptions
) -> Iterator[Rows]:
    """Yield the documents of blocks of complete lines, with the number of the first line of each.

    The text of a file is a document as a whole, even if it is empty. Between blank lines, a document has no
    line end after its last line. Raises `MemoryLimitError` and `CorpusError` for a document that is too
    long, as `line_blocks` does for a line.
    """
    if options.document == "file":
        return _whole_file(blocks, stream, options)
    return _between_blank_lines(blocks, stream, options)


def _whole_file(
    blocks: Iterator[TextBlock], stream: TextStream, options: ReadOptions
) -> Iterator[Rows]:
    parts, size = [], 0
    for block in blocks:
        parts.append(block.data)
        size += len(block)
        _check_size(size, stream, options, stream.name, "divide it, or pass document='blank-line'")
    data = b"".join(parts)
    text, replacements = decode_lines(data, options.encoding_errors, stream.name)
    del parts, data  # while the document is encoded
    yield Rows([text], [1], replacements)


def _between_blank_lines(
    blocks: Iterator[TextBlock], stream: TextStream, options: ReadOptions
) -> Iterator[Rows]:
    divided = _Documents(stream, options)
    line, replacements = 1, 0
    for block in blocks:
        text, replaced = decode_lines(block.data, options.encoding_errors, stream.name, line)
        replacements += replaced
        found = list(divided.add(text, line))
        line += text.count("\n")
        del block, text  # while the documents are encoded
        if found:
            yield _rows(found, replacements)
            replacements = 0
    yield _rows(list(divided.finish()), replacements)


def _rows(documents: list[tuple[str, int]], replacements: int) -> Rows:
    return Rows([text for text, _ in documents], [line for _, line in documents], replacements)


class _Documents:
    """Divide lines at blank lines; keep the beginning of a document whose end is not read yet."""

    def __init__(self, stream: TextStream, options: ReadOptions) -> None:
        self._stream = stream
        self._options = options
        self._parts: list[str] = []
        self._bytes = 0
        self._first_line = 1
        # Measuring the memory takes longer than reading a paragraph.
        self._short_bytes = min(SHORT_LINE_BYTES, max_line_bytes(options.memory_share))

    def add(self, lines: str, line: int) -> Iterator[tuple[str, int]]:
        """Yield the documents that end in these complete lines, each with the number of its first line."""
        # The end of the line before: a separator can begin with the first of the lines.
        text = f"\n{lines}" if lines.endswith("\n") else f"\n{lines}\n"
        start, line = 0, line - 1
        for separator in _SEPARATOR.finditer(text):
            self._extend(text[start : separator.start()], line)
            yield from self.finish()
            line += text.count("\n", start, separator.end())
            start = separator.end()
        self._extend(text[start:-1], line)

    def finish(self) -> Iterator[tuple[str, int]]:
        """Yield the document whose end is not read yet, if there is one."""
        if self._parts:
            document = "".join(self._parts).removesuffix("\r")
            self._parts.clear()
            self._bytes = 0
            yield document, self._first_line

    def _extend(self, part: str, line: int) -> None:
        if not self._parts:
            line += part.startswith("\n")
            part = part.removeprefix("\n")
            self._first_line = line
        if part:
            self._parts.append(part)
            self._bytes += len(part.encode())
        if self._bytes > self._short_bytes:
            place = f"{self._stream.name} line {self._first_line}"
            _check_size(self._bytes, self._stream, self._options, place, "divide it")


def _check_size(
    size: int, stream: TextStream, options: ReadOptions, place: str, advice: str
) -> None:
    check_size(size, options.memory_share, stream, place, is_document=True, advice=advice)
