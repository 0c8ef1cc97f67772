"""The interpreter alone: what no library can be faster than to start."""

from __future__ import annotations

from pathlib import Path
from platform import python_version


def version() -> str:
    """Return the version that runs."""
    return python_version()


def start(path: Path) -> str:
    """Return the program that a user would write to import and load."""
    return "pass"
