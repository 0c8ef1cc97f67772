"""Print tokens in colors."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import cycle

import click

_STYLES = ("black on bright_cyan", "black on bright_yellow", "black on bright_green")


def print_tokens(tokens: Sequence[str]) -> None:
    """Print tokens on alternating background colors, or separated by bars without a color terminal."""
    if sys.stdout is not None and sys.stdout.isatty():
        from rich.console import Console
        from rich.text import Text

        console = Console(highlight=False, soft_wrap=True)
        if console.color_system and not console.no_color:
            styles = cycle(_STYLES)
            parts = [Text(token, style) for token, style in zip(tokens, styles, strict=False)]
            console.print(Text("  ").append_text(Text().join(parts)))
            return
    click.echo(f"  {'|'.join(tokens)}")
