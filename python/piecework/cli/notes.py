"""Notes of a command on stderr."""

from __future__ import annotations

import click

from piecework.cli.parameters import is_quiet


def note(message: str) -> None:
    """Print a line on stderr unless `--quiet` is given."""
    if not is_quiet():
        click.echo(message, err=True)
