"""Errors of the library with the names that the user of a command types."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping

import click

from piecework.errors import FileError, FormatError, PieceworkError


def with_flags(error: PieceworkError, parameters: Iterable[click.Parameter]) -> str:
    """Return the text of an error, with the flags of a command as places.

    >>> import piecework as pw
    >>> option = click.Option(["--vocab-size"])
    >>> with_flags(pw.errors.ArgumentError("vocab_size", "must be at least 15, not 6"), [option])
    '--vocab-size: must be at least 15, not 6'

    Errors about files stay as they are: a file can be called like an argument.
    """
    if isinstance(error, (FileError, FormatError)):
        return str(error)
    flags = flags_of(parameters)
    named = copy.copy(error)
    named.place = _with_flag(error.place, flags)
    named.also = tuple(_with_flag(place, flags) for place in error.also)
    return str(named)


def _with_flag(place: str, flags: Mapping[str, str]) -> str:
    """Return a place with the flag of its argument, which an index or a field can follow."""
    name = re.split(r"[\[: ]", place, maxsplit=1)[0]  # not ".": the place can be a file
    return flags.get(name, name) + place[len(name) :]


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
