"""Termination requests end a command as Ctrl-C does, so that no temporary file is left behind."""

from __future__ import annotations

import signal
import threading

_TERMINATION = ("SIGTERM", "SIGHUP")


class Terminated(KeyboardInterrupt):
    """The process was asked to end; `exit_code` is what a shell reports for the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(f"ended by {signal.Signals(number).name}")
        self.exit_code = 128 + number


def end_like_ctrl_c() -> None:
    """Make SIGTERM and SIGHUP raise `Terminated`; a signal that the parent process ignores stays ignored."""
    if threading.current_thread() is not threading.main_thread():
        return
    for name in _TERMINATION:
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _raise_terminated)


def _raise_terminated(number: int, _: object) -> None:
    raise Terminated(number)
