"""Tests in this folder need Playwright, Chromium and the built site, as `make test-docs` has them.

Without Playwright they are not collected.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import (
    browser,
    collect_ignore_glob,
    launched,
    opened,
    serving_folder,
)

__all__ = ["browser", "collect_ignore_glob", "launched", "opened"]
SITE = Path(__file__).parents[2] / "build" / "docs" / "site"


@pytest.fixture(scope="session")
def files() -> str:
    """The address of the site as files."""
    if not (SITE / "index.html").exists():
        pytest.fail(f"found no {SITE}: run make docs")
    return SITE.as_uri() + "/"


@pytest.fixture(scope="session")
def served(files: str) -> Iterator[str]:
    """The address of the site on a server."""
    yield from serving_folder(SITE)
