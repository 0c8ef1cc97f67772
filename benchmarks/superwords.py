"""Compare byte-level BPE with superwords: tokens, time and memory of learning, speed of encoding.

PYTHONPATH=. .venv/bin/python benchmarks/superwords.py CORPUS.txt --size 32000 --size 64000

The last twentieth of the corpus is held out for tokens and speed. Times are CPU seconds, memory is the
growth of the peak. One thread encodes the held-out lines once, after a fifth of the others.
"""

from __future__ import annotations

import argparse
import resource
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import piecework as pw

PLAIN, SUPERWORDS = "o200k", "o200k-superwords"


def main() -> None:
    """Print one line for each size and preset."""
    parser = argparse.ArgumentParser(description="Compare byte-level BPE with superwords.")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--size", type=int, action="append", required=True)
    parser.add_argument("--transition", type=float, default=0.75, help="a share of the size")
    given = parser.parse_args()
    warnings.simplefilter("ignore", pw.errors.TrainingWarning)
    lines = given.corpus.read_text(encoding="utf-8").splitlines(keepends=True)
    held = len(lines) - len(lines) // 20
    text = lines[held:]
    size = sum(len(line.encode()) for line in text)
    print(
        f"{given.corpus.name}: {given.corpus.stat().st_size / 1e6:.1f} MB, held out {size / 1e6:.1f} MB"
    )
    for preset in (PLAIN, SUPERWORDS):
        counts, seconds = timed(lambda: pw.count_texts(lines[:held], preset=preset))  # noqa: B023
        print(
            f"{preset}: counted in {seconds:.1f} s, {counts.total:,} words, {len(counts):,} distinct"
        )
        for vocab_size in given.size:
            reaches = preset == SUPERWORDS
            transition = round(given.transition * vocab_size) if reaches else None
            trainer = pw.ByteBPETrainer(vocab_size, transition=transition)
            before = peak()
            tok, seconds = timed(lambda: pw.Tokenizer.train_from_counts(counts, trainer))  # noqa: B023
            grown = peak() - before
            tok.encode_batch(lines[: len(text) * 4], num_threads=1)
            rows, fastest = timed(lambda: tok.encode_batch(text, num_threads=1))  # noqa: B023
            tokens = sum(map(len, rows))
            print(
                f"  {vocab_size}: {tokens / size:.4f} tokens a byte, learned in {seconds:.1f} s, "
                f"{grown:.0f} MB more, encodes {size / 1e6 / fastest:.0f} MB/s"
            )


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result and the CPU seconds that it took."""
    start = process_time()
    return work(), process_time() - start


def peak() -> float:
    """Return the largest resident memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    main()
