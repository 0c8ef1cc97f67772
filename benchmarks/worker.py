"""Measure one engine once, in a process of its own; read a job as JSON, print a record as JSON.

python benchmarks/worker.py '{"task": "encode", "engine": "piecework", ...}'
"""

from __future__ import annotations

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter
from typing import Any

# The engines are named like the packages they import: this folder must not stand in their way.
HERE = Path(__file__).parent
sys.path.append(str(HERE))

from corpora import documents  # noqa: E402


def main(arguments: list[str]) -> None:
    """Run the job given and print its record."""
    job = json.loads(arguments[0])
    engine = load_engine(job["engine"])
    measure = {"encode": measure_encoding, "train": measure_training}[job["task"]]
    print(json.dumps({"engine_version": engine.version(), **measure(engine, job)}))


def load_engine(name: str) -> Any:
    """Import an engine by file, under a name that hides no package."""
    spec = spec_from_file_location(f"engine_{name}", HERE / "engines" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measure_encoding(engine: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Encode the warm-up documents first (cold), then documents not seen before (steady)."""
    warm_up, steady = split_documents(job)
    start = perf_counter()
    tokenizer = engine.load(Path(job["tokenizer"]))
    record: dict[str, Any] = {"load_s": perf_counter() - start}
    for phase, texts in (("cold", warm_up), ("steady", steady)):
        start = perf_counter()
        result = engine.encode(tokenizer, texts)
        record[f"{phase}_s"] = perf_counter() - start
        record[f"{phase}_bytes"] = sum(len(text.encode()) for text in texts)
        record[f"{phase}_tokens"] = engine.count_tokens(result)
    return {**record, **measure_decoding(engine, tokenizer, result, record)}


def measure_decoding(
    engine: Any, tokenizer: Any, result: Any, record: dict[str, Any]
) -> dict[str, Any]:
    """Decode what the steady pass gave, where the engine can."""
    if not hasattr(engine, "decode"):
        return {}
    rows = engine.ids(result)
    start = perf_counter()
    texts = engine.decode(tokenizer, rows)
    return {
        "decode_s": perf_counter() - start,
        "decode_bytes": sum(len(text.encode()) for text in texts),
        "decode_tokens": record["steady_tokens"],
    }


def split_documents(job: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the warm-up documents and the rest, in the proportion of the sizes asked for."""
    wanted = job["warm_up_bytes"] + job["steady_bytes"]
    texts = documents(Path(job["corpus"]), job["document_bytes"], wanted)
    cut = len(texts) * job["warm_up_bytes"] // wanted
    return texts[:cut], texts[cut:]


def measure_training(engine: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Learn a vocabulary from the corpus file."""
    corpus = Path(job["corpus"])
    found = engine.train(corpus, job["score"], job["vocab_size"], job["min_frequency"])
    peak_mb = getrusage(RUSAGE_SELF).ru_maxrss / 1024
    return {"corpus_bytes": corpus.stat().st_size, "peak_mb": peak_mb, **found}


if __name__ == "__main__":
    main(sys.argv[1:])
