"""The quality of learned vocabularies, beside peers trained on the same words.

    python benchmarks/vocabulary_quality.py novels.txt --vocab-size 8000 --gold ces.word.train.tsv.gz

The first nine tenths of the lines are for learning, the last tenth is for judging. All learners get the same
words: lowercase, accents kept, split as BERT does, with characters up to 99.995 % of the text as alphabet.

    fertility  tokens a word; an unknown word is one
    used %     entries that occur in the held-out words
    tail %     entries that occur fewer than five times there
    P, R, F1   boundaries inside the words of a gold file, over distinct words; a file of SIGMORPHON 2022, or
               lines of a word, a tab and its morphemes, with @@ before all but the first

Gold words whose morphemes do not add up to the word are left out. `--peers` adds `tokenizers` and
`sentencepiece`, which read the words as text, in random order. Seconds are CPU seconds.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

import piecework as pw
from piecework.spec import BertNormalizer, BertPreTokenizer, WhitespaceSplit
from piecework.train import Learner, Merges, Pipeline, Preset, Pruning, TopDown

COVERAGE = 0.99995
TAIL = 5
PIPELINE = Pipeline(BertNormalizer(strip_accents=False), BertPreTokenizer())
WORDS = Preset("words", Pipeline(None, WhitespaceSplit()))
WORD_MARK = "▁"
COLUMNS = (
    "learner                   entries  fertility  used %  tail %      P      R     F1  seconds"
)

LEARNERS: dict[str, Learner] = {
    "likelihood": Merges("likelihood"),
    "frequency": Merges("frequency"),
    "top-down": TopDown(),
    "pruning": Pruning(),
    "pruning-shortest": Pruning(segmentation="shortest"),
    "pruning-balance0.5": Pruning(balance=0.5),
    "pruning-balance2": Pruning(balance=2.0),
    "pruning-cap1.5": Pruning(max_use_cost=1.5),
    "pruning-balance2-cap16": Pruning(balance=2.0, max_use_cost=16.0),
    "pruning-as-unigram": Pruning(),
    "pruning-balance2-as-unigram": Pruning(balance=2.0),
    "likelihood-as-unigram": Merges("likelihood"),
}

UNIGRAM_LEARNERS: dict[str, dict[str, Any]] = {
    "unigram": {},
    "unigram-exponent0.8": {"count_exponent": 0.8},
}

Split = list[str] | None
Segment = Callable[[Sequence[str]], list[Split]]


@dataclass(frozen=True)
class Words:
    """Words to learn from and to judge by, the size of the alphabet, and words with their boundaries."""

    training: pw.Counts
    held_out: pw.Counts
    limit_alphabet: int
    gold: dict[str, set[int]]


def main() -> None:
    """Train every learner for every size, and print a table for each size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--vocab-size", type=int, action="append", dest="sizes")
    parser.add_argument("--gold", type=Path, action="append", default=[])
    parser.add_argument("--max-bytes", type=int, help="read only the first bytes of the corpus")
    parser.add_argument("--learner", action="append", dest="learners", metavar="NAME")
    parser.add_argument("--peers", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", pw.errors.TrainingWarning)
    words = read_words(options.corpus, options.max_bytes, options.gold)
    for size in options.sizes or [8000]:
        print(f"{options.corpus.name}, {size:,} entries\n{COLUMNS}", flush=True)
        if options.peers:
            judge("tokenizers WordPiece", *timed(tokenizers_wordpiece, words, size), words)
            judge("sentencepiece Unigram", *timed(sentencepiece_unigram, words, size), words)
        for name in options.learners or [*LEARNERS, *UNIGRAM_LEARNERS]:
            train = piecework_unigram if name in UNIGRAM_LEARNERS else piecework_wordpiece
            judge(name, *timed(train, words, size, name), words)


def timed(train: Callable[..., Any], *arguments: Any) -> tuple[float, int, Segment]:
    """Return the CPU seconds of training, the size of the vocabulary, and the segmenter."""
    start = time.process_time()
    size, segment = train(*arguments)
    return time.process_time() - start, size, segment


# ---- words


def read_words(corpus: Path, max_bytes: int | None, gold: Sequence[Path]) -> Words:
    """Count the words of a corpus and read the gold files."""
    with corpus.open("rb") as file:
        data = file.read(max_bytes if max_bytes else -1)
    lines = data.decode("utf-8", "replace").split("\n")
    border = len(lines) * 9 // 10
    training = pw.count_texts(lines[:border], preset=PIPELINE)
    held_out = pw.count_texts(lines[border:], preset=PIPELINE)
    training, held_out = (
        pw.Counts(counts.words, counts.counts.tolist()) for counts in (training, held_out)
    )
    boundaries = {word: cuts for path in gold for word, cuts in gold_boundaries(path)}
    return Words(training, held_out, covering_characters(training), boundaries)


def covering_characters(counts: pw.Counts) -> int:
    """Return how many of the most frequent characters make up `COVERAGE` of the text."""
    totals: Counter[str] = Counter()
    for word, count in counts:
        for character in word:
            totals[character] += count
    needed = COVERAGE * totals.total()
    covered = list(accumulate(count for _, count in totals.most_common()))
    return 1 + sum(total < needed for total in covered)


def gold_boundaries(path: Path) -> Iterator[tuple[str, set[int]]]:
    """Read words and the positions of the boundaries between their morphemes."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    for line in data.decode("utf-8").splitlines():
        word, morphemes = line.split("\t")[:2]
        parts = morphemes.replace("@@", "").lower().split()
        if "".join(parts) == word.lower():
            yield word.lower(), set(accumulate(len(part) for part in parts[:-1]))


# ---- learners


def piecework_wordpiece(words: Words, size: int, learner: str) -> tuple[int, Segment]:
    """Train with the settings of a learner."""
    tokenizer = pw.Tokenizer.train_from_counts(
        words.training,
        preset=WORDS,
        vocab_size=size,
        limit_alphabet=words.limit_alphabet,
        special_tokens=["[UNK]"],
        learner=LEARNERS[learner],
    )
    if learner.endswith("-as-unigram"):
        tokenizer = pw.vocabulary.to_unigram(tokenizer, words.training).tokenizer
    tokens = [tokenizer.id_to_token(id) or "" for id in range(tokenizer.get_vocab_size())]

    def segment(texts: Sequence[str]) -> list[Split]:
        batch = tokenizer.encode_batch(list(texts), add_special_tokens=False)
        ids, ends = batch.ids.tolist(), batch.row_offsets.tolist()
        rows = (ids[start:end] for start, end in pairwise(ends))
        return [None if 0 in row else [tokens[id] for id in row] for row in rows]

    return len(tokens), segment


def piecework_unigram(words: Words, size: int, learner: str) -> tuple[int, Segment]:
    """Train a Unigram model of the same words, each after a space."""
    spaced = [WORD_MARK + word for word in words.training.words]
    totals: Counter[str] = Counter()
    for word, count in words.training:
        for character in word:
            totals[character] += count
    kept = {character for character, _ in totals.most_common(words.limit_alphabet)}
    rows = [
        (word, count)
        for word, count in zip(spaced, words.training.counts.tolist(), strict=True)
        if kept.issuperset(word[1:])
    ]
    trainer = pw.UnigramTrainer(
        vocab_size=size,
        special_tokens=("<unk>",),
        character_coverage=1.0,
        **UNIGRAM_LEARNERS[learner],
    )
    model = trainer.learn(pw.Counts([word for word, _ in rows], [count for _, count in rows]))
    tokenizer = pw.Tokenizer.from_spec(pw.TokenizerSpec(model))
    tokens = [piece for piece, _ in model.pieces]

    def segment(texts: Sequence[str]) -> list[Split]:
        batch = tokenizer.encode_batch([WORD_MARK + text for text in texts])
        ids, ends = batch.ids.tolist(), batch.row_offsets.tolist()
        rows = (ids[start:end] for start, end in pairwise(ends))
        return [None if 0 in row else [tokens[id] for id in row] for row in rows]

    return len(tokens), segment


def tokenizers_wordpiece(words: Words, size: int) -> tuple[int, Segment]:
    """Train the WordPiece of `tokenizers`."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        limit_alphabet=words.limit_alphabet,
        special_tokens=["[UNK]"],
        show_progress=False,
    )
    tokenizer.train_from_iterator(running_text(words.training), trainer)

    def segment(texts: Sequence[str]) -> list[Split]:
        rows = (encoding.tokens for encoding in tokenizer.encode_batch(list(texts)))
        return [None if "[UNK]" in row else row for row in rows]

    return tokenizer.get_vocab_size(), segment


