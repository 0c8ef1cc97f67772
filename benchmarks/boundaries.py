"""Vocabularies that keep the boundaries of a lexicon, beside those that do not: tokens, and morphemes found.

    python benchmarks/boundaries.py english=novels-english.txt:eng.word.dev.tsv.gz,eng.word.test.gold.tsv.gz \
        czech=novels-czech.txt:ces.word.train.tsv.gz --vocab-size 8000 --vocab-size 32000

The first nine tenths of the lines are for learning, the last tenth is for counting tokens. Learners get the
words of `vocabulary_quality.py`. Of the gold words that their morphemes spell, one of five, chosen by a hash,
is scored; the others are the lexicon. A learner with the lexicon of all words is not scored on morphemes.

    tokens a word   of the held-out words, by the vocabulary
    P, R, F1        boundaries inside the gold words that are not in the lexicon, over distinct words
    covered         of the words to learn from, those with an entry in the lexicon, in per cent of occurrences
    split           the same for entries with a boundary

`--write` only writes the lexicon of all gold words as `morphemes-LANGUAGE.tsv` beside the corpora, where
`language_model.py` reads it.
"""

from __future__ import annotations

import argparse
import hashlib
import warnings
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import piecework as pw
from corpora import lexicon_path
from piecework.analysis import Gold, boundary_scores
from piecework.spec import ByteLevel, SequencePreTokenizer, WhitespaceSplit
from piecework.train import Merges, Pipeline, Preset, Pruning
from vocabulary_quality import Words, gold_boundaries, read_words

Lexicon = Mapping[str, tuple[str, ...]]
SCORED = 5  # one gold word of so many is scored
WORDS = Preset("words", Pipeline(None, WhitespaceSplit()))
BYTES = Preset(
    "bytes", Pipeline(None, SequencePreTokenizer((WhitespaceSplit(), ByteLevel(use_regex=False))))
)
COLUMNS = "learner                        entries  tokens a word      P      R     F1"


class Language(NamedTuple):
    """The text of a language, and the files of its morphemes."""

    name: str
    corpus: Path
    gold: list[Path]


def main() -> None:
    """Learn with and without the lexicon, and print a table for each language and size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("languages", nargs="+", type=language, metavar="NAME=CORPUS:GOLD,...")
    parser.add_argument("--vocab-size", type=int, action="append", dest="sizes")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", pw.errors.TrainingWarning)
    for one in options.languages:
        if options.write:
            write_lexicon(one)
        else:
            compare(one, options.sizes or [8000])


def language(text: str) -> Language:
    """Read the argument of a language."""
    name, _, files = text.partition("=")
    corpus, _, gold = files.partition(":")
    return Language(name, Path(corpus), [Path(path) for path in gold.split(",")])


def write_lexicon(one: Language) -> None:
    """Write the lexicon of all gold words."""
    path = lexicon_path(one.name)
    rows = sorted(
        lexicon_of({w: at for path in one.gold for w, at in gold_boundaries(path)}).items()
    )
    path.write_text("".join(f"{word}\t{' '.join(parts)}\n" for word, parts in rows), "utf-8")
    print(f"{path}: {len(rows):,} words")


def lexicon_of(gold: Mapping[str, Iterable[int]]) -> Lexicon:
    """Return the parts of words, from their boundaries; without words that have a space or tab."""
    return {
        word: tuple(word[start:end] for start, end in pairwise([0, *sorted(at), len(word)]))
        for word, at in gold.items()
        if len(word.split()) == 1
    }


def compare(one: Language, sizes: Iterable[int]) -> None:
    """Print the table of a language for each size."""
    words = read_words(one.corpus, None, one.gold)
    scored = {word: at for word, at in words.gold.items() if is_scored(word)}
    lexicon = lexicon_of({word: at for word, at in words.gold.items() if word not in scored})
    gold = Gold({word: tuple(sorted(at)) for word, at in scored.items()}, len(scored))
    print(
        f"{one.name}: {len(lexicon):,} words in the lexicon, {len(scored):,} scored; "
        f"{coverage(words, lexicon)}"
    )
    for size in sizes:
        print(f"{one.name}, {size:,} entries\n{COLUMNS}", flush=True)
        for name in LEARNERS:
            for kept in (None, lexicon):
                tokenizer = learn(name, words, size, kept)
                title = name if kept is None else f"{name}, boundaries"
                report(title, tokenizer, words.held_out, gold)


def is_scored(word: str) -> bool:
    """Return whether a gold word is scored, and so is not in the lexicon."""
    return hashlib.sha256(word.encode()).digest()[0] % SCORED == 0


def coverage(words: Words, lexicon: Lexicon) -> str:
    """Return how many occurrences of the words to learn from have an entry, and one with a boundary."""
    total = words.training.total
    found = [(len(lexicon[word]), count) for word, count in words.training if word in lexicon]
    covered, split = sum(n for _, n in found), sum(n for parts, n in found if parts > 1)
    return f"covered {100 * covered / total:.1f} %, split {100 * split / total:.1f} %"


LEARNERS = ("pruning", "likelihood", "frequency", "byte-bpe")


def learn(name: str, words: Words, size: int, lexicon: Lexicon | None) -> pw.Tokenizer:
    """Return the tokenizer of a learner, which keeps the boundaries of a lexicon if there is one."""
    if name == "byte-bpe":
        counts = pw.count_texts(occurrences(words.training), preset=BYTES)
        counts = counts if lexicon is None else counts.with_boundaries(lexicon)
        return pw.Tokenizer.train_from_counts(
            counts, model="byte-bpe", preset=BYTES, vocab_size=size, special_tokens=[]
        )
    return pw.Tokenizer.train_from_counts(
        words.training,
        preset=WORDS,
        vocab_size=size,
        limit_alphabet=words.limit_alphabet,
        special_tokens=["[UNK]"],
        learner=Pruning() if name == "pruning" else Merges(name),
        boundaries=lexicon,
    )


def occurrences(counts: pw.Counts) -> Iterable[list[str]]:
    """Yield the words, each as often as it is counted."""
    return ([word] * count for word, count in counts)


def report(title: str, tokenizer: pw.Tokenizer, held_out: pw.Counts, gold: Gold) -> None:
    """Print one row of the table."""
    batch = tokenizer.encode_batch(held_out.words, add_special_tokens=False)
    lengths = [end - start for start, end in pairwise(batch.row_offsets.tolist())]
    tokens = sum(n * count for n, count in zip(lengths, held_out.counts.tolist(), strict=True))
    scores = boundary_scores(tokenizer, gold)
    measures = (100 * (one or 0.0) for one in (scores.precision, scores.recall, scores.f1))
    row = " ".join(f"{one:6.1f}" for one in measures)
    size = tokenizer.get_vocab_size()
    print(f"{title:30} {size:7} {tokens / held_out.total:14.4f} {row}", flush=True)


if __name__ == "__main__":
    main()
