"""bpeasy, which trains from an iterator of texts: here the lines of the file."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from pathlib import Path
from time import perf_counter

import bpeasy as peer

SCORES = ("byte-bpe",)
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
NO_LIMIT = 1 << 20


def version() -> str:
    """Return the version that runs."""
    return installed_version("bpeasy")


def train(corpus: Path, score: str, vocab_size: int, min_frequency: int) -> dict[str, float]:
    """Learn from a file; it knows no least frequency, so that must be 1."""
    assert (score, min_frequency) == ("byte-bpe", 1)
    start = perf_counter()
    with corpus.open(encoding="utf-8", errors="replace", newline="") as lines:
        vocab = peer.train_bpe(lines, GPT2, NO_LIMIT, vocab_size)
    return {"entries": len(vocab), "total_s": perf_counter() - start}
