"""A build backend that copies a source distribution's metadata and runs none of its code.

`fetch.py` installs this file under the names of the backends that the packages declare, so that
`pip download` needs no compiler and none of their build dependencies.
"""

from __future__ import annotations

import shutil
import sys
from email.parser import HeaderParser
from pathlib import Path
from typing import Any


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return no requirements: nothing is built."""
    return []


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Any = None) -> str:
    """Copy PKG-INFO, which every source distribution carries, and return the folder's name."""
    header = HeaderParser().parsestr(Path("PKG-INFO").read_text(encoding="utf-8"))
    folder = f"{header['Name'].replace('-', '_')}-{header['Version']}.dist-info"
    Path(metadata_directory, folder).mkdir()
    shutil.copyfile("PKG-INFO", Path(metadata_directory, folder, "METADATA"))
    return folder


# The backend object of packages without a pyproject.toml.
__legacy__ = sys.modules[__name__]