def sentencepiece_unigram(words: Words, size: int) -> tuple[int, Segment]:
    """Train the Unigram of `sentencepiece`."""
    import sentencepiece

    with tempfile.TemporaryDirectory() as folder:
        text, prefix = Path(folder, "text.txt"), str(Path(folder, "model"))
        text.write_text("\n".join(running_text(words.training)), encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            input=str(text),
            model_prefix=prefix,
            vocab_size=size,
            character_coverage=COVERAGE,
            normalization_rule_name="identity",
            bos_id=-1,
            eos_id=-1,
            num_threads=1,
            minloglevel=2,
            input_sentence_size=0,
        )
        model = sentencepiece.SentencePieceProcessor(model_file=prefix + ".model")

    def segment(texts: Sequence[str]) -> list[Split]:
        unknown = model.unk_id()
        ids = model.encode(list(texts))
        return [None if unknown in row else model.id_to_piece(row) for row in ids]

    return model.get_piece_size(), segment


def running_text(counts: pw.Counts) -> Iterator[str]:
    """Yield lines of 20 words in random order, each word as often as it is counted."""
    order = np.repeat(np.arange(len(counts)), counts.counts.astype(np.int64))
    np.random.default_rng(1).shuffle(order)
    spelled = counts.words
    for start in range(0, len(order), 20):
        yield " ".join(spelled[index] for index in order[start : start + 20].tolist())


