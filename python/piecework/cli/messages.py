"""The names that the user of a command types for arguments of the library."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click


def flags_of(parameters: Iterable[click.Parameter]) -> dict[str, str]:
    """Return argument name -> what the user types: a flag, or the name of a positional argument.

    >>> flags_of([click.Option(["--vocab-size"]), click.Argument(["corpus"])])
    {'vocab_size': '--vocab-size', 'corpus': 'CORPUS'}
    """
    flags = {}
    for parameter in parameters:
        if isinstance(parameter, click.Option):
            flag = max(parameter.opts, key=len)
            for name in (parameter.name, flag.lstrip("-").replace("-", "_")):
                flags[str(name)] = flag
        else:
            usage = re.search(r"[A-Z]+", parameter.human_readable_name)
            flags[str(parameter.name)] = usage.group() if usage else str(parameter.name).upper()
    return flags
