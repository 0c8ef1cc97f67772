"""`Merges("frequency")` learns what the WordPiece trainer of `tokenizers` learns, but for ties.

The alphabet is its too with `alphabet_forms="start-and-seen"`.

That trainer numbers the prefixed characters in the order of a hash table, so ties between equally
frequent pairs fall differently from run to run, and a tie that falls differently can change the counts
of the pairs that overlap with it. So its joins are replayed over our counts: each must be a most
frequent pair at its turn, as each of ours is.
"""

from __future__ import annotations

import heapq
import itertools
import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest
import tokenizers
from tokenizers import models, normalizers, pre_tokenizers, trainers

import piecework as pw
from piecework.train import Merges

SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
Pair = tuple[str, str]


def their_vocabulary_and_joins(path: Path, size: int) -> tuple[set[str], list[Pair]]:
    """Train as the WordPiece trainer does: by the BPE trainer with a prefix, whose joins are kept."""
    theirs = tokenizers.Tokenizer(models.BPE(continuing_subword_prefix="##"))
    theirs.normalizer = normalizers.BertNormalizer()
    theirs.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=2,
        special_tokens=SPECIAL_TOKENS,
        continuing_subword_prefix="##",
        show_progress=False,
    )
    theirs.train([str(path)], trainer)
    model = json.loads(theirs.to_str())["model"]
    return set(model["vocab"]), [tuple(join) for join in model["merges"]]


class Replay:
    """Words as entries, with the counts of all adjacent pairs; joins are applied one by one."""

    def __init__(self, counts: pw.Counts) -> None:
        self.words = [[word[0], *("##" + c for c in word[1:])] for word, _ in counts]
        self.counts = [count for _, count in counts]
        self.pairs: Counter[Pair] = Counter()
        self.where: defaultdict[Pair, set[int]] = defaultdict(set)
        for index in range(len(self.words)):
            self._add(index, 1)
        self.heap = [(-count, pair) for pair, count in self.pairs.items()]
        heapq.heapify(self.heap)

    def largest(self) -> int:
        """The count of the most frequent pair."""
        while -self.heap[0][0] != self.pairs[self.heap[0][1]]:
            heapq.heappop(self.heap)
        return -self.heap[0][0]

    def join(self, left: str, right: str) -> int:
        """Join a pair everywhere; returns how often it occurred."""
        count = self.pairs[left, right]
        joined = left + right.removeprefix("##")
        touched: set[Pair] = set()
        for index in list(self.where[left, right]):
            touched |= self._add(index, -1)
            self.words[index] = joined_word(self.words[index], left, right, joined)
            touched |= self._add(index, 1)
        for pair in touched:
            heapq.heappush(self.heap, (-self.pairs[pair], pair))
        return count

    def _add(self, index: int, sign: int) -> set[Pair]:
        word = self.words[index]
        pairs = set(itertools.pairwise(word))
        for pair in itertools.pairwise(word):
            self.pairs[pair] += sign * self.counts[index]
        for pair in pairs:
            (self.where[pair].add if sign > 0 else self.where[pair].discard)(index)
        return pairs


def joined_word(word: list[str], left: str, right: str, joined: str) -> list[str]:
    out: list[str] = []
    at = 0
    while at < len(word):
        if word[at : at + 2] == [left, right]:
            out.append(joined)
            at += 2
        else:
            out.append(word[at])
            at += 1
    return out


@pytest.mark.slow
@pytest.mark.parametrize("size", [2000, 8000])
def test_frequency_learns_the_same_but_for_ties(english_corpus: Path, size: int) -> None:
    vocabulary, their_joins = their_vocabulary_and_joins(english_corpus, size)
    counts = pw.count_files(english_corpus)
    trainer = pw.WordPieceTrainer(size, Merges("frequency"), alphabet_forms="start-and-seen")
    learned = trainer.learn_vocabulary(counts)
    our_joins = [(merge.left, merge.right) for merge in learned.merges]
    replayed = {}
    for name, joins in (("theirs", their_joins), ("ours", our_joins)):
        replay = Replay(counts)
        replayed[name] = []
        for join in joins:
            largest = replay.largest()
            replayed[name].append(replay.join(*join))
            assert replayed[name][-1] == largest, f"{name}: {join} is not a most frequent pair"
    assert replayed["ours"] == [merge.pair_count for merge in learned.merges]
    assert len(vocabulary) == len(learned.entries) == size
    differing = vocabulary ^ set(learned.entries)
    assert len(differing) <= size // 100
    unlike = sum(a != b for a, b in zip(replayed["ours"], replayed["theirs"], strict=True))
    assert unlike <= size // 100
