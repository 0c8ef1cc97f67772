"""Read columns of CSV and TSV files, in which the first row names the columns."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator
from typing import Any

from piecework._internal.validation import counted
from piecework.corpus.rows import LIST_CHARS, LIST_TEXTS, ReadOptions, Rows, decode_utf8
from piecework.corpus.text_stream import BYTE_ORDER_MARK, TextStream, line_blocks, max_line_bytes
from piecework.errors import CorpusError, PieceworkError


def read_csv(stream: TextStream, options: ReadOptions, delimiter: str) -> Iterator[Rows]:
    """Yield the texts of a column, in lists of about 2 million characters.

    Fields follow the `csv` module of Python with `strict`: a quoted field can contain delimiters, line ends
    and doubled quotes. Blank lines are ignored. Raises `CorpusError` with the line for a missing or repeated
    column, a row with too few columns and a broken quotation.
    """
    # The limit is one for all readers of the process; it is raised only.
    csv.field_size_limit(max(csv.field_size_limit(), max_line_bytes(options.memory_share)))
    lines = _DecodedLines(stream, options)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    columns: list[int] = []
    texts: list[str] = []
    numbers: list[int] = []
    records: list[dict[str, str]] = []
    chars = 0
    try:
        for number, row in _rows(reader, stream.name, options):
            if not columns:
                columns = _columns_of(row, stream.name, options)
                needed = max(columns) + 1
            elif len(row) < needed:
                problem = f"has {counted(len(row), 'column')}; it needs at least {needed}"
                reason = "a row with too few columns"
                options.fault(CorpusError(f"{stream.name} line {number}", problem, kind=reason))
            else:
                text, *kept = [row[column] for column in columns]
                texts.append(text)
                numbers.append(number)
                if kept:
                    records.append(dict(zip(options.kept, kept, strict=True)))
                chars += len(text)
                if chars >= LIST_CHARS or len(texts) >= LIST_TEXTS:
                    yield Rows(texts, numbers, lines.take_replacements(), records)
                    texts, numbers, records, chars = [], [], [], 0
    except PieceworkError:  # damaged data: the rows before it count
        yield Rows(texts, numbers, lines.take_replacements(), records)
        raise
    yield Rows(texts, numbers, lines.take_replacements(), records)


def _rows(reader: Any, name: str, options: ReadOptions) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not blank, with the number of its first line."""
    while True:
        number = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            problem = f"found broken CSV ({error}), expected a row of fields"
            fault = CorpusError(f"{name} line {number}", problem, kind="broken CSV")
            fault.__cause__ = error
            options.fault(fault)
            continue
        if row is None:
            return
        if row:
            yield number, row


def _columns_of(header: list[str], name: str, options: ReadOptions) -> list[int]:
    """Return the indexes of the column with the texts and of the kept columns."""
    field = options.field
    names = {field.key, *(field.path if len(field.path) == 1 else ())}
    columns = [_column_of(header, names, f"{name} column {field.key!r}")]
    columns += [_column_of(header, {kept}, f"{name} column {kept!r}") for kept in options.kept]
    return columns


def _column_of(header: list[str], names: Collection[str], place: str) -> int:
    found = [index for index, column in enumerate(header) if column in names]
    if len(found) != 1:
        columns = ", ".join(map(repr, header[:8]))
        what = f"only {columns}" if not found else f"{len(found)} columns of this name"
        problem = f"must be one column of line 1, which has {what}"
        raise CorpusError(place, problem, kind="a missing or repeated column")
    return found[0]


class _DecodedLines(Iterator[str]):
    """The decoded lines of a stream, with their ends, and the number of replaced sequences."""

    def __init__(self, stream: TextStream, options: ReadOptions) -> None:
        self._lines = self._decoded(stream, options)
        self._replacements = 0

    def __next__(self) -> str:
        return next(self._lines)

    def take_replacements(self) -> int:
        """Return the number of replaced sequences since the last call."""
        replacements, self._replacements = self._replacements, 0
        return replacements

    def _decoded(self, stream: TextStream, options: ReadOptions) -> Iterator[str]:
        blocks = line_blocks(stream, options.read_bytes, options.memory_share)
        for first_line, block in blocks:
            data = block.removeprefix(BYTE_ORDER_MARK) if first_line == 1 else block
            lines = data.splitlines(keepends=True) if b"\r" not in data else _split(data)
            for number, line in enumerate(lines, start=first_line):
                place = f"{stream.name} line {number}"
                text, replaced = decode_utf8(line, options.encoding_errors, place)
                self._replacements += replaced
                yield text


def _split(block: bytes) -> Iterator[bytes]:
    """Split at LF only, because a CR can be part of a quoted field."""
    lines = block.split(b"\n")
    yield from (line + b"\n" for line in lines[:-1])
    if lines[-1]:
        yield lines[-1]
