"""Show progress on stderr: a bar on a terminal, otherwise a line every 30 seconds."""

from __future__ import annotations

import sys
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import TypeAlias

    Update: TypeAlias = Callable[[int, int], None]

SECONDS_BETWEEN_LINES = 30


def progress_bar(
    title: str, *, shown: bool = True, clock: Callable[[], float] | None = None
) -> AbstractContextManager[Update]:
    """Return a context manager that yields a function `update(done, total)`; total 0 means unknown.

    `shown=False` yields a function that does nothing. `clock` returns seconds (None: `time.monotonic`).
    """
    from contextlib import contextmanager, nullcontext

    if not shown or sys.stderr is None:
        return nullcontext(_ignore)
    if sys.stderr.isatty():
        return contextmanager(_terminal_bar)(title)

    return nullcontext(_line_printer(title, clock or monotonic))


def _terminal_bar(title: str) -> Iterator[Update]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn(title), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total or None)


def _line_printer(title: str, clock: Callable[[], float]) -> Update:
    """Return an update function that prints a line at most every 30 seconds."""
    begun = clock()
    printed = begun

    def update(done: int, total: int) -> None:
        nonlocal printed
        now = clock()
        if now - printed < SECONDS_BETWEEN_LINES:
            return
        printed = now
        minutes, seconds = divmod(int(now - begun), 60)
        amount = f"{100 * done // total}%" if total else f"{done:,}"
        print(f"{title}: {amount} after {minutes}:{seconds:02}", file=sys.stderr, flush=True)

    return update


def _ignore(done: int, total: int) -> None:
    # Python handles Ctrl-C between bytecodes, so the core calls this function even when nothing is shown.
    pass
