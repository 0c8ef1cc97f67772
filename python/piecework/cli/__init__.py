"""The command line, `piecework VERB ...`; each verb has a file."""

from __future__ import annotations

import io
import signal
import sys
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


def main() -> None:
    """Run the command line and exit: 0 success, 2 invalid usage or input, 130 interrupted, 143 terminated.

    The code 1 means that ids differ (`verify`, `convert --verify`).
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(
            encoding="utf-8"
        )  # the locale may select another encoding for a pipe
    try:
        terminate_like_ctrl_c()
        from piecework.cli.app import run

        code = run()
    except KeyboardInterrupt as interrupt:
        code = getattr(interrupt, "exit_code", 130)
    # After an interrupt in exec(), as of a new dataclass, `python -m` ends by SIGINT. Another exec()
    # prevents that.
    exec("")
    sys.exit(code)
