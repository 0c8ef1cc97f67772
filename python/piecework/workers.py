"""How many threads are used where nobody says."""

from __future__ import annotations

import os
import sys
from functools import lru_cache

from piecework._core import available_processors
from piecework.errors import ArgumentError

_VARIABLE = "PIECEWORK_WORKERS"
_MAX_WORKERS = 4096


def default_workers() -> int:
    """Return the number of threads that `workers=None` stands for.

    The environment variable `PIECEWORK_WORKERS`, if it is set. Else one in a process that the
    `multiprocessing` module has started (those of `concurrent.futures` and of data loaders among them):
    who starts processes has shared out the machine already. Else one for each processor that this
    process may use, by its CPU affinity and the quota of its control group.
    """
    asked = os.environ.get(_VARIABLE)
    if asked:
        return _checked(asked)
    return 1 if _is_worker_process() else _available(_affinity())


def _checked(asked: str) -> int:
    workers = int(asked) if asked.isascii() and asked.isdigit() else 0
    if not 1 <= workers <= _MAX_WORKERS:
        raise ArgumentError(
            f"environment variable {_VARIABLE}", repr(asked), f"1 to {_MAX_WORKERS}"
        )
    return workers


def _is_worker_process() -> bool:
    # A process that multiprocessing has started has imported this module.
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


def _affinity() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


@lru_cache
def _available(affinity: int | None) -> int:
    """Return the number of processors; the quota is in files, which are read once for each affinity."""
    return available_processors()
