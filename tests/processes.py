"""Processes that the tests start."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

POSIX = pytest.mark.skipif(os.name == "nt", reason="needs POSIX files, signals or processes")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

# The command in a shell: the path of the interpreter may have spaces.
PIECEWORK = f"{shlex.quote(sys.executable)} -m piecework"

# For programs of tests. `ru_maxrss` would include the peak of the process that started them.
PEAK_MEMORY = """
def peak_memory():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))
"""


def heed_signals() -> None:
    """Undo what a child inherits from `nohup` or a shell's background: to ignore Ctrl-C, TERM and HUP.

    Pass it as `preexec_fn`.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


def run_command(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, and return its exit code and what it prints."""
    command = [sys.executable, "-m", "piecework", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=300)
