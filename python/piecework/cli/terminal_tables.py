"""Print text tables: with borders on a terminal, with two spaces between columns elsewhere."""

from __future__ import annotations

import shutil
import sys

import click
from rich.cells import cell_len

from piecework.analysis.readable_tokens import escape_controls
from piecework.analysis.text_tables import Table

_WIDTH_ELSEWHERE = 100


def width() -> int:
    """Return the number of columns of the terminal, 100 for another stdout."""
    if sys.stdout is not None and sys.stdout.isatty():
        return shutil.get_terminal_size((_WIDTH_ELSEWHERE, 24)).columns
    return _WIDTH_ELSEWHERE


def show_table(table: Table) -> None:
    """Print a table in the style for the kind of stdout."""
    if sys.stdout is not None and sys.stdout.isatty():
        _print_with_borders(table)
    else:
        _print_plain(table)
    for line in table.legend:
        click.echo(line)


def _print_plain(table: Table) -> None:
    """Print aligned columns, two spaces apart, without a width limit."""
    rows = [tuple(map(escape_controls, table.header)), *table.rows]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    click.echo(f"\n{table.title}")
    for row in rows:
        spaces = [" " * (size - cell_len(cell)) for cell, size in zip(row, widths, strict=True)]
        label, *cells = row
        padded = [space + cell for space, cell in zip(spaces[1:], cells, strict=True)]
        click.echo("  ".join([label + spaces[0], *padded]).rstrip())


def _print_with_borders(table: Table) -> None:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    bordered = RichTable(title=table.title, title_justify="left")
    for at, name in enumerate(table.header):
        bordered.add_column(Text(escape_controls(name)), justify="right" if at else "left")
    for row in table.rows:
        bordered.add_row(*map(Text, row))
    Console().print(bordered)
