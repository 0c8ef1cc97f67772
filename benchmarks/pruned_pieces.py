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

MinGram (Land 2026, arXiv 2606.27019) is written here anew, after its published code: seeds are entries of
BPE, 1.15 times as many as are to be learned; two passes of hard EM count the pieces on the path with the
fewest tokens, where scores decide ties, and drop unused pieces; one step keeps the characters and the pieces
with the best scores, and two passes more re-estimate them. MinGram-PP has 8 times as many seeds. After each
two passes, it removes the tenth of the pieces whose removal adds the fewest tokens, by the bound of
PathPiece (Schmidt et al. 2024): each use of a piece costs the cheapest path that breaks it, or replaces it
by a longer piece. `mingram-pp-20` removes a fifth. They are no learners of the package, because pruning
with `segmentation="shortest"`, which is MinGram-PP with other seeds and exact losses, takes fewer tokens in
all columns but two: see the tables of docs/explanation/training-bpe-and-unigram.md.
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
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from math import ceil, inf
from pathlib import Path
from typing import Any

import numpy as np

import piecework as pw
from piecework.spec import BertNormalizer, BertPreTokenizer, SentencePiece, Unigram
from piecework.train import BPETrainer, Pipeline, Pruning, SentencePieceTrainer, UnigramTrainer
from piecework.train.trainers.bpe import BYTE_ALPHABET

COVERAGE = 0.9995
WORD_MARK = "▁"
CHARACTERS = Pipeline(BertNormalizer(strip_accents=False), BertPreTokenizer())
# Less than the difference of two numbers of tokens, and more than that of the scores of two segmentations.
TOKEN_COST = 1000.0
MINGRAM_PASSES = 2
MINGRAM_SEEDS, PP_SEEDS = 1.15, 8.0  # times the entries to learn

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
    """Learn as MinGram is published: keep the pieces with the best scores, in one step."""
    pieces, scores = bpe_seeds(counts, alphabet, size, MINGRAM_SEEDS)
    pieces, scores = re_estimated(pieces, scores, counts, size)
    kept = best(pieces, scores, size)
    return fewest_tokens(*re_estimated(pieces[kept], scores[kept], counts, size))


def mingram_pp(step: float) -> Learn:
    """Return how to learn as MinGram-PP, which removes this share of the pieces at once."""

    def learn(counts: pw.Counts, alphabet: Alphabet, size: int) -> Unigram:
        pieces, scores = bpe_seeds(counts, alphabet, size, PP_SEEDS)
        pieces, scores = re_estimated(pieces, scores, counts, size)
        while len(pieces) > size:
            removable = sum(len(piece) > 1 for piece in pieces)
            smaller = max(len(pieces) - int(step * removable), size)
            losses = added_tokens(pieces, scores, counts)
            # Equal losses keep the order of the scores.
            kept = best(pieces, losses, smaller, np.argsort(-scores, kind="stable"))
            pieces, scores = re_estimated(pieces[kept], scores[kept], counts, size)
        return fewest_tokens(pieces, scores)

    return learn


def bpe_seeds(counts: pw.Counts, alphabet: Alphabet, size: int, factor: float) -> tuple[Any, Any]:
    """Return entries of BPE, `factor` times as many as are to be learned, and the scores of their uses."""
    characters = len(alphabet) or len(set().union(*counts.words))
    seeds = characters + ceil(factor * (size - characters))
    model = bpe(counts, alphabet, seeds)
    pieces = np.array(sorted(model.vocab, key=model.vocab.__getitem__), object)
    return pieces, log_shares(uses(encoded(model, counts.words), len(pieces), counts))


def best(pieces: Any, values: Any, size: int, order: Any = None) -> Any:
    """Return where the characters and the pieces with the highest values are, in rising order.

    Of equal values, those that are first in `order` are kept.
    """
    order = np.arange(len(pieces)) if order is None else order
    is_character = np.array([len(piece) == 1 for piece in pieces])
    ranked = order[np.argsort(-np.where(is_character, np.inf, values)[order], kind="stable")]
    return np.sort(ranked[:size])


def re_estimated(pieces: Any, scores: Any, counts: pw.Counts, size: int) -> tuple[Any, Any]:
    """Return pieces and scores after passes of hard EM, which drop unused pieces while `size` are left."""
    for _ in range(MINGRAM_PASSES):
        found = uses(encoded(fewest_tokens(pieces, scores), counts.words), len(pieces), counts)
        kept = best(pieces, found, max(size, int(np.count_nonzero(found))))
        pieces, scores = pieces[kept], log_shares(found)[kept]
    return pieces, scores


def uses(batch: pw.Batch, pieces: int, counts: pw.Counts) -> Any:
    """Return how often each piece is used in the words."""
    weights = np.repeat(counts.counts.astype(np.int64), batch.lengths)
    return np.bincount(batch.ids, weights, pieces)


def log_shares(uses: Any) -> Any:
    """Return the logarithms of the shares of the pieces; an unused piece has half a use."""
    return np.log(np.maximum(uses, 0.5) / uses.sum())


def added_tokens(pieces: Any, scores: Any, counts: pw.Counts) -> Any:
    """Return the bound of PathPiece for each piece: how many tokens its removal adds to the words."""
    known = set(pieces.tolist())
    longest = max(map(len, known))
    batch = encoded(fewest_tokens(pieces, scores), counts.words)
    ids, ends = batch.ids.tolist(), batch.row_offsets.tolist()
    losses = np.zeros(len(pieces))
    for (word, count), (first, end) in zip(counts, pairwise(ends), strict=True):
        path = ids[first:end]
        lengths = [len(pieces[id]) for id in path]
        for id, added in zip(path, added_by_use(word, lengths, known, longest), strict=True):
            losses[id] += count * added
    return losses


def added_by_use(word: str, lengths: list[int], known: set[str], longest: int) -> Iterator[float]:
    """Yield for each piece of a shortest path how many tokens the word has more without this use.

    >>> [*added_by_use("hugs", [4], {"h", "u", "g", "s", "hug", "hugs"}, 4)]
    [1]
    >>> [*added_by_use("hugs", [2, 2], {"h", "u", "g", "s", "hu", "gs", "ugs"}, 3)]
    [0, 0]
    """
    size = len(word)
    spans = [
        (start, end)
        for start in range(size)
        for end in range(start + 1, min(start + longest, size) + 1)
        if word[start:end] in known
    ]
    before, after = [0] + [size] * size, [size] * size + [0]
    for start, end in spans:  # in rising order of starts
        before[end] = min(before[end], before[start] + 1)
    for start, end in reversed(spans):
        after[start] = min(after[start], after[end] + 1)
    place = 0
    for length in lengths:
        start, end = place, place + length
        place = end
        broken = [before[at] + after[at] for at in range(start + 1, end)]
        replaced = [
            before[first] + 1 + after[last]
            for first, last in spans
            if first <= start and last >= end and last - first > length
        ]
        # A character is never removed.
        yield min([*broken, *replaced], default=inf) - before[size] if length > 1 else inf


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
    "mingram-pp": mingram_pp(0.1),
    "mingram-pp-20": mingram_pp(0.2),
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
        alphabet = BYTE_ALPHABET
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
