"""The command line, `piecework VERB ...`; each verb has a file."""

from __future__ import annotations

import io
import sys


def main() -> None:
    """Run the command line and exit: 0 success, 2 invalid usage or input, 130 interrupted, 143 terminated.

    The code 1 means that ids differ (`verify`, `convert --verify`).
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(
            encoding="utf-8"
        )  # the locale may select another encoding for a pipe
    try:
        from piecework.cli.signals import terminate_like_ctrl_c

        terminate_like_ctrl_c()
        from piecework.cli.app import run

        code = run()
    except KeyboardInterrupt as interrupt:
        code = getattr(interrupt, "exit_code", 130)
    # After an interrupt in exec(), as of a new dataclass, `python -m` ends by SIGINT. Another exec()
    # prevents that.
    exec("")
    sys.exit(code)
