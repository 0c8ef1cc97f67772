"""Colors of a command: on a terminal, unless NO_COLOR, FORCE_COLOR or `--color` says otherwise."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

COLOR_CHOICES = ("auto", "always", "never")
_VARIABLES = ("NO_COLOR", "FORCE_COLOR")


def forced_color() -> bool | None:
    """Return whether the environment turns colors on or off, None if the kind of the stream decides."""
    if os.environ.get("NO_COLOR"):
        return False
    return True if os.environ.get("FORCE_COLOR") else None


def has_color(stream: TextIO | None) -> bool:
    """Return whether to write colors to a stream."""
    forced = forced_color()
    return stream is not None and (stream.isatty() if forced is None else forced)


def choose_color(choice: str) -> None:
    """Apply `always` or `never` to this program and its libraries, through their environment."""
    if choice != "auto":
        for name, value in zip(_VARIABLES, ("never", "always"), strict=True):
            os.environ[name] = "1" if choice == value else ""


@contextmanager
def environment_kept() -> Iterator[None]:
    """Undo `choose_color` at the end."""
    before = {name: os.environ.get(name) for name in _VARIABLES}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
