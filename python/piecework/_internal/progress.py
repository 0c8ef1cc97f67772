"""Show progress on stderr: a bar on a terminal or in a notebook, otherwise a line every 30 seconds.

It shows the share and the remaining time if the total is known; in bytes, also the rate and the current file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import monotonic
from typing import TYPE_CHECKING, Any

from piecework._internal.types import Progress, Update
from piecework.errors import InputTypeError

if TYPE_CHECKING:
    from rich.table import Table


SECONDS_BETWEEN_LINES = 30
_MAX_NAME_CHARS = 30


def progress_bar(
    title: str, progress: Progress = True, *, in_bytes: bool = False
) -> AbstractContextManager[Update]:
    """Return a context manager that yields a function `update(done, total)`; total 0 means unknown.

    True shows a bar, None and False nothing; a function is yielded as it is. With `in_bytes`, the numbers are
    bytes of files, and `show_source` sets the current file. Raises `InputTypeError` for another value.
    """
    if callable(progress):
        return nullcontext(progress)
    given: object = progress
    if given is not None and not isinstance(given, bool):
        expected = "True, or a function that takes how much is done and the total"
        raise InputTypeError("progress", f"must be {expected}, not {type(given).__name__}")
    if not progress or sys.stderr is None:
        return nullcontext(_ignore)
    if sys.stderr.isatty():
        return contextmanager(_terminal_bar)(title, in_bytes)
    if _is_notebook():
        return contextmanager(_notebook_bar)(title, in_bytes)
    return nullcontext(_LinePrinter(title, in_bytes))


def show_source(update: Update, name: str) -> None:
    """Set the name of the file that is read now; only bars made by `progress_bar` show it."""
    if isinstance(update, _ProgressOfFiles):
        update.source = name


class _ProgressOfFiles:
    """A function `update(done, total)` with the name of the current file."""

    source = ""

    def __call__(self, done: int, total: int) -> None:
        raise NotImplementedError

    @property
    def shown_source(self) -> str:
        """The last part of the current path or URL, shortened."""
        name = os.path.basename(self.source.rstrip("/"))
        return name if len(name) <= _MAX_NAME_CHARS else "..." + name[3 - _MAX_NAME_CHARS :]


class _Bar(_ProgressOfFiles):
    """A bar of rich."""

    def __init__(self, title: str, in_bytes: bool, **settings: Any) -> None:
        import rich.progress as rich

        bar = (rich.TextColumn(title, markup=False), rich.BarColumn(), rich.TaskProgressColumn())
        speed = (rich.TransferSpeedColumn(),) if in_bytes else ()
        left = (rich.TextColumn("left"), rich.TimeRemainingColumn())
        source = (rich.TextColumn("{task.fields[source]}", markup=False),) if in_bytes else ()
        columns = (*bar, rich.TimeElapsedColumn(), *speed, *left, *source)
        self.bars = rich.Progress(*columns, **settings)
        self._task = self.bars.add_task(title, total=None, source="")

    def __call__(self, done: int, total: int) -> None:
        self.bars.update(self._task, completed=done, total=total or None, source=self.shown_source)


def _terminal_bar(title: str, in_bytes: bool) -> Iterator[Update]:
    from rich.console import Console

    bar = _Bar(title, in_bytes, console=Console(stderr=True), transient=True)
    with bar.bars:
        yield bar


_SECONDS_BETWEEN_UPDATES = 0.1


def _is_notebook() -> bool:
    """Return whether the program runs in a notebook; without IPython, rich need not be imported."""
    if "IPython" not in sys.modules:
        return False
    from rich.console import Console

    return Console().is_jupyter


class _NotebookBar(_Bar):
    """A bar in the output of a cell, without the widgets with which rich updates one."""

    def __init__(self, title: str, in_bytes: bool) -> None:
        from IPython.display import display

        super().__init__(title, in_bytes)
        self._handle = display(self._table(), display_id=True)
        self._shown = monotonic()

    def __call__(self, done: int, total: int) -> None:
        super().__call__(done, total)
        if monotonic() - self._shown >= _SECONDS_BETWEEN_UPDATES:
            self.show()

    def show(self) -> None:
        """Show the bar as it is now."""
        self._shown = monotonic()
        self._handle.update(self._table())

    def _table(self) -> Table:
        return self.bars.make_tasks_table(self.bars.tasks)


def _notebook_bar(title: str, in_bytes: bool) -> Iterator[Update]:
    bar = _NotebookBar(title, in_bytes)
    try:
        yield bar
    finally:
        bar.show()


class _LinePrinter(_ProgressOfFiles):
    """Print a line at most every 30 seconds."""

    def __init__(self, title: str, in_bytes: bool) -> None:
        self._title = title
        self._in_bytes = in_bytes
        self._begun = self._printed = monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = monotonic()
        if now - self._printed < SECONDS_BETWEEN_LINES:
            return
        self._printed = now
        seconds = now - self._begun
        amount = f"{100 * done // total}%" if total else f"{done:,}"
        parts = [f"{self._title}: {amount} after {_minutes(seconds)}"]
        if self._in_bytes:
            parts.append(f"{done / seconds / 1e6:.1f} MB/s")
        if total > done > 0:
            parts.append(f"{_minutes(seconds * (total - done) / done)} left")
        if self._in_bytes and self.source:
            parts.append(self.shown_source)
        print(", ".join(parts), file=sys.stderr, flush=True)


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02}"


def _ignore(done: int, total: int) -> None:
    # Python handles Ctrl-C between bytecodes, so the core calls this function even when nothing is shown.
    pass
