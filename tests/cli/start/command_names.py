"""Commands by name."""

from __future__ import annotations

from collections.abc import Callable

import click

from piecework.cli.app import commands
from piecework.cli.parameters import Context

Run = Callable[..., tuple[int, str, str]]


TEXT = "hug pug hugs\npun bun\n"


def command_named(verb: str) -> click.Command:
    found = commands.get_command(Context(commands), verb)
    assert found is not None
    return found
