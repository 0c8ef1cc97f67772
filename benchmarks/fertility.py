"""What each score learns: tokens a word, unknown words and entries in use, on held-out lines.

    python benchmarks/fertility.py english-docs.txt --vocab-size 8000

Every tenth line is held out. Lengths are in tokens a pre-tokenized word, an unknown word being one.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np

import piecework as pw

RUNS = (("likelihood", 2), ("frequency", 2), ("top-down", 2), ("pmi", 50), ("pmi", 1))


def main() -> None:
    """Train with every score on nine tenths of the lines and measure on the last."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--limit-alphabet", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore", pw.errors.TrainingWarning)
    lines = options.corpus.read_text(encoding="utf-8", errors="replace").split("\n")
    counts = pw.count_texts(line for row, line in enumerate(lines) if row % 10)
    held_out = pw.count_texts(lines[::10])
    print("score       min_frequency  entries  tokens/word  unknown %  used %")
    for score, min_frequency in RUNS:
        tokenizer = pw.Tokenizer.train_from_counts(
            counts,
            score=score,
            vocab_size=options.vocab_size,
            min_frequency=min_frequency,
            limit_alphabet=options.limit_alphabet,
        )
        print(f"{score:11} {min_frequency:13} {measured(tokenizer, held_out)}")


def measured(tokenizer: pw.Tokenizer, held_out: pw.Counts) -> str:
    """Encode each distinct held-out word once and weight it by its count."""
    batch = tokenizer.encode_batch(held_out.words, add_special_tokens=False)
    weights = held_out.counts.astype(np.float64)
    words = weights.sum()
    unknown = batch.ids[batch.row_offsets[:-1]] == tokenizer.token_to_id("[UNK]")
    size = tokenizer.get_vocab_size()
    return (
        f"{size:8} {(batch.lengths * weights).sum() / words:12.4f} "
        f"{100 * (unknown * weights).sum() / words:10.3f} {100 * len(np.unique(batch.ids)) / size:7.1f}"
    )


if __name__ == "__main__":
    main()
