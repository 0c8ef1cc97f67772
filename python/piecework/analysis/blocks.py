"""What a result shows, as blocks: headings, paragraphs and tables, written as text or as HTML."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

from rich.cells import cell_len

from piecework.analysis.readable_tokens import escape_controls

WIDTH = 100
"""The default width of text in columns."""
_INDENT = 2
_LEAST_WIDTH = 24


@dataclass(frozen=True)
class Heading:
    """A title; `level` 1 is a part of a result, 2 a step, 3 a list.

    >>> Heading("splits").level
    3
    """

    text: str
    level: int = 3


@dataclass(frozen=True)
class Paragraph:
    """Words that are wrapped at spaces.

    >>> print(as_text([Paragraph("a b")]), end="")
      a b
    """

    text: str


class Tokens(str):
    """The tokens of a cell: separated by spaces as text, each on a color of its own on a color terminal.

    >>> cell = Tokens.of(["hu", "##g"])
    >>> cell, cell.tokens
    ('hu ##g', ('hu', '##g'))
    """

    tokens: tuple[str, ...]

    @classmethod
    def of(cls, tokens: Iterable[str]) -> Tokens:
        """Return the cell of these tokens."""
        kept = tuple(tokens)
        cell = cls(" ".join(kept))
        cell.tokens = kept
        return cell


@dataclass(frozen=True)
class Grid:
    """A table of strings; columns named in `numbers` are aligned to the right.

    >>> print(as_text([Grid(("pair", "count"), (("u g", "20"),), numbers=("count",))]), end="")
      pair  count
      u g      20

    `marked` are the indices of the rows that won. `omitted` rows follow the last one.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[str, ...] = ()
    marked: tuple[int, ...] = ()
    omitted: int = 0


Block: TypeAlias = Heading | Paragraph | Grid
Color: TypeAlias = Callable[[str, int], str]
"""Returns a token in the color of its index."""


# ---- text


def as_text(
    blocks: Iterable[Block],
    width: int = WIDTH,
    emphasis: Callable[[str], str] = str,
    color: Color | None = None,
) -> str:
    """Return blocks as lines of at most `width` columns; long words and wide first columns exceed it.

    >>> print(as_text([Heading("splits"), Paragraph("h ##u ##g")]), end="")
    splits
      h ##u ##g

    `emphasis` changes headings and the rows that won, `color` the tokens of cells, for a terminal.

    >>> grid = Grid(("symbols",), ((Tokens.of(["h", "ug"]),),))
    >>> print(as_text([grid], color=lambda token, at: f"[{token}]" if at % 2 else token), end="")
      symbols
      h [ug]
    """
    lines = (line for block in blocks for line in _lines(block, width, emphasis, color))
    return "".join(f"{line}\n" for line in lines)


def _lines(
    block: Block, width: int, emphasis: Callable[[str], str], color: Color | None
) -> Iterator[str]:
    if isinstance(block, Heading):
        yield from _heading(block, emphasis)
    elif isinstance(block, Paragraph):
        for line in wrapped(block.text, width - _INDENT):
            yield (" " * _INDENT + line).rstrip()
    else:
        for line, won in _grid(block, width, color):
            yield emphasis(line.rstrip()) if won else line.rstrip()


def _heading(heading: Heading, emphasis: Callable[[str], str]) -> Iterator[str]:
    text = escape_controls(heading.text)
    if heading.level < 3:
        yield ""
    yield emphasis(text)
    if heading.level < 3:
        yield ("=" if heading.level == 1 else "-") * cell_len(text)


def wrapped(text: str, width: int) -> list[str]:
    """Wrap text at spaces; a word that is longer than `width` columns has a line of its own.

    >>> wrapped("aa b cc", 4)
    ['aa b', 'cc']
    """
    lines: list[str] = []
    line, used = "", 0
    for word in escape_controls(text).split(" "):
        size = cell_len(word)
        if line and used + 1 + size > width:
            lines.append(line)
            line, used = word, size
        elif line:
            line, used = f"{line} {word}", used + 1 + size
        else:
            line, used = word, size
    return [*lines, line]


