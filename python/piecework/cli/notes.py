"""What a command prints on stderr: progress, and a summary line."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import click

from piecework._internal.progress import progress_bar
from piecework.cli.parameters import is_quiet


def note(message: str) -> None:
    """Print a line on stderr unless `--quiet` is given."""
    if not is_quiet():
        click.echo(message, err=True)


def progress(
    title: str, *, in_bytes: bool = False
) -> AbstractContextManager[Callable[[int, int], None]]:
    """Return a context manager for `progress(done, total)`, which prints nothing with `--quiet`.

    With `in_bytes`, the numbers are bytes of files; the rate and the current file are shown too.
    """
    return progress_bar(title, not is_quiet(), in_bytes=in_bytes)
