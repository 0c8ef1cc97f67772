"""Read the texts of one or several files, in lists of bounded size.

A text is a line of plain text, or a record of JSON lines, CSV, TSV, Parquet or Arrow. A line ends at LF or
CRLF. Unlike `corpus.files`, this module never splits a long line and keeps empty lines, so that parallel
texts stay aligned. Memory is bounded by one read and the longest line, and `line_blocks` limits lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import repeat
from types import MappingProxyType
from typing import Any, TypeAlias

from piecework._core import TextColumn
from piecework._internal.surrogates import replace_surrogates
from piecework._internal.validation import PathLike, path_text
from piecework.corpus.columns import ColumnFile
from piecework.corpus.csv_rows import read_csv
from piecework.corpus.field_path import FieldPath
from piecework.corpus.input_format import InputFormat, input_format
from piecework.corpus.json_lines import json_line_record, json_rows, warn_of_json_lines
from piecework.corpus.line_blocks import (
    BYTE_ORDER_MARK,
    MEMORY_SHARE,
    MEMORY_SHARE_WITH_OFFSETS,
    line_blocks,
)
from piecework.corpus.rows import RowOptions, Rows, Utf8Errors
from piecework.corpus.skipped import Skipped
from piecework.corpus.text_stream import TextStream
from piecework.corpus.texts import Texts, joined, sizes, sliced
from piecework.errors import CorpusError, FileError, InvalidUtf8Error, MemoryLimitError

READ_BYTES = 1 << 19
"""Buffers of this size are allocated again; larger ones are new memory, which takes longer to fill."""

SizedLines: TypeAlias = tuple[Texts, int]
"""Lines, and their size in the input in bytes."""


class LabelledLine(str):
    """The text of a line with a label, which output formats write next to the ids.

    `label` has the keys `file` (if there are several), `line` and `id` (if the JSON object has one), and
    `kept` with fields of the JSON object or the table (if some are kept).
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
    and columns of tables to put into labels. If `skipped` is set, it counts records and files with errors,
    which are left out. `current_name` is the name of the file that is read.
    """

    def __init__(
        self,
        paths: Sequence[str],
        field: str | None,
        errors: str,
        *,
        labels: bool = False,
        kept: Sequence[str] = (),
        skipped: Skipped | None = None,
    ) -> None:
        self.paths = paths
        self.name = ", ".join("<stdin>" if path == "-" else path for path in paths)
        self.bytes_read = 0
        self.replacements = 0
        self._labels = labels or bool(kept)
        self._kept = kept
        self._field = field
        self._errors = errors
        share = MEMORY_SHARE_WITH_OFFSETS if labels else MEMORY_SHARE
        self._options = RowOptions(FieldPath.of(field), errors, skipped, tuple(kept), share)
        self._input: TextStream | ColumnFile | None = None

    @property
    def is_idle(self) -> bool:
        """Whether reading would block, because the pipe is empty."""
        return self._input is not None and self._input.is_idle

    @property
    def current_name(self) -> str:
        """The name of the file that is read now."""
        return "" if self._input is None else self._input.name

    def blocks(self) -> Iterator[Texts]:
        """Yield non-empty lists or columns with about 2 MB of lines, or more for a longer line.

        Yields less at the end of the input, and when reading more would block. Lines with labels are lists.
        """
        parts: list[Texts] = []
        size = 0
        for path in self.paths:
            for more, more_bytes in self._lines_of_file(path):
                if len(more):
                    parts.append(more)
                size += more_bytes
                if parts and (size >= 4 * READ_BYTES or self.is_idle):
                    yield joined(parts)
                    parts, size = [], 0
        if parts:
            yield joined(parts)

    def _lines_of_file(self, path: str) -> Iterator[SizedLines]:
        bytes_before = self.bytes_read
        try:
            with ExitStack() as stack:
                for lines in self._read(path, stack):
                    if self._input is not None:
                        self.bytes_read = bytes_before + self._input.bytes_read
                    yield lines
        except (CorpusError, FileError, MemoryLimitError) as error:
            if self._options.skipped is None:
                raise
            self._options.skipped.add(error)
        self._input = None

    def _read(self, path: str, stack: ExitStack) -> Iterator[SizedLines]:
        format: InputFormat = input_format(path, self._field)
        if format == "parquet" or format == "arrow":
            self._input = file = ColumnFile(path, stack, format)
            return self._read_rows(file.rows(self._options), file.name)
        self._input = stream = TextStream(path, stack, at_once=True)
        match format:
            case "text":
                return self._read_text(stream)
            case "json-lines":
                return self._read_json_lines(stream)
            case "csv":
                return self._read_rows(read_csv(stream, self._options, ","), stream.name)
            case "tsv":
                return self._read_rows(read_csv(stream, self._options, "\t"), stream.name)

    def _line_blocks(self, stream: TextStream) -> Iterator[tuple[int, bytes]]:
        return line_blocks(stream, READ_BYTES, self._options.memory_share)

    def _read_text(self, stream: TextStream) -> Iterator[SizedLines]:
        for first_line, block in self._line_blocks(stream):
            data = block
            if first_line == 1:
                data = block.removeprefix(BYTE_ORDER_MARK)
                warn_of_json_lines(data, stream.name)
            texts = self._lines_of_block(data, stream.name, first_line)
            yield texts, len(block)

    def _lines_of_block(self, block: bytes, name: str, first_line: int) -> Texts:
        column = None if self._labels else TextColumn.of_lines(block)
        if column is not None:
            return column
        lines = _lines_of(self._decoded(block, name, first_line))
        if self._labels:
            numbered = enumerate(lines, start=first_line)
            return [self._labelled(text, name, number) for number, text in numbered]
        return lines

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
        for first_line, block in self._line_blocks(stream):
            if self._labels:
                yield self._labelled_json(block, stream.name, first_line), len(block)
            else:
                rows = json_rows(block, first_line, stream.name, self._options, keep_blank=True)
                self.replacements += rows.replacements
                yield rows.texts, len(block)

    def _labelled_json(self, block: bytes, name: str, first_line: int) -> list[str]:
        lines = block.removesuffix(b"\n").split(b"\n")
        texts: list[str] = []
        for number, line in enumerate(lines, start=first_line):
            text = ""
            record: dict[str, Any] = {}
            if line.strip():
                place = f"{name} line {number}"
                try:
                    text, replaced, record = json_line_record(
                        line, place, self._options.field, self._errors
                    )
                except CorpusError as error:
                    self._options.fault(error)
                    continue
                self.replacements += replaced
            texts.append(self._labelled(text, name, number, record))
        return texts

    def _read_rows(self, lists: Iterator[Rows], name: str) -> Iterator[SizedLines]:
        for rows in lists:
            self.replacements += rows.replacements
            texts = rows.texts
            if self._labels:
                labelled = zip(texts, rows.numbers, self._records(rows), strict=True)
                texts = [
                    self._labelled(text, name, number, record) for text, number, record in labelled
                ]
            yield texts, int(sizes(texts).sum())

    def _records(self, rows: Rows) -> Iterable[Mapping[str, Any]]:
        """Return the kept values of each row by their names."""
        if not self._kept:
            return repeat(MappingProxyType({}), len(rows.texts))
        return (dict(zip(self._kept, values, strict=True)) for values in rows.kept)

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
    """Return a value as text: numbers, lists and objects as JSON; lone surrogates become U+FFFD.

    Values that JSON lacks, such as dates in tables, are written as Python's `str` writes them.
    """
    if value is None:
        return None
    is_json = isinstance(value, (bool, int, float, list, dict))
    text = json.dumps(value, ensure_ascii=False, default=str) if is_json else str(value)
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

    Reads plain text, or the records of JSON lines, CSV, TSV, Parquet and Arrow (the text under `field`),
    also from URLs and compressed data. `-` is stdin, whose lines are yielded as they arrive. Raises
    `FileError`, `CorpusError` for binary data, and `InvalidUtf8Error` with `errors="strict"`.
    """
    yield from map(list, LineSource([path_text(path)], field, errors).blocks())


