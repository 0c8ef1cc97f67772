"""`piecework completion`: print a shell script that completes commands, options and files."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from piecework.cli.parameters import COMPLETE, command

_EXAMPLE = """\b
Example:
  piecework completion bash > ~/.local/share/bash-completion/completions/piecework
  piecework completion zsh > "${fpath[1]}/_piecework"
  piecework completion fish > ~/.config/fish/completions/piecework.fish
"""


@command(epilog=_EXAMPLE)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a completion script for SHELL: bash (4.4 or later), zsh or fish."""
    kind = get_completion_class(shell)
    assert kind is not None  # click has these three
    script = kind(ctx.find_root().command, {}, "piecework", COMPLETE).source()
    click.echo(script)
