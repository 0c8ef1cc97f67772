"""Train with one frequent word and one rare word, and print which entries are learned.

    python benchmarks/pair_overflow.py

The frequent word is `ab` written 2,000 times. It is fed again and again by an iterator, so memory stays
small, and `ab` occurs 2,000 times in it. The rare word `xy` is fed 1,000 times. Every trainer that merges the
most frequent pair should begin with a pair of the frequent word. Pair counts of 32 bits with a sign end at
2,147,483,647, which the pairs of the frequent word pass when it is fed 1,074,000 times or more.

Prints a row for each number and trainer: the pairs `a` `b` that were fed, and the entries that were learned
beside the letters, in order. Takes a minute for each row on an idle machine.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from typing import Any

import tokenizers
from tokenizers import models, trainers

import piecework as pw
from piecework.train import Merges, Pipeline, Preset

PAIRS, RARE_COUNT = 2_000, 1_000
FREQUENT, RARE = "ab" * PAIRS, "xy"
FED = (1_070_000, 1_080_000)
LEARNED = 3
LETTERS = {"bpe": 4, "wordpiece": 7}  # a, b, x, y; for WordPiece also ##a, ##b, ##y
WHOLE_TEXTS = Preset("whole texts", Pipeline())


def main() -> None:
    """Print what each trainer learns."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fed", type=int, action="append", help="how often; default: both sides")
    options = parser.parse_args()
    print(f"tokenizers {tokenizers.__version__}, piecework {pw.__version__}")
    print("      fed     pairs a b  trainer                      learned")
    for fed in options.fed or FED:
        for name, learned in TRAINERS.items():
            entries = " ".join(map(shown, learned(fed))) or "nothing"
            print(f"{fed:9,} {fed * PAIRS:13,}  {name:27}  {entries}", flush=True)


def texts(fed: int) -> Iterator[str]:
    """Yield the words."""
    return chain(repeat(FREQUENT, fed), repeat(RARE, RARE_COUNT))


def shown(entry: str) -> str:
    """Return an entry, shortened if it is long.

    >>> shown("abab"), shown("ab" * 8)
    ('abab', 'abab... (16 letters)')
    """
    return entry if len(entry) <= 12 else f"{entry[:4]}... ({len(entry)} letters)"


def theirs(model: Any, trainer: type, kind: str) -> Callable[[int], list[str]]:
    """Return what a trainer of `tokenizers` learns beside the letters."""

    def learned(fed: int) -> list[str]:
        tokenizer = tokenizers.Tokenizer(model)
        settings = {"special_tokens": [], "show_progress": False}
        size = LETTERS[kind] + LEARNED
        tokenizer.train_from_iterator(texts(fed), trainer(vocab_size=size, **settings))
        vocab = tokenizer.get_vocab()
        return sorted(vocab, key=vocab.__getitem__)[LETTERS[kind] :]

    return learned


def ours(trainer: Any, kind: str) -> Callable[[int], list[str]]:
    """Return what a trainer of piecework learns beside the letters."""

    def learned(fed: int) -> list[str]:
        counts = pw.count_texts(texts(fed), preset=WHOLE_TEXTS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pw.errors.TrainingWarning)
            return list(trainer.learn_vocabulary(counts).entries[LETTERS[kind] :])

    return learned


TRAINERS = {
    "tokenizers BpeTrainer": theirs(models.BPE(), trainers.BpeTrainer, "bpe"),
    "piecework BPETrainer": ours(
        pw.BPETrainer(LETTERS["bpe"] + LEARNED, special_tokens=(), unk_token=None), "bpe"
    ),
    "tokenizers WordPieceTrainer": theirs(
        models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer, "wordpiece"
    ),
    "piecework WordPieceTrainer": ours(
        pw.WordPieceTrainer(
            LETTERS["wordpiece"] + LEARNED,
            learner=Merges("frequency"),
            special_tokens=(),
            alphabet_forms="start-and-seen",
        ),
        "wordpiece",
    ),
}


if __name__ == "__main__":
    main()
