"""Progress bars: on stderr, and only when that is a terminal."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import TypeAlias

    Update: TypeAlias = Callable[[int, int], None]


def progress_bar(title: str, *, shown: bool = True) -> AbstractContextManager[Update]:
    """Give a `progress(done, total)` function that draws, or does nothing; total 0 means unknown."""
    from contextlib import contextmanager, nullcontext

    if not shown or not sys.stderr.isatty():
        return nullcontext(_stay_silent)
    return contextmanager(_drawn)(title)


def _drawn(title: str) -> Iterator[Update]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn(title), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total or None)


def _stay_silent(done: int, total: int) -> None:
    # Even a call that does nothing gives Python the chance to notice Ctrl-C.
    pass