def parallel_lines(sources: Sequence[LineSource]) -> Iterator[list[Texts]]:
    """Yield the same number of lines from each source, one list for each.

    Raises `CorpusError` with the sources and the line if one source has fewer lines.
    """
    blocks = [source.blocks() for source in sources]
    waiting: list[Texts] = [[] for _ in sources]
    line_count = 0
    while True:
        pairs = zip(waiting, blocks, strict=True)
        waiting = [lines if len(lines) else next(more, []) for lines, more in pairs]
        count = min(map(len, waiting))
        if not count:
            break
        yield [sliced(lines, 0, count) for lines in waiting]
        waiting = [sliced(lines, count, len(lines)) for lines in waiting]
        line_count += count
    _check_equal_lengths(sources, waiting, line_count)


def _check_equal_lengths(
    sources: Sequence[LineSource], waiting: Sequence[Texts], line_count: int
) -> None:
    if not any(map(len, waiting)):
        return
    shorter = ", ".join(s.name for s, lines in zip(sources, waiting, strict=True) if not len(lines))
    longer = ", ".join(s.name for s, lines in zip(sources, waiting, strict=True) if len(lines))
    expected = f"a line {line_count + 1} as in {longer}"
    raise CorpusError(shorter, f"an end after line {line_count}", expected)


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
