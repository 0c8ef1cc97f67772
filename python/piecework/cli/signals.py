"""SIGTERM and SIGHUP end a command like Ctrl-C, so that temporary files are removed."""

from __future__ import annotations

import signal
import threading

_TERMINATION = ("SIGTERM", "SIGHUP")


class Terminated(KeyboardInterrupt):
    """The process received a termination signal; `exit_code` is 128 plus its number, as in a shell."""

    def __init__(self, number: int) -> None:
        super().__init__(f"terminated by {signal.Signals(number).name}")
        self.exit_code = 128 + number


def terminate_like_ctrl_c() -> None:
    """Make SIGTERM and SIGHUP raise `Terminated`; signals ignored by the parent process stay ignored."""
    if threading.current_thread() is not threading.main_thread():
        return
    for name in _TERMINATION:
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _raise_terminated)


def _raise_terminated(number: int, _: object) -> None:
    raise Terminated(number)
