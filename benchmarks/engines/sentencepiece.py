"""sentencepiece, which trains from a file into files."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import sentencepiece as peer

SCORES = ("unigram",)


def version() -> str:
    """Return the version that runs."""
    return str(peer.__version__)


def train(corpus: Path, score: str, vocab_size: int, min_frequency: int) -> dict[str, float]:
    """Learn from all lines of a file, long ones too; pieces may mix scripts, as with the others."""
    assert (score, min_frequency) == ("unigram", 1)
    with TemporaryDirectory() as folder:
        prefix = str(Path(folder) / "model")
        start = perf_counter()
        peer.SentencePieceTrainer.train(
            input=str(corpus),
            model_prefix=prefix,
            model_type="unigram",
            vocab_size=vocab_size,
            num_threads=os.cpu_count(),
            max_sentence_length=65_536,
            split_by_unicode_script=False,
            split_by_number=False,
            minloglevel=2,
        )
        seconds = perf_counter() - start
        entries = peer.SentencePieceProcessor(model_file=f"{prefix}.model").vocab_size()
    return {"entries": entries, "total_s": seconds}
