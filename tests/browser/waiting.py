"""Waiting for a state of a page."""

from __future__ import annotations

import time
from typing import Any

SECONDS = 20  # a busy machine draws late


def wait_until(page: Any, holds: str, argument: object = None) -> None:
    """Wait until a JavaScript function returns true.

    Playwright's `wait_for_function` uses `eval` from its second look on, which the pages forbid.
    """
    end = time.monotonic() + SECONDS
    while not page.evaluate(holds, argument):
        assert time.monotonic() < end, f"waited {SECONDS} s for {holds}"
        page.wait_for_timeout(20)
