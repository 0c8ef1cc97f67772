"""Show progress on stderr: a bar on a terminal or in a notebook, otherwise a line every 30 seconds.

It shows the share and the remaining time if the total is known; in bytes, also the rate and the current file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import monotonic
from typing import TYPE_CHECKING

from piecework._internal.types import Progress, Update
from piecework.errors import InputTypeError

if TYPE_CHECKING:
    from rich.progress import ProgressColumn


SECONDS_BETWEEN_LINES = 30
_MAX_NAME_CHARS = 30


def progress_bar(
    title: str,
    progress: Progress = True,
    *,
    clock: Callable[[], float] | None = None,
    in_bytes: bool = False,
) -> AbstractContextManager[Update]:
    """Return a context manager that yields a function `update(done, total)`; total 0 means unknown.

    True shows a bar, None and False nothing; a function is yielded as it is. `clock` returns seconds (None:
    `time.monotonic`). With `in_bytes`, the numbers are bytes of files, and `show_source` sets the current
    file. Raises `InputTypeError` for another value.
    """
    if callable(progress):
        return nullcontext(progress)
    given: object = progress
    if given is not None and not isinstance(given, bool):
        expected = "True, or a function that takes how much is done and the total"
        raise InputTypeError("progress", type(given).__name__, expected)
    if not progress or sys.stderr is None:
        return nullcontext(_ignore)
    if sys.stderr.isatty():
        return contextmanager(_terminal_bar)(title, in_bytes)
    if _is_notebook():
        return contextmanager(_notebook_bar)(title)
    return nullcontext(_LinePrinter(title, clock or monotonic, in_bytes))


def show_source(update: Update, name: str) -> None:
    """Set the name of the file that is read now; other functions than those of `progress_bar` ignore it."""
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


def _terminal_bar(title: str, in_bytes: bool) -> Iterator[Update]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    bar = (TextColumn(title, markup=False), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Bars(
        *bar, *_further_columns(in_bytes), console=Console(stderr=True), transient=True
    ) as shown:
        task = shown.add_task(title, total=None, source="")

        class Bar(_ProgressOfFiles):
            def __call__(self, done: int, total: int) -> None:
                shown.update(task, completed=done, total=total or None, source=self.shown_source)

        yield Bar()


def _further_columns(in_bytes: bool) -> tuple[ProgressColumn, ...]:
    from rich.progress import TextColumn, TimeRemainingColumn, TransferSpeedColumn

    left = (TextColumn("left"), TimeRemainingColumn())
    source = TextColumn("{task.fields[source]}", markup=False)
    return (TransferSpeedColumn(), *left, source) if in_bytes else left


_SECONDS_BETWEEN_UPDATES = 0.1


def _is_notebook() -> bool:
    """Return whether the program runs in a Jupyter kernel."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", _no_shell)()
    return hasattr(shell, "kernel")


def _no_shell() -> None:
    return None


def _notebook_bar(title: str) -> Iterator[Update]:
    """Yield a function that updates a bar in the output of a cell; it needs no widgets."""
    from IPython.display import display

    begun = monotonic()
    handle = display(_NotebookBar(title, 0, 0, ""), display_id=True)
    shown = begun

    class Bar(_ProgressOfFiles):
        def __call__(self, done: int, total: int) -> None:
            nonlocal shown
            now = monotonic()
            if now - shown >= _SECONDS_BETWEEN_UPDATES:
                shown = now
                handle.update(_NotebookBar(title, done, total, self.shown_source))

    try:
        yield Bar()
    finally:
        handle.update(_NotebookBar(f"{title}: {_minutes(monotonic() - begun)}", 1, 1, ""))


class _NotebookBar:
    """A bar that a notebook shows; other front ends show its text."""

    def __init__(self, title: str, done: int, total: int, source: str) -> None:
        self._title, self._done, self._total, self._source = title, done, total, source

    def __repr__(self) -> str:
        share = f" {100 * self._done // self._total}%" if self._total else f" {self._done:,}"
        return f"{self._title}{share} {self._source}".rstrip()

    def _repr_html_(self) -> str:
        from html import escape

        value = f' value="{self._done}" max="{self._total}"' if self._total else ""
        label = escape(f"{self._title} {self._source}".rstrip())
        return f'<label>{label} <progress{value} style="vertical-align: middle"></progress></label>'


class _LinePrinter(_ProgressOfFiles):
    """Print a line at most every 30 seconds."""

    def __init__(self, title: str, clock: Callable[[], float], in_bytes: bool) -> None:
        self._title = title
        self._clock = clock
        self._in_bytes = in_bytes
        self._begun = self._printed = clock()

    def __call__(self, done: int, total: int) -> None:
        now = self._clock()
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