def _grid(grid: Grid, width: int, color: Color | None) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether its row won."""
    if not grid.rows:
        yield " " * _INDENT + "none", False
        return
    rows = [tuple(map(_escaped, row)) for row in (grid.header, *grid.rows)]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    before_last = _INDENT + sum(widths[:-1]) + 2 * (len(widths) - 1)
    room = max(width - before_last, _LEAST_WIDTH)
    is_number = [name in grid.numbers for name in grid.header]
    for at, row in enumerate(rows):
        won = at - 1 in grid.marked
        mark = ">" if won else " "
        cells = [
            _padded(cell, size, right, color)
            for cell, size, right in zip(row[:-1], widths, is_number, strict=False)
        ]
        if is_number[-1]:
            first, more = _padded(row[-1], widths[-1], True, color), []
        else:
            first, *more = _wrapped_cell(row[-1], room, color)
        yield mark + " " * (_INDENT - 1) + "  ".join([*cells, first]), won
        yield from ((" " * before_last + line, won) for line in more)
    if grid.omitted:
        yield " " * _INDENT + f"... and {grid.omitted:,} more", False


def _escaped(cell: str) -> str:
    if isinstance(cell, Tokens):
        return Tokens.of(map(escape_controls, cell.tokens))
    return escape_controls(cell)


def _padded(cell: str, width: int, right: bool, color: Color | None) -> str:
    space = " " * (width - cell_len(cell))
    shown = "".join(_colored(cell, color))
    return space + shown if right else shown + space


def _wrapped_cell(cell: str, width: int, color: Color | None) -> list[str]:
    """Return the lines of a cell; tokens in color break between two of them."""
    if color is None or not isinstance(cell, Tokens):
        return wrapped(cell, width)
    lines, used = [""], 0
    for token, colored in zip(cell.tokens, _colored(cell, color), strict=True):
        size = cell_len(token)
        if used and used + 1 + size > width:
            lines, used = [*lines, ""], 0
        lines[-1] += colored if used else colored.lstrip(" ")
        used += size + (used > 0)
    return lines


def _colored(cell: str, color: Color | None) -> list[str]:
    """Return the tokens of a cell in color, each but the first after a space; else the cell."""
    if color is None or not isinstance(cell, Tokens):
        return [cell]
    return [f"{' ' if at else ''}{color(token, at)}" for at, token in enumerate(cell.tokens)]


# ---- HTML

STYLE = textwrap.dedent("""\
    .piecework { font-size: 14px; line-height: 1.45; overflow-x: auto }
    .piecework table { border-collapse: collapse; margin: .3em 0 .8em; width: auto }
    .piecework th, .piecework td { padding: .1em .7em; text-align: left; vertical-align: top;
      border-bottom: 1px solid rgba(128,128,128,.35); background: none; color: inherit }
    .piecework td { font-family: ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere }
    .piecework .number { text-align: right; font-variant-numeric: tabular-nums }
    .piecework .won td { background: rgba(66,133,244,.25); font-weight: 600 }
    .piecework p { margin: .2em 0 .6em; overflow-wrap: anywhere; white-space: pre-wrap }
    .piecework h3, .piecework h4, .piecework h5 { margin: .9em 0 .2em }
    .piecework h5 { font-size: 1em; font-weight: 600 }
    .piecework .token { border-radius: 2px; white-space: pre-wrap }
    .piecework .even { background: rgba(66,133,244,.28) }
    .piecework .odd { background: rgba(251,188,5,.38) }
    .piecework .unknown { background: rgba(234,67,53,.38); text-decoration: underline wavy }
    .piecework .aligned td { padding: .1em .15em; border: 1px solid rgba(128,128,128,.45);
      text-align: center }
    .piecework .aligned td.even { background: rgba(66,133,244,.28) }
    .piecework .aligned td.odd { background: rgba(251,188,5,.38) }
    .piecework .aligned td.unknown { background: rgba(234,67,53,.38) }
    .piecework .aligned td.gap { opacity: .55; border-style: dotted }
    .piecework .aligned td.number { border: none; padding-right: .7em }
    """)


def as_html(blocks: Iterable[Block]) -> str:
    """Return blocks as an HTML fragment with its style; all text is escaped.

    >>> "&lt;script&gt;" in as_html([Paragraph("<script>")])
    True
    """
    body = "\n".join(map(html_of, blocks))
    return fragment(body)


def fragment(body: str) -> str:
    """Return HTML in the container that the style applies to.

    >>> fragment("<p>hug</p>").startswith("<style>")
    True
    """
    return f'<style>\n{STYLE}</style>\n<div class="piecework">\n{body}\n</div>\n'


def page(title: str, body: str) -> str:
    """Return a self-contained HTML page in light or dark colours, as the system is set.

    >>> "color-scheme" in page("hug", "<p>hug</p>")
    True
    """
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{safe(title)}</title>\n<style>html {{ color-scheme: light dark }}\n"
        "body { font-family: system-ui, sans-serif; max-width: 72rem; margin: 1.5rem auto; "
        "padding: 0 1rem }</style>\n"
        f"</head><body>\n<h2>{safe(title)}</h2>\n{body}</body></html>\n"
    )


def safe(text: str) -> str:
    """Return text as HTML: markup escaped, unprintable characters as escape sequences.

    >>> safe("<b>")
    '&lt;b&gt;'
    """
    return escape(escape_controls(text))


def html_of(block: Block) -> str:
    """Return one block as HTML.

    >>> html_of(Paragraph("a < b"))
    '<p>a &lt; b</p>'
    """
    if isinstance(block, Heading):
        tag = f"h{block.level + 2}"
        return f"<{tag}>{safe(block.text)}</{tag}>"
    if isinstance(block, Paragraph):
        return f"<p>{safe(block.text)}</p>"
    return _html_grid(block)


def _html_grid(grid: Grid) -> str:
    kinds = [' class="number"' if name in grid.numbers else "" for name in grid.header]
    head = _html_row("th", grid.header, kinds)
    if not grid.rows:
        return "<p>none</p>"
    won = ' class="won"'
    rows = [
        f"<tr{won if at in grid.marked else ''}>{_html_row('td', row, kinds)}</tr>"
        for at, row in enumerate(grid.rows)
    ]
    more = f"<p>... and {grid.omitted:,} more</p>" if grid.omitted else ""
    body = "\n".join(rows)
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>{more}"


def _html_row(tag: str, cells: Sequence[str], kinds: Sequence[str]) -> str:
    fields = zip(cells, kinds, strict=True)
    return "".join(f"<{tag}{kind}>{safe(cell)}</{tag}>" for cell, kind in fields)
