"""gigatoken, which trains from the file itself."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from pathlib import Path
from time import perf_counter
from typing import Any

import awkward
import gigatoken as peer

SCORES = ("byte-bpe",)


def version() -> str:
    """Return the version that runs."""
    return installed_version("gigatoken")


def load(path: Path) -> Any:
    """Load a `tokenizer.json`."""
    return peer.Tokenizer.from_json(path.read_bytes())


def encode(tokenizer: Any, texts: list[str]) -> Any:
    """Encode on one thread, into its own arrays."""
    return tokenizer.encode_batch(texts, parallel=False)


def count_tokens(result: Any) -> int:
    """Return how many tokens `encode` made."""
    return len(awkward.flatten(result))


def train(corpus: Path, score: str, vocab_size: int, min_frequency: int) -> dict[str, float]:
    """Learn from a file; it knows no least frequency, so that must be 1."""
    assert (score, min_frequency) == ("byte-bpe", 1)
    start = perf_counter()
    vocab, _merges = peer.train_bpe(str(corpus), vocab_size, [])
    return {"entries": len(vocab), "total_s": perf_counter() - start}
