"""What each score learns: tokens a word, unknown words and entries in use, on held-out lines.

    python benchmarks/fertility.py english-docs.txt --vocab-size 8000

Every tenth line is held out. Lengths are in tokens a pre-tokenized word, an unknown word being one.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import piecework as pw
from piecework.spec import BertNormalizer, BertPreTokenizer, Metaspace, SequencePreTokenizer
from piecework.train import Learner, Merges, Pipeline, Preset, TopDown

RUNS: tuple[tuple[str, Learner, int], ...] = (
    ("likelihood", Merges("likelihood"), 2),
    ("frequency", Merges("frequency"), 2),
    ("top-down", TopDown(), 2),
    ("pmi", Merges("pmi"), 50),
    ("pmi", Merges("pmi"), 1),
)

# The words of the other learners, each with a mark before it.
MARKED = Preset(
    "marked",
    Pipeline(BertNormalizer(), SequencePreTokenizer((BertPreTokenizer(), Metaspace()))),
)


def main() -> None:
    """Train with every score on nine tenths of the lines and measure on the last."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--limit-alphabet", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore", pw.errors.TrainingWarning)
    lines = options.corpus.read_text(encoding="utf-8", errors="replace").split("\n")
    training = [line for row, line in enumerate(lines) if row % 10]
    counts = pw.count_texts(training)
    held_out = pw.count_texts(lines[::10])
    print("score       min_frequency  entries  tokens/word  unknown %  used %")
    for name, learner, min_frequency in RUNS:
        tokenizer = pw.Tokenizer.train_from_counts(
            counts,
            learner=learner,
            vocab_size=options.vocab_size,
            min_frequency=min_frequency,
            limit_alphabet=options.limit_alphabet,
        )
        print(f"{name:11} {min_frequency:13} {measured(tokenizer, held_out)}")
    marked = pw.count_texts(training, preset=MARKED.pipeline)
    tokenizer = pw.Tokenizer.train_from_counts(
        marked,
        model="unigram",
        preset=MARKED,
        vocab_size=options.vocab_size,
        special_tokens=["[UNK]"],
        unk_token="[UNK]",
        character_coverage=coverage(marked, 1 + options.limit_alphabet),
    )
    print(f"unigram     {'':13} {measured(tokenizer, held_out)}")


def coverage(counts: pw.Counts, limit_alphabet: int) -> float:
    """Return what share of the text the most frequent characters make up."""
    totals: Counter[str] = Counter()
    for word, count in counts:
        for character in word:
            totals[character] += count
    return sum(n for _, n in totals.most_common(limit_alphabet)) / totals.total()


def measured(tokenizer: pw.Tokenizer, held_out: pw.Counts) -> str:
    """Encode each distinct held-out word once and weight it by its count."""
    batch = tokenizer.encode_batch(held_out.words, add_special_tokens=False)
    weights = held_out.counts.astype(np.float64)
    words = weights.sum()
    is_unknown = batch.ids == tokenizer.token_to_id("[UNK]")
    unknown = np.logical_or.reduceat(is_unknown, batch.row_offsets[:-1])
    lengths = np.where(unknown, 1, batch.lengths)
    size = tokenizer.get_vocab_size()
    return (
        f"{size:8} {(lengths * weights).sum() / words:12.4f} "
        f"{100 * (unknown * weights).sum() / words:10.3f} {100 * len(np.unique(batch.ids)) / size:7.1f}"
    )


if __name__ == "__main__":
    main()
