"""Tables of text: drawn on a terminal, columns two spaces apart anywhere else."""

from __future__ import annotations

import sys

import click

import piecework as pw
from piecework.cli.terminal_text import visible


def show_table(table: pw.analysis.Table) -> None:
    """Print a table as the output can take it."""
    if sys.stdout is not None and sys.stdout.isatty():
        _draw(table)
    else:
        _print(table)


def _print(table: pw.analysis.Table) -> None:
    """Print columns of text, two spaces apart, whatever the width."""
    rows = [tuple(map(visible, table.header)), *table.rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    click.echo(f"\n{table.title}")
    for label, *cells in rows:
        padded = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        click.echo("  ".join([label.ljust(widths[0]), *padded]).rstrip())


def _draw(table: pw.analysis.Table) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=table.title, title_justify="left")
    for place, name in enumerate(table.header):
        drawn.add_column(Text(visible(name)), justify="right" if place else "left")
    for row in table.rows:
        drawn.add_row(*map(Text, row))
    Console().print(drawn)
