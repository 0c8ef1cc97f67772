"""Fresh processes: each measurement has one, with the interpreter that its engine is installed in.

`PIECEWORK_BENCH_PYTHON_<ENGINE>` names another interpreter than ours for one engine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

WORKER = Path(__file__).parent / "worker.py"
NOT_INSTALLED = 3
LIMIT_SECONDS = 900


class FailedError(Exception):
    """An engine ended without a record; the message is its last line."""


@dataclass(frozen=True)
class Installed:
    """Whether an engine is there, its training scores, models (None: all), levels, inputs, or a note."""

    is_there: bool
    scores: tuple[str, ...] = ()
    models: tuple[str, ...] | None = None
    levels: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ("str",)
    note: str = ""

    def reads(self, model: str) -> bool:
        """Tell whether the engine encodes with such a model."""
        return self.models is None or model in self.models

    def takes(self, form: str | None) -> bool:
        """Tell whether the engine has a function for texts in this form (None: a list of `str`)."""
        return form is None or form in self.inputs


@cache
def installed(engine: str) -> Installed:
    """Ask an engine, in a process of its own, what it is."""
    done = _run({"engine": engine})
    if done.returncode == NOT_INSTALLED:
        return Installed(False, note=last_line(done.stderr))
    if done.returncode:
        return Installed(False, note=f"it does not start: {last_line(done.stderr)}")
    found = json.loads(done.stdout.splitlines()[-1])
    models = found["models"]
    return Installed(
        True,
        tuple(found["scores"]),
        models and tuple(models),
        tuple(found["levels"]),
        tuple(found["inputs"]),
    )


def measure(job: dict[str, Any], python_path: Path | None = None) -> dict[str, Any]:
    """Run one job in a fresh process and return its record.

    `python_path` is the folder that modules are imported from first. Raises `FailedError`.
    """
    try:
        done = _run(job, python_path)
    except subprocess.TimeoutExpired:
        raise FailedError(f"no answer in {LIMIT_SECONDS} s") from None
    if done.returncode:
        raise FailedError(last_line(done.stderr) or f"exit code {done.returncode}")
    # Engines may print as they like; the record is the last line.
    record: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return record


def last_line(text: str) -> str:
    """Return the last line that is not blank, which is where Python says what went wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


def _run(job: dict[str, Any], python_path: Path | None = None) -> subprocess.CompletedProcess[str]:
    interpreter = os.environ.get(f"PIECEWORK_BENCH_PYTHON_{job['engine'].upper()}", sys.executable)
    return subprocess.run(
        [interpreter, str(WORKER), json.dumps(job)],
        env={**os.environ, **_settings(job.get("threads")), **_import_path(python_path)},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )


def _settings(threads: int | None) -> dict[str, str]:
    """Return what engines are told by the environment; tiktoken, to keep no copies of rank files."""
    if threads is None:
        return {"TIKTOKEN_CACHE_DIR": ""}
    parallel = "true" if threads > 1 else "false"
    return {
        "TIKTOKEN_CACHE_DIR": "",
        "PIECEWORK_NUM_THREADS": str(threads),
        "RAYON_NUM_THREADS": str(threads),
        "TOKENIZERS_PARALLELISM": parallel,
    }


def _import_path(folder: Path | None) -> dict[str, str]:
    return {} if folder is None else {"PYTHONPATH": str(folder)}
