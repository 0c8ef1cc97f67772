"""Importing what an extra brings."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from piecework.errors import MissingExtraError


def imported(module: str, extra: str) -> Any:
    """Import a module, or say which extra brings it.

    >>> imported("json", "none").dumps([])
    '[]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        expected = f"the extra that brings it: pip install 'piecework[{extra}]'"
        raise MissingExtraError(module, f"no {module} ({error})", expected) from error
