"""Byte-pair encoding (BPE): learn merges from pair counts, then replay them on each word.

The idea: write every word as a list of symbols, at first its characters. Count the pairs of adjacent
symbols, weighted by how often each word occurs. Replace the most frequent pair by one new symbol and
record that merge. Repeat until the vocabulary is large enough. To encode a word, start from its
characters and apply the merges in the order in which they were learned.

Source: Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units",
section 3.2. `bpe_training` has the options of real trainers, `bpe_model` the options of real encoders, and
`patterns` the alphabet of 256 bytes that GPT-2 uses instead of characters.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

Pair: TypeAlias = tuple[str, str]


def train(words: Mapping[str, int], vocab_size: int) -> tuple[list[str], list[Pair]]:
    """Learn a vocabulary and its merges from the words of a corpus and their counts.

    >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> vocab, merges = train(words, vocab_size=10)
    >>> merges
    [('u', 'g'), ('u', 'n'), ('h', 'ug')]
    >>> vocab
    ['b', 'g', 'h', 'n', 'p', 's', 'u', 'ug', 'un', 'hug']

    Training stops early when every word is one symbol. Each step counts the whole corpus again.
    """
    splits = {word: list(word) for word in words}
    vocab = sorted({character for word in words for character in word})
    merges: list[Pair] = []
    while len(vocab) < vocab_size:
        counts = count_pairs(splits, words)
        if not counts:
            break
        best = max(counts, key=lambda pair: counts[pair])  # of equal counts, the first that occurs
        merges.append(best)
        splits = {word: merge(symbols, best) for word, symbols in splits.items()}
        vocab = list(dict.fromkeys([*vocab, "".join(best)]))
    return vocab, merges


def count_pairs(splits: Mapping[str, Sequence[str]], words: Mapping[str, int]) -> Counter[Pair]:
    """Count the pairs of adjacent symbols in all words.

    >>> count_pairs({"aba": ["a", "b", "a"]}, {"aba": 3})
    Counter({('a', 'b'): 3, ('b', 'a'): 3})
    """
    counts: Counter[Pair] = Counter()
    for word, symbols in splits.items():
        for pair in pairwise(symbols):
            counts[pair] += words[word]
    return counts


def merge(symbols: Sequence[str], pair: Pair, merged: str | None = None) -> list[str]:
    """Replace every occurrence of a pair by one symbol, from left to right: `merged`, or both joined.

    >>> merge(["a", "a", "a", "b"], ("a", "a"))
    ['aa', 'a', 'b']
    """
    joined = "".join(pair) if merged is None else merged
    out: list[str] = []
    at = 0
    while at < len(symbols):
        found = tuple(symbols[at : at + 2]) == pair
        out.append(joined if found else symbols[at])
        at += 2 if found else 1
    return out


def encode(
    word: str,
    merges: Sequence[Pair],
    *,
    vocab: Sequence[str] | None = None,
    unk_token: str = "<unk>",
    dropout: float = 0.0,
    rng: random.Random | None = None,
) -> list[str]:
    """Split a word into tokens: apply the pair of the lowest merge rank until no pair has a rank.

    >>> vocab, merges = train({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}, 10)
    >>> encode("bug", merges), encode("hugs", merges)
    (['b', 'ug'], ['hug', 's'])

    With `vocab`, a symbol outside the vocabulary becomes `unk_token`.

    >>> encode("mug", merges, vocab=vocab)
    ['<unk>', 'ug']

    With `dropout`, each step ignores each possible merge with that probability, so that a model sees
    several segmentations of a word (BPE-dropout, Provilkov et al. 2020).

    >>> encode("hugs", merges, dropout=0.5, rng=random.Random(10))
    ['h', 'ug', 's']
    """
    symbols, ranks = list(word), {pair: rank for rank, pair in enumerate(merges)}
    while pair := best_pair(symbols, ranks, dropout, rng or random.Random()):
        at = pair[1]
        symbols[at : at + 2] = ["".join(symbols[at : at + 2])]
    return [symbol if vocab is None or symbol in vocab else unk_token for symbol in symbols]


def best_pair(
    symbols: Sequence[str], ranks: Mapping[Pair, int], dropout: float, rng: random.Random
) -> tuple[int, int] | None:
    """Return the lowest merge rank among the adjacent pairs and its leftmost position.

    >>> best_pair(["h", "u", "g", "u", "g"], {("u", "g"): 0, ("h", "u"): 1}, 0.0, random.Random())
    (0, 1)
    """
    ranked = [(ranks[pair], at) for at, pair in enumerate(pairwise(symbols)) if pair in ranks]
    kept = [found for found in ranked if not (dropout and rng.random() < dropout)]
    return min(kept, default=None)


def decode(tokens: Sequence[str]) -> str:
    """Join the tokens of a word; an unknown token is lost.

    >>> decode(["b", "ug"])
    'bug'
    """
    return "".join(tokens)
