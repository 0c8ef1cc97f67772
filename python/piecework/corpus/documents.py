"""Divide plain text into documents of several lines: separated by blank lines, or a file each.

A blank line is empty or has only whitespace. Line ends inside a document stay as they are in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from piecework.corpus.line_blocks import SHORT_LINE_BYTES, check_size, max_line_bytes
from piecework.corpus.rows import ReadOptions, Rows, TextBlock, decode_lines
from piecework.corpus.text_stream import TextStream

# The end of a line, and all blank lines after it; `\s` has the characters of `str.isspace`.
_SEPARATOR = re.compile(r"\n\s*\n")


def read_documents(
    blocks: Iterator[TextBlock], stream: TextStream, options: ReadOptions
) -> Iterator[Rows]:
    """Yield the documents of blocks of complete lines, with the number of the first line of each.

    The text of a file is a document as a whole, also if it is empty. Between blank lines, a document has no
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
    """Divides lines at blank lines, and keeps the beginning of a document whose end is not read yet."""

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
