"""Measure one engine once, in a process of its own; read a job as JSON, print a record as JSON.

    python benchmarks/worker.py '{"task": "encode", "engine": "piecework", ...}'

A job without a task only says what the engine is. An engine that is not installed ends it with exit
code 3. Nothing but the standard library is imported here, so that an engine may have an interpreter of
its own.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

NOT_INSTALLED = 3
HERE = Path(__file__).parent


def main(arguments: list[str]) -> int:
    """Run the job given and print its record."""
    job = json.loads(arguments[0])
    _hold_to_processors(job.get("threads"))
    try:
        engine = load("engines", job["engine"])
    except ModuleNotFoundError as error:
        print(error, file=sys.stderr)
        return NOT_INSTALLED
    record = {"engine_version": engine.version()}
    if hasattr(engine, "levels"):
        record["level"] = _use_level(engine, job.get("forced_level"))
    if "task" in job:
        record |= load("tasks", job["task"]).measure(engine, job)
    else:
        # An engine that does not say which models it reads has all of them.
        record |= {
            "scores": getattr(engine, "SCORES", ()),
            "models": getattr(engine, "MODELS", None),
            "levels": engine.levels() if hasattr(engine, "levels") else (),
            "inputs": getattr(engine, "INPUTS", ("str",)),
        }
    print(json.dumps(record))
    return 0


def load(folder: str, name: str) -> Any:
    """Import a file of a folder under a name that hides no package: engines are named like theirs."""
    spec = spec_from_file_location(f"{folder}_{name}", HERE / folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _use_level(engine: Any, forced: str | None) -> str:
    """Run the engine at the level of the job, else at its best; return the level."""
    if forced is not None:
        engine.use_level(forced)
    level: str = forced or engine.levels()[-1]
    return level


def _hold_to_processors(threads: int | None) -> None:
    """Keep an engine that counts processors, or ignores what it is told, to as many as it may use."""
    if threads and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
