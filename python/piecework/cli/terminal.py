"""Print results: in the width and the colors of a terminal, plain elsewhere."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

    from piecework.analysis.blocks import Block, Colors


def print_blocks(blocks: Iterable[Block], width: int | None) -> None:
    """Print blocks of at most `width` columns, None for any width."""
    from piecework.analysis.displayed import as_text

    console = color_console()
    colors: Colors | None = console.color_system if console else None  # type: ignore[assignment]
    click.echo(as_text(blocks, width, colors).lstrip("\n"), nl=False)


def terminal_width() -> int | None:
    """Return the number of columns of the terminal, None for another stdout."""
    from piecework.analysis.displayed import WIDTH

    if sys.stdout is not None and sys.stdout.isatty():
        return shutil.get_terminal_size((WIDTH, 24)).columns
    return None


def color_console() -> Console | None:
    """Return a console for a stdout with colors, None for another stdout."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    has_colors = console.is_terminal and console.color_system and not console.no_color
    return console if has_colors else None
