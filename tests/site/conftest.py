"""Tests in this folder need Playwright, Chromium and the built site, as `make test-docs` has them.

Without Playwright they are not collected.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.browser.conftest import browser, collect_ignore_glob, opened

__all__ = ["browser", "collect_ignore_glob", "opened"]
SITE = Path(__file__).parents[2] / "build" / "docs" / "site"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def files() -> str:
    """The address of the site as files."""
    if not (SITE / "index.html").exists():
        pytest.fail(f"found no {SITE}: run make docs")
    return SITE.as_uri() + "/"


@pytest.fixture(scope="session")
def served(files: str) -> Iterator[str]:
    """The address of the site on a server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()
