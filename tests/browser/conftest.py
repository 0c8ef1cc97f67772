"""Tests in this folder need Playwright and Chromium, as `make test-browser` has them.

Without Playwright they are not collected.
"""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.browser.waiting import SECONDS

collect_ignore_glob = [] if find_spec("playwright") else ["test_*.py"]
NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def launched() -> Iterator[Callable[..., Any]]:
    """Return a function that starts Chromium with options."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=1000 * SECONDS)
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.fail(f"found no Chromium ({', '.join(NAMES)}): apt install chromium")
    with sync_playwright() as playwright:

        def launch(*options: str) -> Any:
            # A container often has no user for the sandbox.
            options = ("--no-sandbox", *options)
            return playwright.chromium.launch(executable_path=path, args=options)

        yield launch


@pytest.fixture(scope="session")
def browser(launched: Callable[..., Any]) -> Iterator[Any]:
    running = launched()
    yield running
    running.close()


def serving(tokenizers: Any) -> Iterator[str]:
    """Serve tokenizers in a thread; yield the address."""
    import uvicorn

    from piecework.cli.playground import create_app

    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(create_app(tokenizers), log_level="warning", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        server.should_exit = True
        thread.join()


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves a folder below `prefix`, without a log."""

    prefix = ""

    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix(self.prefix))

    def log_message(self, *given: object) -> None:
        """Print nothing."""


def serving_folder(folder: Path, handler: type[QuietHandler] = QuietHandler) -> Iterator[str]:
    """Serve the files of a folder in a thread; yield the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}{handler.prefix}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    from tests.playground.tokenizers import all_kinds

    yield from serving(all_kinds())


@pytest.fixture(scope="session")
def normalizing_site() -> Iterator[str]:
    from tests.playground.tokenizers import byte_bpe, compatible, uncased

    yield from serving({"uncased": uncased(), "bytes": byte_bpe(), "nfkc": compatible()})


@pytest.fixture(scope="session")
def hostile_site() -> Iterator[str]:
    from piecework.errors import FormatError
    from tests.playground.tokenizers import HOSTILE, byte_bpe, hostile

    broken = FormatError(HOSTILE[0], f"found {HOSTILE[1]}, expected {HOSTILE[2]}")
    yield from serving({HOSTILE[1]: hostile(), "bytes": byte_bpe(), HOSTILE[0]: broken})


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Return a function that opens a page; errors in the console fail the test."""
    contexts: list[Any] = []
    faults: list[str] = []

    def open_page(address: str, **settings: Any) -> Any:
        settings = {"viewport": {"width": 1280, "height": 900}, **settings}
        contexts.append(browser.new_context(**settings))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda m: faults.append(m.text) if m.type in ("error", "warning") else 0)
        page.goto(address)
        return page

    open_page.faults = faults  # type: ignore[attr-defined]
    yield open_page
    for context in contexts:
        context.close()
    assert faults == []
