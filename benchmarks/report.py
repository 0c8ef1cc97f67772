"""Turn the records of a definition into a table a person reads."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from statistics import median
from typing import Any

Record = dict[str, Any]


def summary_table(definition: Record, records: list[Record], *, smoke: bool) -> str:
    """Return the table: medians over repetitions, spread, and the ratio to the reference engine."""
    rows = [
        row
        for score in dict.fromkeys(record.get("score") for record in records)
        for row in _rows(definition, [r for r in records if r.get("score") == score], smoke)
    ]
    return "\n".join([f"\n## {definition['name']}\n", *rows])


def machine() -> dict[str, str | int | None]:
    """Return what a reader needs to judge absolute figures."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def _rows(definition: Record, records: list[Record], smoke: bool) -> list[str]:
    encoding = ("cold", "steady", "decode")
    phases = encoding if definition["task"] == "encode" else ("count", "learn", "total")
    if smoke and definition["task"] == "train":
        phases = ("total",)  # the number of entries is the same in every phase
    lines = []
    for phase in phases:
        timed = [record for record in records if f"{phase}_s" in record]
        theirs = [r[f"{phase}_s"] for r in timed if r["engine"] == definition["reference"]]
        for engine in dict.fromkeys(record["engine"] for record in timed):
            same = [record for record in timed if record["engine"] == engine]
            times = "" if smoke else _times(phase, same, theirs)
            lines.append(f"{_label(phase, same[0])}{times}")
    return lines


def _label(phase: str, record: Record) -> str:
    names = [f"{record['engine']} {record['engine_version']}", record.get("score"), phase]
    if record["task"] == "encode":
        amount = f"{record[f'{phase}_tokens']:>12,} tokens"
    else:
        amount = f"{record['entries']:>12,} entries"
    return f"{', '.join(filter(None, names)):<40}{amount}"


def _times(phase: str, same: list[Record], theirs: list[float]) -> str:
    """Return megabytes a second, how many times the reference's speed, and the seconds."""
    seconds = sorted(record[f"{phase}_s"] for record in same)
    middle = median(seconds)
    size = same[0].get(f"{phase}_bytes", same[0].get("corpus_bytes"))
    ratio = f"{median(theirs) / middle:.2f}x" if theirs else "-"
    spread = f"{middle:9.3f} s ({seconds[0]:.3f} to {seconds[-1]:.3f})"
    return f"{size / middle / 1e6:10.1f} MB/s {ratio:>8} {spread}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())
