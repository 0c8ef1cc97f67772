"""Start a process that imports an engine and loads a vocabulary: its own time, and that of all of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from measuring import timed

PROGRAM = """\
from time import perf_counter
start = perf_counter()
{body}
print(perf_counter() - start)
"""


def measure(engine: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Return the phases inside (import and load) and process (all of it), after one unmeasured start."""
    body = engine.start(Path(job["files"]["tokenizer"]))
    command = [sys.executable, "-c", PROGRAM.format(body=body)]
    run(command)  # files are in the system's cache now
    done, process_s = timed(lambda: run(command))
    inside_s = float(done.stdout.split()[-1])
    return {"phases": {"inside": {"s": inside_s}, "process": {"s": process_s}}}


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; its last line is the error if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "no message").splitlines()[-1])
    return done
