"""Draw the tokens of several tokenizers below each other, so that equal characters have equal columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from rich.cells import cell_len

from piecework.analysis.readable import show_whitespace

Kind: TypeAlias = Literal["plain", "name", "even", "odd", "unknown"]

UNKNOWN = "✗"
_LEAST_WIDTH = 30
_LONGEST_NAME = 24


class Group(NamedTuple):
    """Tokens that share characters, mostly one token; the span is in characters."""

    start: int
    end: int
    tokens: int
    is_unknown: bool


class Row(NamedTuple):
    """The tokens of one tokenizer."""

    name: str
    total: int
    groups: Sequence[Group]


class Part(NamedTuple):
    """Text of one kind in a line, for colors."""

    text: str
    kind: Kind


Line: TypeAlias = list[Part]


def line_text(line: Line) -> str:
    """Return a line without colors.

    >>> line_text([Part("hug", "even"), Part(" ", "plain")])
    'hug'
    """
    return "".join(part.text for part in line).rstrip()


@dataclass(frozen=True)
class Alignment:
    """A text with the tokens of several tokenizers: at most `lines` blocks of lines.

    >>> found = Alignment("hug", [Row("a", 1, [Group(0, 3, 1, False)])], lines=20)
    >>> [line_text(line) for line in found.at_width(80)]
    ['text     hug', 'a     1 |hug|']
    """

    text: str
    rows: Sequence[Row]
    lines: int

    def at_width(self, width: int) -> list[Line]:
        """Return the lines, wrapped together at `width` columns."""
        beginning = self.lines * width  # a column is a character, or a part of one
        rows = [
            row._replace(groups=[group for group in row.groups if group.start < beginning])
            for row in self.rows
        ]
        end = max([beginning, *(group.end for row in rows for group in row.groups)])
        shown = aligned_lines(self.text[:end], rows, width)
        most = self.lines * (len(rows) + 2)
        if len(shown) <= most and end >= len(self.text):
            return shown
        return [*shown[:most], [Part("... and more lines", "plain")]]


class _Cell(NamedTuple):
    """What a row shows between two cuts: its text, the group, and whether a boundary precedes it."""

    text: str
    kind: Kind
    is_cut: bool


def aligned_lines(text: str, rows: Sequence[Row], width: int) -> list[Line]:
    """Return a line for the text and one for each row, wrapped together at `width` columns.

    >>> rows = [Row("a", 1, [Group(0, 3, 1, False)])]
    >>> [line_text(line) for line in aligned_lines("hug", rows, 80)]
    ['text     hug', 'a     1 |hug|']
    """
    cuts = _cuts(text, rows)
    shown = [_text_cells(text, cuts), *(_row_cells(text, cuts, row) for row in rows)]
    names = ["text", *(_short(row.name) for row in rows)]
    counts = ["", *(f"{row.total:,}" for row in rows)]
    name_width, count_width = max(map(cell_len, names)), max(map(len, counts)) + 2
    sizes = [max(cell_len(cells[at].text) for cells in shown) for at in range(len(cuts) - 1)]
    room = max(width - name_width - count_width - 3, _LEAST_WIDTH)
    lines: list[Line] = []
    for first, last in _chunks(sizes, shown[1:], room):
        if lines:
            lines.append([])
        for name, count, cells in zip(names, counts, shown, strict=True):
            space = " " * (name_width - cell_len(name))
            head = [Part(name + space, "name"), Part(count.rjust(count_width) + " ", "plain")]
            lines.append(head + _drawn(cells, sizes, first, last))
    return lines


def _cuts(text: str, rows: Sequence[Row]) -> list[int]:
    """Return all positions at which some token begins or ends."""
    ends = {at for row in rows for group in row.groups for at in (group.start, group.end)}
    return sorted(ends | {0, len(text)}) if text else [0]


def _text_cells(text: str, cuts: Sequence[int]) -> list[_Cell]:
    cells = [_Cell(show_whitespace(text[a:b]), "plain", False) for a, b in pairwise(cuts)]
    return [*cells, _Cell("", "plain", False)]


def _row_cells(text: str, cuts: Sequence[int], row: Row) -> list[_Cell]:
    """Return the cells of a row; the last one has the boundary at the end of the text."""
    bounds = {at for group in row.groups for at in (group.start, group.end)}
    cells = []
    number = 0
    groups = [group for group in row.groups if group.start < group.end]
    for start, end in pairwise(cuts):
        while number < len(groups) and groups[number].end <= start:
            number += 1
        group = groups[number] if number < len(groups) else None
        if group is None or group.start > start:
            cells.append(_Cell("", "plain", start in bounds))
            continue
        marks = f"x{group.tokens}" if group.tokens > 1 else ""
        marks += UNKNOWN if group.is_unknown else ""
        shown = show_whitespace(text[start:end]) + (marks if end == group.end else "")
        kind: Kind = "unknown" if group.is_unknown else "odd" if number % 2 else "even"
        cells.append(_Cell(shown, kind, start in bounds))
    return [*cells, _Cell("", "plain", cuts[-1] in bounds)]


def _chunks(
    sizes: Sequence[int], rows: Sequence[Sequence[_Cell]], room: int
) -> Iterator[tuple[int, int]]:
    """Yield ranges of cells that fit `room` columns; they end where all rows have a boundary, if possible."""
    first = 0
    while first < len(sizes):
        used, last, common = 0, first, first
        while last < len(sizes) and (last == first or used + sizes[last] + 1 <= room):
            used += sizes[last] + 1
            last += 1
            if all(cells[last].is_cut for cells in rows):
                common = last
        last = common if last < len(sizes) and common > first else last
        yield first, last
        first = last


def _drawn(cells: Sequence[_Cell], sizes: Sequence[int], first: int, last: int) -> Line:
    parts = []
    for at in range(first, last):
        cell = cells[at]
        parts.append(Part("|" if cell.is_cut else " ", "plain" if cell.is_cut else cell.kind))
        parts.append(Part(cell.text + " " * (sizes[at] - cell_len(cell.text)), cell.kind))
    return [*parts, Part("|" if cells[last].is_cut else " ", "plain")]


def _short(name: str) -> str:
    """Return a name of limited length, safe to print."""
    shown = show_whitespace(name)
    return shown if len(shown) <= _LONGEST_NAME else "…" + shown[1 - _LONGEST_NAME :]
