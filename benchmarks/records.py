"""Records of runs as files: everything that was measured, one measurement a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write_record(path: Path, result: dict[str, Any]) -> None:
    """Write date, machine and measurements."""
    head = {name: value for name, value in result.items() if name != "records"}
    lines = ",\n".join(json.dumps(record) for record in result["records"])
    text = json.dumps(head)[:-1] + ',\n"records": [\n' + lines + "\n]}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def read_record(path: Path) -> dict[str, Any]:
    """Read what `write_record` wrote."""
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result
