"""Import optional dependencies, with an error that names the extra to install."""

from __future__ import annotations

from piecework._internal.lazy import typing
from piecework.errors import MissingExtraError


def import_extra(module: str, extra: str, needed_for: str | None = None) -> typing.Any:
    """Import and return a module of an optional dependency.

    >>> import_extra("json", "none").dumps([])
    '[]'

    Raises `MissingExtraError` that names `needed_for`, such as a file or an argument, and the command
    that installs the extra.
    """
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        place = module if needed_for is None else needed_for
        expected = f"the extra {extra!r}: pip install 'piecework[{extra}]'"
        raise MissingExtraError(place, f"no {module} ({error})", expected) from error
