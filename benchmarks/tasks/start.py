"""Start a process that imports an engine and loads a vocabulary: its own time, and that of all of it.

Where an engine keeps built tables in a cache, also with that.
"""

from __future__ import annotations

import os
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
    """Return the phases inside (import and load), process (all of it) and cached (inside, with a cache)."""
    path = Path(job["files"]["tokenizer"])
    inside_s, process_s = started(engine.start(path))
    phases = {"inside": {"s": inside_s}, "process": {"s": process_s}}
    if hasattr(engine, "start_cached"):
        phases["cached"] = {"s": started(engine.start_cached(path))[0]}
    return {"phases": phases}


def started(body: str) -> tuple[float, float]:
    """Return the seconds of a program, inside and in all, after one unmeasured start."""
    command = [sys.executable, "-c", PROGRAM.format(body=body)]
    run(command)  # files are in the system's cache now, and the engine's cache is there
    done, process_s = timed(lambda: run(command))
    return float(done.stdout.split()[-1]), process_s


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; its last line is the error if it fails.

    Modules are compiled to bytecode once, as pip does when it installs a package: otherwise a checkout of
    this library would compile them in every process, and installed peers would not.
    """
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "no message").splitlines()[-1])
    return done
