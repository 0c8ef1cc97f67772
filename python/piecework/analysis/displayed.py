"""Results printed as text, and shown as HTML in notebooks and pages."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from piecework.analysis.alignment import Alignment, Part
from piecework.analysis.blocks import WIDTH, Block, Colors, Grid, Heading, Paragraph, PlainData
from piecework.analysis.readable import escape_controls

LINES = 20
"""The default number of lines of each list."""


def as_text(
    blocks: Iterable[Block], width: int | None = WIDTH, colors: Colors | None = None
) -> str:
    r"""Return blocks as lines of at most `width` columns, if tables fit into it; None wraps nothing.

    >>> from piecework.analysis.blocks import Grid, Heading, Paragraph
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
    from piecework.analysis.block_drawing import drawn

    return drawn(blocks, width, colors)


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
    .piecework .aligned { overflow-x: auto; line-height: 1.6 }
    """)


def as_html(blocks: Iterable[Block]) -> str:
    """Return blocks as an HTML fragment with its style; all text is escaped.

    >>> "&lt;script&gt;" in as_html([Paragraph("<script>")])
    True
    """
    body = "\n".join(map(html_of, blocks))
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
    if isinstance(block, Alignment):
        lines = ("".join(map(_html_part, line)) for line in block.at_width(WIDTH))
        return '<pre class="aligned">{}</pre>'.format("\n".join(lines))
    return _html_grid(block)


def _html_part(part: Part) -> str:
    text = safe(part.text)
    return text if part.kind in ("plain", "name") else f'<span class="{part.kind}">{text}</span>'


def _html_grid(grid: Grid) -> str:
    kinds = [' class="number"' if name in grid.numbers else "" for name in grid.header]
    head = _html_row("th", grid.header, kinds)
    title = f"{html_of(Heading(grid.title))}\n" if grid.title else ""
    if not grid.rows:
        return f"{title}<p>none</p>"
    won = ' class="won"'
    rows = [
        f"<tr{won if at in grid.marked else ''}>{_html_row('td', row, kinds)}</tr>"
        for at, row in enumerate(grid.rows)
    ]
    more = f"<p>... and {grid.omitted:,} more</p>" if grid.omitted else ""
    body = "\n".join(rows)
    return f"{title}<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>{more}"


def _html_row(tag: str, cells: Sequence[str], kinds: Sequence[str]) -> str:
    fields = zip(cells, kinds, strict=True)
    return "".join(f"<{tag}{kind}>{safe(cell)}</{tag}>" for cell, kind in fields)


class Displayed(PlainData):
    """A result that prints its blocks."""

    def __init_subclass__(cls) -> None:
        # IPython prefers the `__repr__` of a dataclass to the method of a base class.
        cls._repr_pretty_ = Displayed._repr_pretty_  # type: ignore[method-assign]

    def blocks(self) -> Iterator[Block]:
        """Yield the headings, paragraphs and tables of the result."""
        raise NotImplementedError

    def __str__(self) -> str:
        return as_text(self.blocks()).lstrip("\n")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the text in IPython instead of all fields."""
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return as_html(self.blocks())
