"""Memory budgets: sizes such as `512MB`, and the default, a quarter of the available memory."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from piecework.errors import ArgumentError

if sys.platform != "win32":
    import resource

MIN_BUDGET = 128_000_000
_UNITS = {"": 1, "K": 10, "M": 20, "G": 30, "T": 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kKmMgGtT]?)(i?)[bB]?")
_UNLIMITED = 1 << 62
_CGROUP_LIMITS = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)


def memory_budget(memory: int | str | None) -> int:
    """Return a budget in bytes; None means a quarter of the memory available to the process.

    >>> memory_budget("512MB"), memory_budget("1.5GiB"), memory_budget(128_000_000)
    (512000000, 1610612736, 128000000)

    Raises `ArgumentError` for anything but a size of at least 128 MB.
    """
    if memory is None:
        return max(available_memory() // 4, MIN_BUDGET)
    budget = byte_size("memory", memory)
    if budget < MIN_BUDGET:
        raise ArgumentError("memory", f"must be at least 128MB, not {memory!r}")
    return budget


def byte_size(name: str, size: int | str) -> int:
    """Return the bytes of a size: an integer, or text such as `64KiB`, `512MB` or `2G`.

    >>> byte_size("memory", "64KiB"), byte_size("memory", "2G"), byte_size("memory", "100")
    (65536, 2000000000, 100)
    """
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    found = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if found is None:
        raise ArgumentError(name, f"must be a size such as 512MB or 2GiB, not {size!r}")
    number, unit, binary = found.groups()
    shift = _UNITS[unit.upper()]
    factor = 1 << shift if binary else 1000 ** (shift // 10)
    return int(float(number) * factor) if "." in number else int(number) * factor


def format_size(size: int) -> str:
    """Return a size as text for messages.

    >>> format_size(512_000_000), format_size(1_500_000_000), format_size(999)
    ('512 MB', '1.5 GB', '999 bytes')
    """
    for unit, factor in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} bytes"


def available_memory() -> int:
    """Return the physical memory in bytes, or the limit of the control group or of `ulimit -v` if lower."""
    limits = [_physical_memory(), _address_space_limit(), *map(_cgroup_limit, _CGROUP_LIMITS)]
    return min(limits)


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return 8 << 30


def _address_space_limit() -> int:
    if sys.platform == "win32":
        return _UNLIMITED
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return _UNLIMITED if limit == resource.RLIM_INFINITY else limit


def _cgroup_limit(path: str) -> int:
    try:
        text = Path(path).read_text().strip()
    except OSError:
        return _UNLIMITED
    return int(text) if text.isdigit() else _UNLIMITED
