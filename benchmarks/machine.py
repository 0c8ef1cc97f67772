"""What a reader needs to judge absolute figures, and nothing that says whose machine it was."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

# Instruction sets that some engine has code for, by the names that Linux gives them, oldest first.
INSTRUCTION_SETS = (
    *("sse4_2", "avx", "bmi1", "bmi2", "avx2"),
    *("avx512f", "avx512cd", "avx512dq", "avx512bw", "avx512vl", "avx512vbmi", "avx512_vbmi2"),
    *("avx512_bitalg", "avx512_vnni", "avx512_fp16", "neon", "sve", "sve2"),
)
NEON_OF_64_BITS = "asimd"


def machine() -> dict[str, Any]:
    """Return processor, cores, instruction sets, system and Python."""
    described = _cpuinfo()
    return {
        "processor": described.get("model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "features": instruction_sets(described, platform.machine()),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def instruction_sets(described: dict[str, str], architecture: str) -> list[str]:
    """Return the instruction sets of a processor, from its lines in `/proc/cpuinfo`.

    Without such lines, only those that every processor of the architecture has.
    """
    flags = described.get("flags", described.get("Features", "")).split()
    is_arm = not flags and architecture.lower() in ("arm64", "aarch64")
    if is_arm or NEON_OF_64_BITS in flags:
        flags = [*flags, "neon"]
    return [name for name in INSTRUCTION_SETS if name in flags]


def _cpuinfo() -> dict[str, str]:
    """Return the first processor's lines, where the system tells them."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return {}
    pairs = (line.split(":", 1) for line in text.split("\n\n")[0].splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}
