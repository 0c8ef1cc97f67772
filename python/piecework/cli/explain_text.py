"""Print tokens in colors: those of one tokenizer, or of several below each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import click

from piecework.cli.terminal import color_console, print_blocks

if TYPE_CHECKING:
    from piecework.analysis.side_by_side import SideBySide

_KINDS = {
    "plain": "",
    "name": "bold",
    "even": "black on bright_cyan",
    "odd": "black on bright_yellow",
    "unknown": "black on bright_red",
}


def print_tokens(tokens: Sequence[str]) -> None:
    """Print tokens on alternating background colors, or separated by bars without a color terminal."""
    console = color_console()
    if console is None:
        click.echo(f"  {'|'.join(tokens)}")
        return
    from rich.text import Text

    from piecework.analysis.block_drawing import TOKEN_STYLES

    styles = cycle(TOKEN_STYLES)
    parts = [Text(token, style) for token, style in zip(tokens, styles, strict=False)]
    console.print(Text("  ").append_text(Text().join(parts)))


def print_aligned(found: SideBySide, width: int, lines: int) -> None:
    """Print the tokens of several tokenizers below each other, and a table of their counts."""
    console = color_console()
    if console is None:
        click.echo(found.to_text(lines, width), nl=False)
        return
    from rich.text import Text

    for line in found.colored(lines, width):
        console.print(Text.assemble(*((part.text, _KINDS[part.kind]) for part in line)))
    click.echo()
    print_blocks(found.blocks(lines), width)
