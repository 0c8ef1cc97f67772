"""Blocks as text."""

from __future__ import annotations

from collections.abc import Iterable

from piecework.analysis.blocks import Block, Colors

WIDTH = 100
"""The default width of text in columns."""


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