# ---- measures


def judge(name: str, seconds: float, size: int, segment: Segment, words: Words) -> None:
    """Print one row of the table."""
    weights = words.held_out.counts.tolist()
    splits = segment(words.held_out.words)
    tokens = sum(
        (1 if split is None else len(split)) * weight
        for split, weight in zip(splits, weights, strict=True)
    )
    uses: Counter[str] = Counter()
    for split, weight in zip(splits, weights, strict=True):
        for token in split or ["[UNK]"]:
            uses[token] += weight
    often = sum(count >= TAIL for count in uses.values())
    measures = (tokens / sum(weights), 100 * len(uses) / size, 100 * (size - often) / size)
    scores = boundary_scores(segment, words.gold) if words.gold else (float("nan"),) * 3
    row = (
        f"{measures[0]:10.4f} {measures[1]:7.1f} {measures[2]:7.1f} "
        f"{scores[0]:6.1f} {scores[1]:6.1f} {scores[2]:6.1f}"
    )
    print(f"{name:24} {size:8} {row} {seconds:8.2f}", flush=True)


def boundary_scores(segment: Segment, gold: dict[str, set[int]]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the boundaries inside words, in per cent."""
    right = found = expected = 0
    for split, cuts in zip(segment(list(gold)), gold.values(), strict=True):
        proposed = cuts_of(split)
        right += len(proposed & cuts)
        found += len(proposed)
        expected += len(cuts)
    precision, recall = right / max(found, 1), right / max(expected, 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return 100 * precision, 100 * recall, 100 * f1


def cuts_of(split: Split) -> set[int]:
    """Return the boundaries inside a word, from the lengths of its tokens."""
    cuts, position = set(), 0
    for token in split or []:
        position += len(token.removeprefix("##").removeprefix(WORD_MARK))
        cuts.add(position)
    return cuts - {0, position}


if __name__ == "__main__":
    main()
