"""What a reader needs to judge absolute figures, and nothing that says whose machine it was."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

# Instructions that some engine has code for.
FEATURES = ("sse4_2", "avx2", "avx512bw", "avx512vbmi", "avx512vbmi2", "asimd", "sve")


def machine() -> dict[str, Any]:
    """Return processor, cores, instructions, system and Python."""
    described = _cpuinfo()
    flags = described.get("flags", described.get("Features", "")).split()
    return {
        "processor": described.get("model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "features": [name for name in FEATURES if name in flags],
        "system": platform.system(),
        "python": platform.python_version(),
    }


def _cpuinfo() -> dict[str, str]:
    """Return the first processor's lines, where the system tells them."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return {}
    pairs = (line.split(":", 1) for line in text.split("\n\n")[0].splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}
