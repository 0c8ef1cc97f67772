"""Tokens, time and memory of pieces by pruning, beside BPE, Unigram and MinGram trained on the same words.

    python benchmarks/pruned_pieces.py novels.txt --units bytes --vocab-size 8000

The first nine tenths of the lines are for learning, the last tenth is for judging. Words of bytes are those
of GPT-2's pattern. Words of characters are lowercase words as BERT splits them, with a mark before each,
without those with rare characters. All learners get the same words, and no special tokens. Units of
`sentencepiece` are the words of `SentencePieceTrainer`, which learns with its defaults, symbols included.

    tokens/word    of held-out words
    bytes/token    of the same
    used %         entries that occur in held-out words
    seconds        CPU seconds of learning
    MB             what learning adds to the memory of the process, in a process of its own

MinGram is written here from the abstract of arXiv 2606.27019: seeds are entries of BPE; hard EM counts the
pieces on the path with the fewest tokens, where scores decide ties; one step keeps the pieces with the best
scores. The number of seeds, twice the size, and of iterations, two, are ours. It is no learner of the
package, because pruning with `segmentation="shortest"` takes fewer tokens in every column.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

import piecework as pw
from piecework.spec import BertNormalizer, BertPreTokenizer, SentencePiece, Unigram
from piecework.train import BPETrainer, Pipeline, Pruning, SentencePieceTrainer, UnigramTrainer

COVERAGE = 0.9995
WORD_MARK = "▁"
CHARACTERS = Pipeline(BertNormalizer(strip_accents=False), BertPreTokenizer())
# Less than the difference of two numbers of tokens, and more than that of the scores of two segmentations.
TOKEN_COST = 1000.0
MINGRAM_SEEDS = 2
MINGRAM_ITERATIONS = 2

Alphabet = tuple[str, ...]
Learn = Callable[[pw.Counts, Alphabet, int], Any]


def bpe(counts: pw.Counts, alphabet: Alphabet, size: int) -> Any:
    """Learn merges of the most frequent pair."""
    return bpe_trainer(alphabet, size).learn(counts)


def bpe_trainer(alphabet: Alphabet, size: int) -> BPETrainer:
    """Return the trainer of merges."""
    return BPETrainer(size, special_tokens=(), unk_token=None, initial_alphabet=alphabet)


def unigram(**settings: Any) -> Learn:
    """Return how to learn a Unigram model with these settings."""

    def learn(counts: pw.Counts, alphabet: Alphabet, size: int) -> Unigram:
        trainer = UnigramTrainer(
            size,
            special_tokens=(),
            unk_token=None,
            initial_alphabet=alphabet,
            character_coverage=1.0,
            **settings,
        )
        return trainer.learn(counts)

    return learn


def sentencepiece(kind: str = "unigram", **settings: Any) -> Learn:
    """Return how to learn a SentencePiece model with these settings."""

    def learn(counts: pw.Counts, _: Alphabet, size: int) -> SentencePiece:
        return SentencePieceTrainer(kind, size, **settings).learn(counts)  # type: ignore[arg-type]

    return learn


def mingram(counts: pw.Counts, alphabet: Alphabet, size: int) -> Unigram:
    """Learn as MinGram is described."""
    learned = bpe_trainer(alphabet, MINGRAM_SEEDS * size).learn_vocabulary(counts)
    pieces = np.array(learned.entries, object)
    scores = np.zeros(len(pieces))
    for _ in range(MINGRAM_ITERATIONS):
        scores = hard_scores(pieces, scores, counts)
    is_character = np.array([len(piece) == 1 for piece in pieces])
    order = np.argsort(-np.where(is_character, np.inf, scores), kind="stable")
    kept = np.sort(order[:size])
    pieces, scores = pieces[kept], scores[kept]
    return fewest_tokens(pieces, hard_scores(pieces, scores, counts))


def hard_scores(pieces: Any, scores: Any, counts: pw.Counts) -> Any:
    """Return the logarithms of the shares of the pieces on the best paths."""
    batch = encoded(fewest_tokens(pieces, scores), counts.words)
    weights = np.repeat(counts.counts.astype(np.int64), batch.lengths)
    uses = np.bincount(batch.ids, weights, len(pieces))
    return np.log(np.maximum(uses, 0.5) / uses.sum())


def fewest_tokens(pieces: Any, scores: Any) -> Unigram:
    """Return the model that takes the fewest tokens, and of equal segmentations the best by score."""
    scored = zip(pieces, scores, strict=True)
    return Unigram(
        tuple((piece, float(score) - TOKEN_COST) for piece, score in scored), unk_id=None
    )


LEARNERS: dict[str, Learn] = {
    "bpe": bpe,
    "unigram": unigram(),
    "pruning": unigram(learner=Pruning()),
    "pruning-shortest": unigram(learner=Pruning(segmentation="shortest")),
    "pruning-balance2": unigram(learner=Pruning(balance=2.0)),
    "mingram": mingram,
}
OF_SENTENCEPIECE: dict[str, Learn] = {
    "bpe": sentencepiece("bpe"),
    "unigram": sentencepiece(),
    "pruning": sentencepiece(learner=Pruning()),
    "pruning-balance2": sentencepiece(learner=Pruning(balance=2.0)),
}
UNITS = {"bytes": LEARNERS, "characters": LEARNERS, "sentencepiece": OF_SENTENCEPIECE}


def main() -> None:
    """Train every learner for every size in a process of its own, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--units", choices=UNITS, default="bytes")
    parser.add_argument("--vocab-size", type=int, action="append", dest="sizes")
    parser.add_argument("--learner", action="append", dest="learners", choices=LEARNERS)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", pw.errors.TrainingWarning)
    if options.one:
        size, name = options.one.split()
        print(json.dumps(measured(options.corpus, options.units, int(size), name)))
        return
    names = options.learners or [*UNITS[options.units]]
    if unknown := [name for name in names if name not in UNITS[options.units]]:
        parser.error(f"--units {options.units} has no learner {unknown[0]}")
    print(f"{options.corpus.name}, {options.units}")
    print("  size  learner           entries  tokens/word  bytes/token  used %  seconds     MB")
    for size in options.sizes or [8000]:
        for name in names:
            command = [sys.executable, __file__, options.corpus, "--units", options.units]
            one = subprocess.run([*command, "--one", f"{size} {name}"], check=True, stdout=-1)
            row = json.loads(one.stdout)
            print(
                f"{size:6}  {name:16} {row['entries']:8} {row['tokens_word']:12.4f} "
                f"{row['bytes_token']:12.4f} {row['used']:7.1f} {row['seconds']:8.2f} {row['mb']:6.0f}",
                flush=True,
            )


