"""The number of threads of a call: the argument, the environment variable, or the number of CPUs."""

from __future__ import annotations

import os
import sys

from piecework._internal._core import available_processors
from piecework._internal.validation import whole_number
from piecework.errors import ArgumentError

_VARIABLE = "PIECEWORK_NUM_THREADS"
_MAX_THREADS = 4096
# `datasets` starts its processes with multiprocess, a fork of multiprocessing.
_PROCESS_LIBRARIES = ("multiprocessing", "multiprocess")
_CPUS: dict[int | None, int] = {}


def thread_count(num_threads: int | None) -> int:
    """Return the number of threads to use; None means `default_num_threads()`."""
    if num_threads is None:
        return default_num_threads()
    return whole_number("num_threads", num_threads, 1)


def default_num_threads() -> int:
    """Return the number of threads for `num_threads=None`.

    1. The environment variable `PIECEWORK_NUM_THREADS`, if it is set.
    2. One in a process that `multiprocessing` started (also `concurrent.futures`, data loaders and
       `datasets`), because the parent process has already divided the CPUs.
    3. The CPUs available to the process, by its affinity and the quota of its control group.
    """
    value = os.environ.get(_VARIABLE)
    if value:
        return _parsed(value)
    return 1 if _is_worker_process() else _available_cpus(_affinity())


def _parsed(value: str) -> int:
    num_threads = int(value) if value.isascii() and value.isdigit() else 0
    if not 1 <= num_threads <= _MAX_THREADS:
        problem = f"must be a number from 1 to {_MAX_THREADS}, not {value!r}"
        raise ArgumentError(f"environment variable {_VARIABLE}", problem)
    return num_threads


def _is_worker_process() -> bool:
    # Both libraries import their module in every process that they start.
    modules = (sys.modules.get(f"{library}.process") for library in _PROCESS_LIBRARIES)
    return any(module is not None and module.parent_process() is not None for module in modules)


def _affinity() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def _available_cpus(affinity: int | None) -> int:
    """Return the number of CPUs; the quota is read from its files once for each affinity."""
    if affinity not in _CPUS:
        _CPUS[affinity] = available_processors()
    return _CPUS[affinity]
