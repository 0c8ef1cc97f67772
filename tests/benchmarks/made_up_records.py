"""Made-up records of benchmarks, and the cells of their tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def made_up(engine: str, seconds: float, answer: str = "right", **other: Any) -> dict[str, Any]:
    """Return a record of a megabyte encoded."""
    phase = {"s": seconds, "bytes": 1_000_000, "tokens": 9, "kind": "ids", "input": "text"}
    return {
        "definition": "gpt2-encode",
        "task": "encode",
        "vocabulary": "gpt2",
        "corpus": "english",
        "threads": 1,
        "engine": engine,
        "engine_version": "1.0",
        "repetition": 0,
        "phases": {"cold": {**phase, "answer": answer}, "steady": {**phase, "answer": answer}},
        **other,
    }