def measured(corpus: Path, units: str, size: int, name: str) -> dict[str, float]:
    """Learn, and return the figures of a row."""
    training, held_out, alphabet = read_words(corpus, units)
    if hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)  # otherwise learning uses what counting has freed
    before, start = status("VmRSS"), time.process_time()
    Path("/proc/self/clear_refs").write_text("5")
    model = UNITS[units][name](training, alphabet, size)
    seconds, memory = time.process_time() - start, status("VmHWM") - before
    batch = encoded(model, held_out.words)
    weights = held_out.counts.astype(np.int64)
    tokens = int((batch.lengths * weights).sum())
    in_bytes = [len(word) if units == "bytes" else len(word.encode()) for word in held_out.words]
    return {
        "entries": len(model.vocab),
        "tokens_word": tokens / int(weights.sum()),
        "bytes_token": int((np.array(in_bytes) * weights).sum()) / tokens,
        "used": 100 * len(np.unique(batch.ids)) / len(model.vocab),
        "seconds": seconds,
        "mb": memory / 1e6,
    }


def read_words(corpus: Path, units: str) -> tuple[pw.Counts, pw.Counts, Alphabet]:
    """Return the words to learn from and to judge by, and the characters that entries must include."""
    lines = corpus.read_text(encoding="utf-8").split("\n")
    border = len(lines) * 9 // 10
    parts = lines[:border], lines[border:]
    if units == "bytes":
        texts = ([line + "\n" for line in part] for part in parts)
        training, held_out = (pw.count_texts(part, preset="gpt2") for part in texts)
        alphabet = pw.ByteBPETrainer().by_characters().initial_alphabet
        return without_pipeline(training), without_pipeline(held_out), alphabet
    if units == "sentencepiece":
        pipeline = SentencePieceTrainer().pipeline
        training, held_out = (pw.count_texts(part, preset=pipeline) for part in parts)
        return training, held_out, ()
    training, held_out = (pw.count_texts(part, preset=CHARACTERS) for part in parts)
    kept = frequent_characters(training)
    return marked(training, kept), marked(held_out, kept), ()


def without_pipeline(counts: pw.Counts) -> pw.Counts:
    """Return the words and counts alone."""
    return pw.Counts(counts.words, counts.counts.tolist())


def marked(counts: pw.Counts, kept: set[str]) -> pw.Counts:
    """Return the words of these characters, each after a mark."""
    rows = [(WORD_MARK + word, count) for word, count in counts if kept.issuperset(word)]
    return pw.Counts([word for word, _ in rows], [count for _, count in rows])


def frequent_characters(counts: pw.Counts) -> set[str]:
    """Return the most frequent characters, which make up `COVERAGE` of the text."""
    totals: Counter[str] = Counter()
    for word, count in counts:
        for character in word:
            totals[character] += count
    ranked = totals.most_common()
    needed = COVERAGE * totals.total()
    covered = accumulate(count for _, count in ranked)
    number = 1 + sum(total < needed for total in covered)
    return {character for character, _ in ranked[:number]}


def encoded(model: Any, words: Sequence[str]) -> pw.Batch:
    """Return the ids of words under a model."""
    tokenizer = pw.Tokenizer.from_spec(pw.TokenizerSpec(model))
    return tokenizer.encode_batch(list(words), add_special_tokens=False)


def status(name: str) -> int:
    """Return a field of the memory of this process in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(name)).split()[1])


if __name__ == "__main__":
    main()
