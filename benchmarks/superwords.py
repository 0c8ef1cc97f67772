"""Compare BPE with superwords: tokens, time and memory of learning, speed of encoding.

PYTHONPATH=. .venv/bin/python benchmarks/superwords.py CORPUS.txt --size 32000 --size 64000
PYTHONPATH=. .venv/bin/python benchmarks/superwords.py CORPUS.txt --size 32000 --sentencepiece

Byte-level BPE, or with `--sentencepiece` BPE models of SentencePiece, whose `.model` files the published
library encodes with too. The last twentieth of the corpus is held out for tokens and speed. Times are CPU
seconds, memory is the growth of the peak. One thread encodes the held-out lines once, after a fifth of the
others.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import resource
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import piecework as pw

PLAIN, SUPERWORDS = "o200k", "o200k-superwords"


def main() -> None:
    """Print one line for each size and pipeline."""
    parser = argparse.ArgumentParser(description="Compare BPE with superwords.")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--size", type=int, action="append", required=True)
    parser.add_argument("--transition", type=float, default=0.75, help="a share of the entries")
    parser.add_argument("--sentencepiece", action="store_true", help="train .model files")
    given = parser.parse_args()
    warnings.simplefilter("ignore", pw.errors.TrainingWarning)
    lines = given.corpus.read_text(encoding="utf-8").splitlines(keepends=not given.sentencepiece)
    held = len(lines) - len(lines) // 20
    text = lines[held:]
    size = sum(len(line.encode()) for line in text)
    print(
        f"{given.corpus.name}: {given.corpus.stat().st_size / 1e6:.1f} MB, held out {size / 1e6:.1f} MB"
    )
    trainers = sentencepiece_trainers if given.sentencepiece else byte_level_trainers
    for name, trainer, pipeline in trainers(given.transition):
        counted = functools.partial(pw.count_texts, lines[:held], preset=pipeline)
        counts, seconds = timed(
            functools.partial(counted, sentences=getattr(trainer, "sentences", None))
        )
        print(
            f"{name}: counted in {seconds:.1f} s, {counts.total:,} words, {len(counts):,} distinct"
        )
        for vocab_size in given.size:
            sized = dataclasses.replace(trainer, vocab_size=vocab_size)
            before = peak()
            tok, seconds = timed(functools.partial(pw.Tokenizer.train_from_counts, counts, sized))
            grown = peak() - before
            tok.encode_batch(lines[: len(text) * 4], num_threads=1)
            rows, encoding = timed(functools.partial(tok.encode_batch, text, num_threads=1))
            tokens = sum(map(len, rows))
            theirs = published(tok, text[:3000]) if given.sentencepiece else ""
            print(
                f"  {vocab_size}: {tokens / size:.4f} tokens a byte, learned in {seconds:.1f} s, {grown:.0f} "
                f"MB more, encodes {size / 1e6 / encoding:.0f} MB/s{theirs}"
            )


def byte_level_trainers(transition: float) -> list[tuple[str, Any, Any]]:
    """Return the trainers of byte-level BPE with their pipelines."""
    return [
        (PLAIN, pw.ByteBPETrainer(), PLAIN),
        (SUPERWORDS, pw.ByteBPETrainer(transition=transition), SUPERWORDS),
    ]


def sentencepiece_trainers(transition: float) -> list[tuple[str, Any, Any]]:
    """Return the trainers of SentencePiece BPE with their pipelines."""
    plain = pw.SentencePieceTrainer(model_type="bpe", byte_fallback=True)
    crossing = dataclasses.replace(plain, transition=transition)
    return [
        ("plain .model", plain, plain.pipeline),
        (".model with superwords", crossing, crossing.pipeline),
    ]


def published(tok: pw.Tokenizer, text: list[str]) -> str:
    """Return the speed of `sentencepiece` on lines, and how many have other ids there."""
    import sentencepiece

    with tempfile.TemporaryDirectory() as folder:
        tok.save(Path(folder) / "spm.model")
        theirs = sentencepiece.SentencePieceProcessor(model_file=f"{folder}/spm.model")
    rows, seconds = timed(lambda: [theirs.encode(line) for line in text])
    different = sum(
        list(mine.ids) != ids for mine, ids in zip(tok.encode_batch(text), rows, strict=True)
    )
    size = sum(len(line.encode()) for line in text)
    return f", sentencepiece {size / 1e6 / seconds:.1f} MB/s, {different} of {len(text):,} lines differ"


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result and the CPU seconds that it took."""
    start = process_time()
    return work(), process_time() - start


def peak() -> float:
    """Return the largest resident memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    main()
