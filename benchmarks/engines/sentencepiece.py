"""sentencepiece, by the `.model` beside the `tokenizer.json`; it trains from a file into files."""

from __future__ import annotations

import os
from array import array
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import sentencepiece as peer

MODELS = ("sentencepiece-bpe", "unigram")
SCORES = ("unigram", "sentencepiece-unigram", "sentencepiece-bpe")


def version() -> str:
    """Return the version that runs."""
    return str(peer.__version__)


def start(path: Path) -> str:
    """Return the program that a user would write to import and load."""
    model = str(path.with_suffix(".model"))
    return f"import sentencepiece; sentencepiece.SentencePieceProcessor(model_file={model!r})"


def load(path: Path) -> Any:
    """Load the `.model`."""
    return peer.SentencePieceProcessor(model_file=str(path.with_suffix(".model")))


def encode(tokenizer: Any, texts: list[str], threads: int) -> Any:
    """Encode into Python lists, which is what it gives."""
    return tokenizer.encode(texts, num_threads=threads)


def flat_ids(result: Any) -> Any:
    """Return the ids of all texts as one buffer of 32-bit integers."""
    return array("I", chain.from_iterable(result))


def lists(tokenizer: Any, texts: list[str], threads: int) -> list[list[int]]:
    """Encode into Python lists."""
    return encode(tokenizer, texts, threads)


def encode_one(tokenizer: Any, text: str) -> Any:
    """Encode one text, to its ids."""
    return tokenizer.encode(text)


def rows(result: Any) -> Any:
    """Return the ids as `decode` takes them."""
    return result


def decode(tokenizer: Any, encoded: Any) -> list[str]:
    """Decode every row on one thread."""
    return tokenizer.decode(encoded, num_threads=1)


def train(corpus: Path, score: str, vocab_size: int, min_frequency: int) -> dict[str, float]:
    """Learn from all lines of a file, long ones too; pieces may mix scripts, as with the others."""
    assert score in SCORES
    assert min_frequency == 1
    with TemporaryDirectory() as folder:
        prefix = str(Path(folder) / "model")
        start = perf_counter()
        peer.SentencePieceTrainer.train(
            input=str(corpus),
            model_prefix=prefix,
            model_type=score.removeprefix("sentencepiece-"),
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
