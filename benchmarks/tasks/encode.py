"""Encode new documents (cold, then steady), the steady documents a second time (seen), then decode those."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from corpora import split_documents
from measuring import Phase, fingerprint_of_parts, ids_phase, text_phase, timed


def measure(engine: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Return the seconds to load and the phases cold, steady, seen and, where the engine can, decode."""
    warm_up, steady = split_documents(job)
    tokenizer, load_s = timed(lambda: engine.load(Path(job["files"]["tokenizer"])))
    phases = {}
    for name, texts in (("cold", warm_up), ("steady", steady), ("seen", copies(steady))):
        result, seconds = timed(lambda texts=texts: engine.encode(tokenizer, texts, job["threads"]))
        phases[name] = ids_phase(texts, seconds, engine.flat_ids(result))
    if job.get("decode", True) and hasattr(engine, "decode"):
        phases["decode"] = decoding(engine, tokenizer, result, phases["seen"]["tokens"])
    return {"load_s": load_s, "phases": phases}


def copies(texts: list[str]) -> list[str]:
    """Return equal texts in new objects: CPython keeps the UTF-8 of a `str` that was encoded before."""
    return [text.encode().decode() for text in texts]


def decoding(engine: Any, tokenizer: Any, result: Any, tokens: int) -> Phase:
    """Decode what the seen pass gave; the bytes are those of the text that comes out."""
    rows = engine.rows(result)
    texts, seconds = timed(lambda: engine.decode(tokenizer, rows))
    return text_phase(texts, seconds, "text", tokens, fingerprint_of_parts(texts))
