"""Progress on stderr: a bar on a terminal, elsewhere a line every 30 seconds."""

from __future__ import annotations

import sys

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
    """Return a context that gives `progress(done, total)`; total 0 means unknown.

    `clock` returns seconds, by default those of `time.monotonic`.
    """
    from contextlib import contextmanager, nullcontext

    if not shown or sys.stderr is None:
        return nullcontext(_stay_silent)
    if sys.stderr.isatty():
        return contextmanager(_drawn)(title)
    from time import monotonic

    return nullcontext(_lines(title, clock or monotonic))


def _drawn(title: str) -> Iterator[Update]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn(title), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total or None)


def _lines(title: str, clock: Callable[[], float]) -> Update:
    """Return a function that prints a line when 30 seconds have passed since the last one."""
    begun = clock()
    printed = begun

    def update(done: int, total: int) -> None:
        nonlocal printed
        now = clock()
        if now - printed < SECONDS_BETWEEN_LINES:
            return
        printed = now
        minutes, seconds = divmod(int(now - begun), 60)
        share = f"{100 * done // total}%" if total else f"{done:,}"
        print(f"{title}: {share} after {minutes}:{seconds:02}", file=sys.stderr, flush=True)

    return update


def _stay_silent(done: int, total: int) -> None:
    # Even a call that does nothing gives Python the chance to notice Ctrl-C.
    pass
