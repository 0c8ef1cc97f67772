"""Encode long documents that are truncated: only the ids at their beginning are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from corpora import split_documents
from measuring import ids_phase, timed


def measure(engine: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Return the phases cold and steady, as `encode` has them; the bytes are those of the whole documents."""
    warm_up, steady = split_documents(job)
    path, max_length = Path(job["files"]["tokenizer"]), job["max_length"]
    tokenizer, load_s = timed(lambda: engine.load_truncating(path, max_length))
    phases = {}
    for name, texts in (("cold", warm_up), ("steady", steady)):
        result, seconds = timed(lambda texts=texts: engine.encode_truncated(tokenizer, texts, 1))
        phases[name] = ids_phase(texts, seconds, engine.flat_ids(result))
    return {"load_s": load_s, "phases": phases}
