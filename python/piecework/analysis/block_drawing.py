"""Draw blocks with rich, which measures, pads and wraps cells; `block_html` writes HTML."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from piecework.analysis.alignment import Alignment
from piecework.analysis.blocks import WIDTH, Block, Colors, Grid, Heading, Paragraph, Tokens
from piecework.analysis.readable import escape_controls

TOKEN_STYLES = ("black on bright_cyan", "black on bright_yellow", "black on bright_green")
"""The colors of tokens, in turns."""
_STYLES = {
    "plain": "",
    "name": "bold",
    "even": TOKEN_STYLES[0],
    "odd": TOKEN_STYLES[1],
    "unknown": "black on bright_red",
}
_INDENT = 2
_UNBROKEN = 12
"""Words of a table up to this width are not broken."""
_LONGEST_LABEL = 30
"""The first column of a table has this width if its parts would not fit beside a longer one."""
_UNLIMITED = 1 << 20


def drawn(blocks: Iterable[Block], width: int | None, colors: Colors | None) -> str:
    """Return blocks as text, as `as_text` does.

    >>> drawn([Heading("splits")], None, None)
    'splits\\n'
    """
    console = _console(width or _UNLIMITED, colors)
    with console.capture() as captured:
        for block in blocks:
            for shown in _renderables(block, console.width):
                console.print(shown, crop=False)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def _console(width: int, colors: Colors | None) -> Console:
    return Console(
        width=width,
        color_system=colors,
        force_terminal=colors is not None,
        no_color=colors is None,
        force_jupyter=False,
        legacy_windows=False,
        highlight=False,
    )


def _renderables(block: Block, width: int) -> Iterator[RenderableType]:
    if isinstance(block, Heading):
        yield from _heading(block)
    elif isinstance(block, Paragraph):
        yield _indented(block.text)
    elif isinstance(block, Alignment):
        for line in block.at_width(width):
            parts = ((part.text, _STYLES[part.kind]) for part in line)
            yield Text.assemble(*parts, no_wrap=True, overflow="ignore")
        yield Text()
    else:
        if block.title:
            yield from (Text(), *_heading(Heading(block.title)))
        for at, part in enumerate(_parts(block, width) if block.rows else ()):
            yield from (Text(),) if at else ()
            yield _table(part)
        if not block.rows:
            yield _indented("none")
        if block.omitted:
            yield _indented(f"... and {block.omitted:,} more")


def _indented(text: str) -> Padding:
    return Padding(Text(escape_controls(text)), (0, 0, 0, _INDENT), expand=False)


def _heading(heading: Heading) -> Iterator[Text]:
    title = Text(escape_controls(heading.text), "bold")
    if heading.level == 3:
        yield title
    else:
        line = "=" if heading.level == 1 else "-"
        yield from (Text(), title, Text(line * title.cell_len))


def _parts(grid: Grid, width: int) -> Iterator[Grid]:
    """Yield a grid of numbers in parts that fit into a width, each with the first column.

    >>> wide = Grid(("", *"abc"), (("row", "1" * 9, "2" * 9, "3" * 9),), numbers=("a", "b", "c"))
    >>> [part.header for part in _parts(wide, 30)], [part.header for part in _parts(wide, 100)]
    ([('', 'a', 'b'), ('', 'c')], [('', 'a', 'b', 'c')])

    Other grids are one part. No part is wider than `WIDTH`; with a larger `width`, no cell is folded.
    """
    label, *columns = zip(grid.header, *grid.rows, strict=True)
    longest = _widest if width > WIDTH else _longest_word
    room = min(width, WIDTH) - min(_widest(label), _LONGEST_LABEL) - 2 * _INDENT
    has_numbers_only = set(grid.header[1:]) <= set(grid.numbers)
    parts: list[list[tuple[str, ...]]] = [[]]
    left = room
    for column in columns:
        needed = longest(column) + _INDENT
        if has_numbers_only and parts[-1] and needed > left:
            parts.append([])
            left = room
        parts[-1].append(column)
        left -= needed
    for part in parts:
        header, *rows = zip(label, *part, strict=True)
        yield replace(grid, header=header, rows=tuple(rows))


def _widest(column: Sequence[str]) -> int:
    """Return the width of the widest cell of a column."""
    return max(cell_len(escape_controls(cell)) for cell in column)


def _longest_word(column: Sequence[str]) -> int:
    """Return the width of the longest word of a column, at most `_UNBROKEN`."""
    words = (word for cell in column for word in escape_controls(cell).split())
    return min(max(map(cell_len, words), default=0), _UNBROKEN)


def _table(grid: Grid) -> Table:
    """Return a table without lines. Its first column is the indent, or the mark of the rows that won."""
    table = Table(box=None, pad_edge=False, padding=(0, _INDENT, 0, 0), header_style="bold")
    table.add_column()
    for name, *column in zip(grid.header, *grid.rows, strict=True):
        table.add_column(
            _cell(name),
            justify="right" if name in grid.numbers else "left",
            min_width=_longest_word((name, *column)),
            overflow="fold",
        )
    for at, row in enumerate(grid.rows):
        won = at in grid.marked
        table.add_row(">" if won else "", *map(_cell, row), style="bold" if won else None)
    return table


def _cell(cell: str) -> Text:
    if not isinstance(cell, Tokens):
        return Text(escape_controls(cell))
    styles = itertools.cycle(TOKEN_STYLES)
    return Text(" ").join(Text(escape_controls(one), next(styles)) for one in cell.tokens)
