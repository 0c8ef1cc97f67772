"""Byte-level vocabularies whose ids are those of whole lines: entries may cross the spaces between words."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

import piecework as pw
from judging.text import Integers, Text

# How both count words, so that only the entries differ.
PRESETS = {
    "o200k": None,
    "o200k-superwords": 0.75,
}  # and the share of entries without spaces inside


@dataclass(frozen=True)
class LineVocabulary:
    """A tokenizer of lines that have a space before each word; the last of `size` ids ends a line."""

    tokenizer: pw.Tokenizer
    words: list[str]

    @property
    def size(self) -> int:
        """The number of ids."""
        return self.tokenizer.get_vocab_size() + 1

    @property
    def extra_bits(self) -> np.ndarray:
        """No bits: bytes spell every word."""
        return np.zeros(len(self.words) + 1)

    def stream(self, order: Integers) -> Integers:
        """Return the ids of words in order."""
        ids, ends = self._encode(order)
        whole = np.count_nonzero(order == len(self.words))
        return np.insert(ids, ends[:whole], self.size - 1)

    def lengths(self, order: Integers) -> Integers:
        """Return how many ids end with each word in order: those of a line are counted at its end."""
        lengths = np.diff(self._encode(order)[1], prepend=0)
        ending = order == len(self.words)
        found = np.zeros(len(order), np.int64)
        found[ending] = lengths[: np.count_nonzero(ending)] + 1
        found[-1:] += lengths[np.count_nonzero(ending) :].sum()
        return found

    def _encode(self, order: Integers) -> tuple[Integers, Integers]:
        """Return the ids of lines, and where the ids of each end."""
        batch = self.tokenizer.encode_batch(list(lines(order, self.words)))
        return np.asarray(batch.ids, np.int64), np.asarray(batch.row_offsets, np.int64)[1:]


def lines(order: Integers, words: list[str]) -> Iterable[str]:
    """Yield the lines of words in order, with a space before each word; the last one may not be whole.

    >>> list(lines(np.array([2, 0, 1, 2, 1]), ["a", "b"]))
    ['', ' a b', ' b']
    """
    ends = np.flatnonzero(order == len(words))
    for row in np.split(order, ends + 1):
        if len(row):
            yield "".join(f" {words[index]}" for index in row.tolist() if index < len(words))


def learn_of_lines(preset: str, text: Text, size: int) -> LineVocabulary:
    """Learn byte-level BPE from the lines of the training documents."""
    counts = pw.count_texts(lines(np.concatenate(text.training), text.words), preset=preset)
    share = PRESETS[preset]
    trainer = pw.ByteBPETrainer(
        size, transition=None if share is None else round(share * size), special_tokens=[]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pw.errors.TrainingWarning)
        return LineVocabulary(pw.Tokenizer.train_from_counts(counts, trainer), text.words)
