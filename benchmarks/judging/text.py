"""The text of a run: the words of documents in order, and what is held out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np
import numpy.typing as npt

import piecework as pw
from corpora import grouped
from piecework.spec import BertNormalizer, BertPreTokenizer, WordLevel

Integers = npt.NDArray[np.int64]
DOCUMENT_BYTES = 2_000
HELD_OUT = 10  # one novel of so many is held out
COVERAGE = 0.99995
NORMALIZER = BertNormalizer(strip_accents=False)
SPLIT = BertPreTokenizer()


class TextTooShortError(Exception):
    """The text has fewer bytes than a recipe needs; the message says what to change."""


@dataclass(frozen=True)
class Text:
    """Distinct words, and documents as arrays of their indices.

    Words are lowercase and split as BERT splits them. A line ends with `line_end`, one more than the last
    index. The text that is judged is the words of a line with a space between them, and a newline: a word
    has one byte more than its letters, and a line end none.
    """

    words: list[str]
    training: list[Integers]
    held_out: Integers
    lexicon: Path | None = None
    """The file with the morphemes of words, for learners that keep their boundaries."""

    @property
    def line_end(self) -> int:
        """The index that ends a line."""
        return len(self.words)

    @property
    def word_bytes(self) -> Integers:
        """The bytes of each word with the space or newline after it; 0 for the line end."""
        return np.array([len(word.encode()) + 1 for word in self.words] + [0])

    @property
    def counts(self) -> pw.Counts:
        """The words of the training documents that consist of the alphabet."""
        totals = np.bincount(np.concatenate(self.training), minlength=len(self.words) + 1)
        alphabet = self.alphabet
        known = {
            word: count
            for word, count in zip(self.words, totals.tolist(), strict=False)
            if count and alphabet.issuperset(word)
        }
        return pw.Counts(list(known), list(known.values()))

    @property
    def alphabet(self) -> set[str]:
        """The most frequent characters of the training documents, up to `COVERAGE` of their text."""
        totals: Counter[str] = Counter()
        uses = np.bincount(np.concatenate(self.training), minlength=len(self.words) + 1)
        for word, count in zip(self.words, uses.tolist(), strict=False):
            for character in word:
                totals[character] += count
        ranked = totals.most_common()
        covered = accumulate(count for _, count in ranked)
        needed = sum(total < COVERAGE * totals.total() for total in covered) + 1
        return {character for character, _ in ranked[:needed]}

    def documents(self, seed: int) -> tuple[Integers, Integers]:
        """Return the training documents in random order, one after the other, and where each ends."""
        order = np.random.default_rng(seed).permutation(len(self.training))
        chosen = [self.training[index] for index in order.tolist()]
        return np.concatenate(chosen), np.cumsum([len(document) for document in chosen])


def read_text(text: str, training_bytes: int, held_out_bytes: int) -> Text:
    """Split novels, with an empty line between them, into documents and text that is held out.

    One novel of ten is held out; each of these gives as many bytes. Documents are about 2 KB of lines of the
    other novels, which give as many bytes each. Raises `TextTooShortError` if there are fewer bytes.
    """
    novels = [novel.splitlines() for novel in text.split("\n\n") if novel.strip()]
    held_out_novels = novels[HELD_OUT - 1 :: HELD_OUT]
    training_novels = [novel for row, novel in enumerate(novels, 1) if row % HELD_OUT]
    held_out = first_lines(held_out_novels, held_out_bytes, "held_out_kilobytes")
    documents = [
        document.splitlines()
        for novel in first_lines(training_novels, training_bytes, "training_megabytes")
        for document in grouped(iter([line + "\n" for line in novel]), DOCUMENT_BYTES)
    ]
    lines = [line for document in documents for line in document]
    words, rows = word_rows([*lines, *(line for novel in held_out for line in novel)])
    ends = np.cumsum([len(document) for document in documents]).tolist()
    training = [
        np.concatenate(rows[start:end])
        for start, end in zip([0, *ends], ends, strict=False)
        if end > start
    ]
    return Text(words, training, np.concatenate(rows[len(lines) :]))


def first_lines(novels: Sequence[list[str]], total_bytes: int, setting: str) -> list[list[str]]:
    """Return the first lines of each novel, so that all have about `total_bytes`, each as many.

    What a short novel lacks, others add. Raises `TextTooShortError` if there is less text.
    """
    sizes = [sum(len(line.encode()) + 1 for line in novel) for novel in novels]
    if sum(sizes) < total_bytes or not novels:
        raise TextTooShortError(
            f"the text has {sum(sizes):,} bytes in {len(novels)} novels for {setting}, which are "
            f"{total_bytes:,}: give more text, with an empty line between novels, or set {setting} lower"
        )
    left, limits = total_bytes, dict.fromkeys(range(len(novels)), 0)
    for rank, index in enumerate(sorted(limits, key=sizes.__getitem__)):
        limits[index] = min(sizes[index], -(-left // (len(novels) - rank)))
        left -= limits[index]
    chosen = []
    for index, novel in enumerate(novels):
        ends = accumulate(len(line.encode()) + 1 for line in novel)
        chosen.append([line for line, end in zip(novel, ends, strict=True) if end <= limits[index]])
    return chosen


def word_rows(lines: Sequence[str]) -> tuple[list[str], list[Integers]]:
    """Return the distinct words of lines, and the indices of the words of each, with the line end."""
    counted = pw.count_texts(lines, preset=pw.train.Pipeline(NORMALIZER, SPLIT))
    words = sorted(counted.words)
    model = WordLevel({word: index for index, word in enumerate([*words, "\n"])}, unk_token="\n")
    finder = pw.Tokenizer(model, normalizer=NORMALIZER, pre_tokenizer=SPLIT)
    batch = finder.encode_batch(lines)
    ids, ends = np.asarray(batch.ids, np.int64), np.asarray(batch.row_offsets)
    line_end = np.array([len(words)])
    return words, [
        np.concatenate([ids[start:end], line_end])
        for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    ]
