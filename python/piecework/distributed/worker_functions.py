"""Functions that an engine sends to its workers, which check there that the same piecework is installed.

The engines pickle a function of a module by its name, and a worker without that module fails with an error
that does not name the cause. A nested function is pickled by value: it runs on any worker, checks the
version, and then imports the task.
"""

from __future__ import annotations

import importlib
import platform
import re
from collections.abc import Callable
from typing import Any

import piecework as pw
from piecework import errors
from piecework.errors import PieceworkError, WorkerError

# The last line of a traceback of a worker, as text.
_ERROR_LINE = re.compile(r"^(?:piecework\.errors\.)(\w+): (.*)$", re.MULTILINE)
_WORKER_LINE = re.compile(r"^RuntimeError: (worker [^:]*): (.*)$", re.MULTILINE)


def worker_function(module: str, task: str, settings: bytes) -> Callable[..., Any]:
    """Return a function that calls a task of this package with pickled settings and its own arguments.

    >>> worker_function("tasks", "version_of_worker", b"")() == pw.__version__
    True

    On a worker without piecework, or with another version, it raises an error that `error_of_worker`
    recognizes.
    """
    expected_version, tasks = pw.__version__, f"{__package__}.{module}"

    def run(*arguments: Any) -> Any:
        place = f"worker {platform.node()}"
        expected = f"piecework {expected_version} on every worker"
        try:
            version = importlib.import_module("piecework").__version__
        except (ImportError, AttributeError) as error:
            found = f"no piecework ({error})"
            raise RuntimeError(f"{place}: found {found}, expected {expected}") from None
        if version != expected_version:
            raise RuntimeError(f"{place}: found piecework {version}, expected {expected}")
        return getattr(importlib.import_module(tasks), task)(settings, *arguments)

    return run


def error_of_worker(message: str) -> PieceworkError | None:
    """Return the error of piecework in the message of an engine, None if there is none.

    >>> print(error_of_worker("Traceback ...\\npiecework.errors.FileError: a.txt: no such file"))
    worker: a.txt: no such file
    """
    if lines := _WORKER_LINE.findall(message):
        return WorkerError(*lines[-1])
    for name, text in reversed(_ERROR_LINE.findall(message)):
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and issubclass(kind, PieceworkError):
            return kind("worker", text)
    return None
