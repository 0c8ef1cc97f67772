"""The number of threads of a call: as given, from the environment, or one for each CPU."""

from __future__ import annotations

import os
import sys

from piecework._core import available_processors
from piecework.errors import ArgumentError

_VARIABLE = "PIECEWORK_NUM_THREADS"
_MAX_THREADS = 4096
_CPUS: dict[int | None, int] = {}


def thread_count(num_threads: int | None) -> int:
    """Return the number of threads to use; None stands for `default_num_threads()`."""
    return default_num_threads() if num_threads is None else num_threads


def default_num_threads() -> int:
    """Return the number of threads that `num_threads=None` stands for.

    The environment variable `PIECEWORK_NUM_THREADS`, if it is set. Otherwise 1 in a process that
    `multiprocessing` started (also for `concurrent.futures` and data loaders), because its parent already
    divided the machine. Otherwise one for each CPU available to the process, by its affinity and the
    quota of its control group.
    """
    asked = os.environ.get(_VARIABLE)
    if asked:
        return _checked(asked)
    return 1 if _is_worker_process() else _available(_affinity())


def _checked(asked: str) -> int:
    num_threads = int(asked) if asked.isascii() and asked.isdigit() else 0
    if not 1 <= num_threads <= _MAX_THREADS:
        raise ArgumentError(
            f"environment variable {_VARIABLE}", repr(asked), f"1 to {_MAX_THREADS}"
        )
    return num_threads


def _is_worker_process() -> bool:
    # A process that multiprocessing has started has imported this module.
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


def _affinity() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def _available(affinity: int | None) -> int:
    """Return the number of CPUs; the quota is in files, which are read once for each affinity."""
    if affinity not in _CPUS:
        _CPUS[affinity] = available_processors()
    return _CPUS[affinity]
