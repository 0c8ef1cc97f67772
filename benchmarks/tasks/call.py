"""Call a tokenizer of transformers on a list of texts, into lists of ids and masks."""

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
    path = Path(job["files"]["tokenizer"])
    tokenizer, load_s = timed(lambda: engine.load_for_calls(path))
    phases = {}
    for name, texts in (("cold", warm_up), ("steady", steady)):
        rows, seconds = timed(lambda texts=texts: engine.call(tokenizer, texts))
        phases[name] = ids_phase(texts, seconds, array("I", chain.from_iterable(rows)))
    return {"load_s": load_s, "phases": phases}
