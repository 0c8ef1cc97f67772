"""piecework, through its public API, on as many threads as it is told."""

from __future__ import annotations

import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import piecework as pw

SCORES = ("frequency", "likelihood", "pmi", "top-down", "byte-bpe", "unigram")
_PIPELINES = {"byte-bpe": "gpt2", "unigram": "sentencepiece"}


def version() -> str:
    """Return the version that runs."""
    return pw.__version__


def load(path: Path) -> Any:
    """Load a `tokenizer.json`."""
    return pw.Tokenizer.load(path)


def encode(tokenizer: Any, texts: list[str]) -> Any:
    """Encode without special tokens, on one thread."""
    return tokenizer.encode_batch(texts, add_special_tokens=False, workers=1)


def count_tokens(result: Any) -> int:
    """Return how many tokens `encode` made."""
    return len(result.ids)


def ids(result: Any) -> Any:
    """Return the ids as `decode` takes them."""
    return result


def decode(tokenizer: Any, rows: Any) -> list[str]:
    """Decode every row."""
    return tokenizer.decode_batch(rows)


def train(corpus: Path, score: str, vocab_size: int, min_frequency: int) -> dict[str, float]:
    """Learn from a file; return the entries learned and the seconds of each phase."""
    warnings.simplefilter("ignore", pw.errors.TrainingWarning)  # pmi's doubts are well known
    start = perf_counter()
    counts = pw.count_files([corpus], pipeline=_PIPELINES.get(score, "bert-uncased"))
    counted = perf_counter()
    settings = _settings(score, min_frequency)
    tokenizer = pw.Tokenizer.train_from_counts(counts, vocab_size=vocab_size, **settings)
    learned = perf_counter()
    return {
        "entries": tokenizer.get_vocab_size(),
        "count_s": counted - start,
        "learn_s": learned - counted,
        "total_s": learned - start,
    }


def _settings(score: str, min_frequency: int) -> dict[str, Any]:
    if score == "unigram":
        return {"model": "unigram"}
    if score == "byte-bpe":
        return {"model": "byte-bpe", "special_tokens": (), "min_frequency": min_frequency}
    return {"score": score, "min_frequency": min_frequency}
