"""Print tokens in colors: those of one tokenizer, or of several below each other."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import cycle

import click

import piecework as pw
from piecework.analysis.blocks import as_text
from piecework.cli.colors import has_color

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rich.console import Console

_KINDS = {
    "plain": "",
    "name": "bold",
    "even": "black on bright_cyan",
    "odd": "black on bright_yellow",
    "unknown": "black on bright_red",
}
_STYLES = ("black on bright_cyan", "black on bright_yellow", "black on bright_green")


def colored_token(token: str, at: int) -> str:
    """Return a token on the background color of its index, as `print_tokens` alternates them."""
    foreground, background = _STYLES[at % len(_STYLES)].split(" on ")
    return click.style(token, fg=foreground, bg=background)


def print_tokens(tokens: Sequence[str]) -> None:
    """Print tokens on alternating background colors, or separated by bars without a color terminal."""
    console = color_console()
    if console is None:
        click.echo(f"  {'|'.join(tokens)}")
        return
    from rich.text import Text

    styles = cycle(_STYLES)
    parts = [Text(token, style) for token, style in zip(tokens, styles, strict=False)]
    console.print(Text("  ").append_text(Text().join(parts)))


def print_aligned(found: pw.analysis.SideBySide, width: int, lines: int) -> None:
    """Print the tokens of several tokenizers below each other, and a table of their counts."""
    console = color_console()
    if console is None:
        click.echo(found.to_text(lines, width), nl=False)
        return
    from rich.text import Text

    for line in found.colored(lines, width):
        console.print(Text.assemble(*((part.text, _KINDS[part.kind]) for part in line)))
    click.echo("\n" + as_text(found.blocks(lines), width), nl=False)


def color_console() -> Console | None:
    """Return a console for a stdout with colors, None for another stdout."""
    if not has_color(sys.stdout):
        return None
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    return console if console.color_system and not console.no_color else None
