"""The command line: `piecework VERB ...`, one file for each verb."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit: 0 done, 2 bad usage or bad input, 130 interrupted, 143 terminated."""
    import io
    import sys

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # a pipe may have been given less
    try:
        from piecework.cli.signals import end_like_ctrl_c

        end_like_ctrl_c()
        from piecework.cli.app import run

        code = run()
    except KeyboardInterrupt as interrupt:
        code = getattr(interrupt, "exit_code", 130)
    sys.exit(code)
