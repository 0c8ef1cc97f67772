"""Paths in, blocks of whole lines out: the same lines of several inputs side by side.

A line ends at LF or CRLF. Unlike the blocks that training counts, no line is ever cut, and an empty
line is a line, so that parallel texts stay parallel. Memory is bounded by the block and the longest
line, of which more than 256 MB are refused.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import BinaryIO, TypeAlias

from piecework.errors import CorpusError, FileError, InvalidUtf8Error
from piecework.reading import reason
from piecework.train.compression import MeteredStream, decompressed
from piecework.train.corpus import BYTE_ORDER_MARK, is_json_lines, open_source
from piecework.train.json_lines import MAX_LINE_BYTES, byte_lines, json_line_text

BLOCK_BYTES = 2 << 20

Block: TypeAlias = tuple[list[str], int]  # texts, and the bytes they were


class LineSource:
    """The lines of files read one after the other; `bytes_read` and `replacements` grow on the way."""

    def __init__(self, paths: Sequence[str], field: str, errors: str) -> None:
        self.paths = paths
        self.name = ", ".join("<stdin>" if path == "-" else path for path in paths)
        self.is_interactive = "-" in paths and sys.stdin is not None and sys.stdin.isatty()
        self.bytes_read = 0
        self.replacements = 0
        self._field = field
        self._errors = errors

    def blocks(self) -> Iterator[list[str]]:
        """Give the lines in lists of about 2 MB, never empty; line by line from a terminal."""
        least_bytes = 0 if self.is_interactive else BLOCK_BYTES // 2
        texts: list[str] = []
        size = 0
        for path in self.paths:
            for more, more_bytes in self._file_blocks(path):
                texts += more
                size += more_bytes
                if texts and size >= least_bytes:
                    yield texts
                    texts, size = [], 0
        if texts:
            yield texts

    def _file_blocks(self, path: str) -> Iterator[Block]:
        name = "<stdin>" if path == "-" else path
        bytes_before = self.bytes_read
        try:
            with ExitStack() as stack:
                opened = open_source(path, stack)
                if path == "-" and self.is_interactive:
                    yield from self._plain(iter(opened.readline, b""), name)
                    return
                metered = MeteredStream(opened)
                kind = self._json if is_json_lines(path) else self._plain_stream
                for block in kind(decompressed(metered, name), name):
                    self.bytes_read = bytes_before + metered.bytes_read
                    yield block
        except (CorpusError, FileError):
            raise
        except OSError as error:
            raise FileError(name, reason(error), "a readable text file") from error

    def _plain_stream(self, stream: BinaryIO, name: str) -> Iterator[Block]:
        return self._plain(_line_aligned(stream, name), name)

    def _plain(self, blocks: Iterator[bytes], name: str) -> Iterator[Block]:
        first_line = 1
        for block in blocks:
            data = block.removeprefix(BYTE_ORDER_MARK) if first_line == 1 else block
            texts = _lines_of(self._decoded(data, name, first_line))
            yield texts, len(block)
            first_line += len(texts)

    def _decoded(self, block: bytes, name: str, first_line: int) -> str:
        try:
            return block.decode()
        except UnicodeDecodeError as error:
            if self._errors == "strict":
                raise _invalid_utf8(block, error, name, first_line) from error
        text = block.decode(errors="replace")
        self.replacements += text.count("\ufffd") - block.count("\ufffd".encode())
        return text

    def _json(self, stream: BinaryIO, name: str) -> Iterator[Block]:
        texts: list[str] = []
        size = 0
        for number, line in enumerate(byte_lines(stream, name), start=1):
            texts.append(self._json_text(line, f"{name} line {number}"))
            size += len(line) + 1
            if size >= BLOCK_BYTES:
                yield texts, size
                texts, size = [], 0
        if texts:
            yield texts, size

    def _json_text(self, line: bytes, place: str) -> str:
        if not line.strip():
            return ""
        text, mended = json_line_text(line, place, self._field, self._errors)
        self.replacements += mended
        return text


def parallel_lines(sources: Sequence[LineSource]) -> Iterator[list[list[str]]]:
    """Give the lines of all sources in step: one list a source, all of the same length.

    Raises `CorpusError` that names the sources and the line when one ends before another.
    """
    blocks = [source.blocks() for source in sources]
    waiting: list[list[str]] = [[] for _ in sources]
    lines = 0
    while True:
        waiting = [held or next(more, []) for held, more in zip(waiting, blocks, strict=True)]
        count = min(map(len, waiting))
        if not count:
            break
        yield [held[:count] for held in waiting]
        waiting = [held[count:] for held in waiting]
        lines += count
    _refuse_unequal(sources, waiting, lines)


def _refuse_unequal(
    sources: Sequence[LineSource], waiting: Sequence[list[str]], lines: int
) -> None:
    if not any(waiting):
        return
    ended = ", ".join(s.name for s, held in zip(sources, waiting, strict=True) if not held)
    longer = ", ".join(s.name for s, held in zip(sources, waiting, strict=True) if held)
    expected = f"a line {lines + 1} as in {longer}"
    raise CorpusError(ended, f"an end after line {lines}", expected)


def _line_aligned(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """Cut a stream behind line ends, about every 2 MB."""
    pending = bytearray()
    lines = 0
    while chunk := stream.read(BLOCK_BYTES):
        end = chunk.rfind(b"\n") + 1
        if end:
            block = bytes(pending) + chunk[:end]
            lines += block.count(b"\n")
            yield block
            pending = bytearray(chunk[end:])
        else:
            pending += chunk
        if len(pending) > MAX_LINE_BYTES:
            limit = f"at most {MAX_LINE_BYTES} bytes"
            raise CorpusError(f"{name} line {lines + 1}", "a longer line", limit)
    if pending:
        yield bytes(pending)


def _lines_of(text: str) -> list[str]:
    texts = text.split("\n")
    if not texts[-1]:
        texts.pop()
    if "\r" in text:
        return [line.removesuffix("\r") for line in texts]
    return texts


def _invalid_utf8(
    block: bytes, error: UnicodeDecodeError, name: str, first_line: int
) -> InvalidUtf8Error:
    line = first_line + block.count(b"\n", 0, error.start)
    byte = error.start - (block.rfind(b"\n", 0, error.start) + 1)
    found = f"invalid UTF-8 at byte {byte} of the line"
    return InvalidUtf8Error(f"{name} line {line}", found, "UTF-8 text")
