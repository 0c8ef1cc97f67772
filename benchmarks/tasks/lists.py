"""Encode into Python lists of Python integers, which costs more than the encoding itself."""

from __future__ import annotations

from array import array
from itertools import chain
from pathlib import Path
from typing import Any

from corpora import split_documents
from measuring import ids_phase, timed


def measure(engine: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Return the phases cold and steady, as `encode` has them."""
    warm_up, steady = split_documents(job)
    tokenizer, load_s = timed(lambda: engine.load(Path(job["files"]["tokenizer"])))
    phases = {}
    for name, texts in (("cold", warm_up), ("steady", steady)):
        rows, seconds = timed(lambda texts=texts: engine.lists(tokenizer, texts, job["threads"]))
        phases[name] = ids_phase(texts, seconds, array("I", chain.from_iterable(rows)))
    return {"load_s": load_s, "phases": phases}
