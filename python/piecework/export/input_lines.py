"""Read the lines of one or several files, in lists of bounded size.

A line ends at LF or CRLF. Unlike `corpus.files`, this module never splits a long line and keeps empty
lines, so that parallel texts stay aligned. Memory is bounded by one read and the longest line. A line over
1 GB raises `CorpusError`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from types import MappingProxyType
from typing import Any, TypeAlias

from piecework._internal.surrogates import replace_surrogates
from piecework._internal.validation import PathLike, path_text
from piecework.corpus.files import (
    BYTE_ORDER_MARK,
    TEXT_FIELD,
    Utf8Errors,
)
from piecework.corpus.input_format import InputFormat, input_format
from piecework.corpus.json_lines import (
    MAX_LINE_BYTES,
    json_line_record,
    line_lists,
    warn_of_json_lines,
)
from piecework.corpus.text_stream import TextStream
from piecework.errors import CorpusError, InvalidUtf8Error

READ_BYTES = 2 << 20

SizedLines: TypeAlias = tuple[list[str], int]
"""Lines, and their size in the input in bytes."""


class LabelledLine(str):
    """The text of a line with a label, which output formats write next to the ids.

    `label` has the keys `file` (if there are several), `line` and `id` (if the JSON object has one), and
    `kept` with fields of the JSON object (if some are kept).
    """

    label: dict[str, Any]

    @classmethod
    def of(cls, text: str, label: dict[str, Any]) -> LabelledLine:
        """Return the text of a line with its label."""
        labelled = cls(text)
        labelled.label = label
        return labelled


class LineSource:
    """Read the lines of files in sequence; count `bytes_read` and `replacements`.

    With `labels` every line is a `LabelledLine`; line numbers start at 1. `kept` names fields of JSON lines
    to put into labels.
    """

    def __init__(
        self,
        paths: Sequence[str],
        field: str | None,
        errors: str,
        *,
        labels: bool = False,
        kept: Sequence[str] = (),
    ) -> None:
        self.paths = paths
        self.name = ", ".join("<stdin>" if path == "-" else path for path in paths)
        self.bytes_read = 0
        self.replacements = 0
        self._labels = labels or bool(kept)
        self._kept = kept
        self._field = field
        self._errors = errors
        self._stream: TextStream | None = None

    @property
    def is_idle(self) -> bool:
        """Whether reading would block, because the pipe is empty."""
        return self._stream is not None and self._stream.is_idle

    def blocks(self) -> Iterator[list[str]]:
        """Yield non-empty lists with 1 to 3 MB of lines, or more for a longer line.

        Yields less at the end of the input, and when reading more would block.
        """
        texts: list[str] = []
        size = 0
        for path in self.paths:
            for more, more_bytes in self._lines_of_file(path):
                texts += more
                size += more_bytes
                if texts and (size >= READ_BYTES // 2 or self.is_idle):
                    yield texts
                    texts, size = [], 0
        if texts:
            yield texts

    def _lines_of_file(self, path: str) -> Iterator[SizedLines]:
        bytes_before = self.bytes_read
        with ExitStack() as stack:
            stream = self._stream = TextStream(path, stack, at_once=True)
            for lines in self._read(stream, input_format(path, self._field)):
                self.bytes_read = bytes_before + stream.bytes_read
                yield lines
        self._stream = None

    def _read(self, stream: TextStream, format: InputFormat) -> Iterator[SizedLines]:
        match format:
            case "text":
                return self._read_text(stream)
            case "json-lines":
                return self._read_json_lines(stream)

    def _read_text(self, stream: TextStream) -> Iterator[SizedLines]:
        first_line = 1
        for block in _line_aligned(stream):
            data = block
            if first_line == 1:
                data = block.removeprefix(BYTE_ORDER_MARK)
                warn_of_json_lines(data, stream.name)
            texts = _lines_of(self._decoded(data, stream.name, first_line))
            if self._labels:
                numbered = enumerate(texts, start=first_line)
                texts = [self._labelled(text, stream.name, number) for number, text in numbered]
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

    def _read_json_lines(self, stream: TextStream) -> Iterator[SizedLines]:
        first_line = 1
        for lines in line_lists(stream, READ_BYTES):
            texts = [
                self._json_text(line, stream.name, number)
                for number, line in enumerate(lines, start=first_line)
            ]
            yield texts, sum(map(len, lines)) + len(lines)
            first_line += len(lines)

    def _json_text(self, line: bytes, name: str, number: int) -> str:
        text = ""
        record: dict[str, Any] = {}
        if line.strip():
            field, place = self._field or TEXT_FIELD, f"{name} line {number}"
            text, replaced, record = json_line_record(line, place, field, self._errors)
            self.replacements += replaced
        return self._labelled(text, name, number, record) if self._labels else text

    def _labelled(
        self, text: str, name: str, number: int, record: Mapping[str, Any] = MappingProxyType({})
    ) -> LabelledLine:
        label: dict[str, Any] = {"file": name} if len(self.paths) > 1 else {}
        label["line"] = number
        if "id" in record:
            label["id"] = record["id"]
        if self._kept:
            label["kept"] = {key: _kept_text(record.get(key)) for key in self._kept}
        return LabelledLine.of(text, label)


def _kept_text(value: Any) -> str | None:
    """Return a string as it is, and another value as JSON; lone surrogates become U+FFFD."""
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return replace_surrogates(text, "", "replace")[0]


def read_lines(
    path: PathLike, *, field: str | None = None, errors: Utf8Errors = "replace"
) -> Iterator[list[str]]:
    """Yield the lines of a file as `encode_files` reads them, in lists of bounded size.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = path.write_text("hug\\n\\npug\\n")
    >>> list(read_lines(path))
    [['hug', '', 'pug']]

    Reads plain text or JSON lines (the text under `field`), also compressed with gzip or Zstandard. `-` is
    stdin, whose lines are yielded as they arrive. Raises `FileError`, `CorpusError` for binary data, and
    `InvalidUtf8Error` with `errors="strict"`.
    """
    yield from LineSource([path_text(path)], field, errors).blocks()


def parallel_lines(sources: Sequence[LineSource]) -> Iterator[list[list[str]]]:
    """Yield the same number of lines from each source, one list for each.

    Raises `CorpusError` with the sources and the line if one source has fewer lines.
    """
    blocks = [source.blocks() for source in sources]
    waiting: list[list[str]] = [[] for _ in sources]
    line_count = 0
    while True:
        waiting = [lines or next(more, []) for lines, more in zip(waiting, blocks, strict=True)]
        count = min(map(len, waiting))
        if not count:
            break
        yield [lines[:count] for lines in waiting]
        waiting = [lines[count:] for lines in waiting]
        line_count += count
    _check_equal_lengths(sources, waiting, line_count)


def _check_equal_lengths(
    sources: Sequence[LineSource], waiting: Sequence[list[str]], line_count: int
) -> None:
    if not any(waiting):
        return
    shorter = ", ".join(s.name for s, lines in zip(sources, waiting, strict=True) if not lines)
    longer = ", ".join(s.name for s, lines in zip(sources, waiting, strict=True) if lines)
    expected = f"a line {line_count + 1} as in {longer}"
    raise CorpusError(shorter, f"an end after line {line_count}", expected)


def _line_aligned(stream: TextStream) -> Iterator[bytes]:
    """Yield the whole lines of each read of 2 MB; a pipe returns fewer bytes if it has no more now.

    Raises `CorpusError` for a line over 1 GB.
    """
    pending = bytearray()
    lines = 0
    while chunk := stream.read(READ_BYTES):
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
            raise CorpusError(f"{stream.name} line {lines + 1}", "a longer line", limit)
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
