"""rustbpe, which trains from an iterator of texts: here the lines of the file."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from pathlib import Path
from time import perf_counter

import rustbpe as peer

SCORES = ("byte-bpe",)
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def version() -> str:
    """Return the version that runs."""
    return installed_version("rustbpe")


def train(corpus: Path, score: str, vocab_size: int, min_frequency: int) -> dict[str, float]:
    """Learn from a file; it knows no least frequency, so that must be 1."""
    assert (score, min_frequency) == ("byte-bpe", 1)
    tokenizer = peer.Tokenizer()
    start = perf_counter()
    with corpus.open(encoding="utf-8", errors="replace", newline="") as lines:
        tokenizer.train_from_iterator(lines, vocab_size, pattern=GPT2)
    return {"entries": tokenizer.vocab_size, "total_s": perf_counter() - start}
