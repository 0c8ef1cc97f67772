"""Learn a vocabulary from the head of the corpus."""

from __future__ import annotations

from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from typing import Any

from corpora import head


def measure(engine: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Return the phases that the engine tells apart, the last of them the total, and the peak memory."""
    with TemporaryDirectory() as folder:
        corpus = head(Path(job["files"]["corpus"]), job["corpus_bytes"], Path(folder))
        found = engine.train(corpus, job["score"], job["vocab_size"], job["min_frequency"])
        size = corpus.stat().st_size
    peak_mb = getrusage(RUSAGE_SELF).ru_maxrss / 1024
    entries = int(found.pop("entries"))
    phases = {
        name.removesuffix("_s"): {
            "s": seconds,
            "bytes": size,
            "entries": entries,
            "answer": str(entries),
        }
        for name, seconds in found.items()
    }
    return {"phases": phases, "peak_mb": peak_mb}
