"""TOML files as dicts, on every Python that piecework runs on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file holds."""
    return tomllib.loads(path.read_text(encoding="utf-8"))
