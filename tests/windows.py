"""A pytest plugin that hides from the tests and the package what Python has on POSIX only.

    python -m pytest --collect-only -p tests.windows

Other packages keep the real modules. `os.name` stays "posix", because `pathlib` reads it.
"""

from __future__ import annotations

import builtins
import os
import signal
import sys
from types import ModuleType
from typing import Any

import pytest

ABSENT_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
WINDOWS_SIGNALS = {"SIGABRT", "SIGBREAK", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM"}
ABSENT_FROM_OS = set(
    "chown fchmod fchown fork forkpty getegid geteuid getgid getgroups getloadavg getuid killpg lchown"
    " mkfifo mknod nice openpty posix_fadvise posix_spawn pread preadv pwrite pwritev sched_getaffinity"
    " sched_setaffinity sendfile setegid seteuid setgid setpgid setsid setuid statvfs sync sysconf uname"
    " wait wait3 wait4 waitid".split()
)


def without(module: ModuleType, absent: set[str], **changed: object) -> ModuleType:
    """Return a copy of a module without some names."""
    copy = ModuleType(module.__name__, module.__doc__)
    copy.__dict__.update({k: v for k, v in vars(module).items() if k not in absent} | changed)
    return copy


def is_posix_signal(name: str) -> bool:
    known = (name.startswith("SIG") and name[3:4].isalpha()) or "timer" in name.lower()
    return (known and name not in WINDOWS_SIGNALS) or name in ("alarm", "pause", "pthread_kill")


REPLACED = {
    "os": without(os, ABSENT_FROM_OS),
    "signal": without(signal, {name for name in vars(signal) if is_posix_signal(name)}),
    "sys": without(sys, {"abiflags"}, platform="win32"),
}
real_import = builtins.__import__


def import_as_on_windows(
    name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
) -> ModuleType:
    importer = str((globals or {}).get("__name__", "")).partition(".")[0]
    if importer in ("tests", "piecework") and name in ABSENT_MODULES:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    if importer in ("tests", "piecework") and name in REPLACED:
        return REPLACED[name]
    return real_import(name, globals, locals, fromlist, level)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Replace the import before the first file of tests is read."""
    builtins.__import__ = import_as_on_windows
