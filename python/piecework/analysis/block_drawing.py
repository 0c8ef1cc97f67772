"""Draw blocks with rich, which measures, pads and wraps cells; `block_html` writes HTML."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from piecework.analysis.alignment import Alignment
from piecework.analysis.blocks import Block, Colors, Grid, Heading, Paragraph, Tokens
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
