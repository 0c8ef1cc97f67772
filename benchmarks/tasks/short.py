"""Encode one short text again and again, as a service that answers a request does."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

from measuring import ids_phase, timed

TEXT = "The quick brown fox jumps over the lazy dog, and it doesn't look back at all."
CALLS_A_ROUND = 200


def measure(engine: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Return the phases first (one call in a fresh process) and warm: the median second of a call."""
    tokenizer = engine.load(Path(job["files"]["tokenizer"]))
    _, first_s = timed(lambda: engine.encode_one(tokenizer, TEXT))
    seconds = sorted(_round(engine, tokenizer) for _ in range(job["rounds"]))
    # The ids of one text need not be a buffer, so they are read from a batch of it.
    flat = engine.flat_ids(engine.encode(tokenizer, [TEXT], 1))
    middle = seconds[len(seconds) // 2]
    return {
        "phases": {
            name: ids_phase([TEXT], s, flat) for name, s in (("first", first_s), ("warm", middle))
        }
    }


def _round(engine: Any, tokenizer: Any) -> float:
    encode_one = engine.encode_one
    start = perf_counter()
    for _ in range(CALLS_A_ROUND):
        encode_one(tokenizer, TEXT)
    return (perf_counter() - start) / CALLS_A_ROUND
