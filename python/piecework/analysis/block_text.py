"""Blocks as text, drawn by rich."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from piecework.analysis.blocks import Block, Grid, Heading, Paragraph, Tokens
from piecework.analysis.readable_tokens import escape_controls

WIDTH = 100
"""The default width of text in columns."""
TOKEN_STYLES = ("black on bright_cyan", "black on bright_yellow", "black on bright_green")
"""The colors of tokens, in turns."""
_INDENT = 2
_UNBROKEN = 12
"""Words of a table up to this width are not broken."""
_UNLIMITED = 1 << 20

Colors: TypeAlias = Literal["standard", "256", "truecolor", "windows"]
"""The colors of a terminal, as rich names them."""


def as_text(
    blocks: Iterable[Block], width: int | None = WIDTH, colors: Colors | None = None
) -> str:
    r"""Return blocks as lines of at most `width` columns, if tables fit into it; None wraps nothing.

    >>> print(as_text([Heading("splits"), Paragraph("h ##u ##g")]), end="")
    splits
      h ##u ##g
    >>> print(as_text([Grid(("pair", "count"), (("u g", "20"),), numbers=("count",))]), end="")
      pair  count
      u g      20

    With the `colors` of a terminal, headings and marked rows are bold, and tokens have backgrounds.

    >>> as_text([Heading("splits")], colors="standard")
    '\x1b[1msplits\x1b[0m\n'
    """
    console = _console(width or _UNLIMITED, colors)
    with console.capture() as captured:
        for block in blocks:
            for shown in _renderables(block):
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


def _renderables(block: Block) -> Iterator[RenderableType]:
    if isinstance(block, Heading):
        yield from _heading(block)
    elif isinstance(block, Paragraph):
        yield _indented(block.text)
    else:
        if block.title:
            yield from (Text(), *_heading(Heading(block.title)))
        yield _table(block) if block.rows else _indented("none")
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


def _table(grid: Grid) -> Table:
    """Return a table without lines. Its first column is the indent, or the mark of the rows that won."""
    table = Table(box=None, pad_edge=False, padding=(0, _INDENT, 0, 0), header_style="bold")
    table.add_column()
    for name, *column in zip(grid.header, *grid.rows, strict=True):
        words = (word for cell in (name, *column) for word in escape_controls(cell).split())
        table.add_column(
            _cell(name),
            justify="right" if name in grid.numbers else "left",
            min_width=min(max(map(cell_len, words), default=0), _UNBROKEN),
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
