"""Encode with ids alone, then other documents with offsets and word ids in hand, by a warm engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from corpora import split_documents
from measuring import fingerprint_of_parts, ids_phase, text_phase, timed


def measure(engine: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Return the phases ids and spans, each on half of the documents that were not seen before."""
    warm_up, steady = split_documents(job)
    first, second = steady[::2], steady[1::2]
    tokenizer = engine.load(Path(job["files"]["tokenizer"]))
    # Arrays are made here for the first time, so that what makes them is not imported below.
    engine.flat_ids(engine.encode(tokenizer, warm_up, 1))
    result, ids_s = timed(lambda: engine.encode(tokenizer, first, 1))
    found, spans_s = timed(lambda: engine.spans(tokenizer, second))
    spans = engine.read_spans(found)
    answer = fingerprint_of_parts(f"{list(offsets)}{list(words)}" for offsets, words in spans)
    tokens = sum(len(words) for _, words in spans)
    return {
        "phases": {
            "ids": ids_phase(first, ids_s, engine.flat_ids(result)),
            "spans": text_phase(second, spans_s, "spans", tokens, answer),
        }
    }
