"""Byte-pair encoding: word counts in, merges out; a word and merges in, pieces out.

Words are sequences of entries, at first one for each character. Training joins the most frequent pair
of neighbours everywhere, again and again (Sennrich et al. 2016, section 3.2); encoding joins the pair
that was learned first, again and again, and with dropout leaves out some joins at random (Provilkov
et al. 2020). The byte-level form is the same over the 256 characters that stand for bytes.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

from piecework.errors import TrainingError

Pair: TypeAlias = tuple[str, str]
Split: TypeAlias = tuple[list[str], int]


@dataclass(frozen=True)
class Settings:
    """Say what to learn; `ties` is "lowest-ids" or "greatest-strings"."""

    vocab_size: int = 30_000
    min_frequency: int = 2
    limit_alphabet: int | None = None
    initial_alphabet: Sequence[str] = ()
    special_tokens: Sequence[str] = ()
    continuing_subword_prefix: str = ""
    end_of_word_suffix: str = ""
    max_token_length: int | None = None
    ties: str = "lowest-ids"


@dataclass
class Learned:
    """Entries in id order, and the merges in order with how often each pair occurred."""

    vocab: list[str]
    merges: list[Pair] = field(default_factory=list)
    pair_counts: list[int] = field(default_factory=list)


def learn(words: Sequence[tuple[str, int]], how: Settings) -> Learned:
    """Join the most frequent pair until the vocabulary is full or no pair is frequent enough.

    >>> words = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]
    >>> learned = learn(words, Settings(vocab_size=10))
    >>> learned.merges, learned.pair_counts
    ([('u', 'g'), ('u', 'n'), ('h', 'ug')], [20, 16, 15])

    Raises `TrainingError` when special tokens and alphabet alone are more than `vocab_size`.
    """
    kept = alphabet(words, how)
    splits = [(split(word, kept, how), count) for word, count in words]
    marked = sorted({entry for entries, _ in splits for entry in entries})
    learned = Learned(list(dict.fromkeys([*how.special_tokens, *sorted(kept), *marked])))
    if len(learned.vocab) > how.vocab_size:
        raise TrainingError("vocab_size", str(how.vocab_size), f"at least {len(learned.vocab)}")
    while len(learned.vocab) < how.vocab_size:
        pairs = count_pairs(splits, how)
        best = max(pairs, key=preference(pairs, learned.vocab, how), default=None)
        if best is None or pairs[best] < max(1, how.min_frequency):
            break
        learned.merges.append(best)
        learned.pair_counts.append(pairs[best])
        splits = [(join(entries, best, how), count) for entries, count in splits]
        learned.vocab = list(dict.fromkeys([*learned.vocab, joined(best, how)]))
    return learned


def alphabet(words: Sequence[tuple[str, int]], how: Settings) -> set[str]:
    """Return the characters to keep: those asked for, then the most frequent, then the lower ones."""
    counts: Counter[str] = Counter()
    for word, count in words:
        for character in word:
            counts[character] += count
    wanted = set(how.initial_alphabet)
    ranked = sorted(wanted | set(counts), key=lambda c: (c not in wanted, -counts[c], c))
    return set(ranked[: how.limit_alphabet])


def split(word: str, kept: set[str], how: Settings) -> list[str]:
    """Make each character that is kept an entry, with prefix and suffix where they belong.

    >>> split("hug", set("hug"), Settings(end_of_word_suffix="</w>"))
    ['h', 'u', 'g</w>']
    """
    last = len(word) - 1
    return [
        ("" if at == 0 else how.continuing_subword_prefix)
        + character
        + (how.end_of_word_suffix if at == last else "")
        for at, character in enumerate(word)
        if character in kept
    ]


def count_pairs(splits: Sequence[Split], how: Settings) -> Counter[Pair]:
    """Count neighbours, those that overlap included, unless their join would be too long."""
    counts: Counter[Pair] = Counter()
    for entries, count in splits:
        for pair in pairwise(entries):
            if how.max_token_length is None or length(pair, how) <= how.max_token_length:
                counts[pair] += count
    return counts


def length(pair: Pair, how: Settings) -> int:
    """Count the characters of a pair without prefixes and suffix."""
    bare = [entry.removeprefix(how.continuing_subword_prefix) for entry in pair]
    return len("".join(bare).removesuffix(how.end_of_word_suffix))


def preference(
    pairs: Mapping[Pair, int], vocab: Sequence[str], how: Settings
) -> Callable[[Pair], tuple[Any, ...]]:
    """Return what to compare pairs by: their count, then what `ties` says."""
    if how.ties == "greatest-strings":
        return lambda pair: (pairs[pair], pair)
    ids = {entry: number for number, entry in enumerate(vocab)}
    return lambda pair: (pairs[pair], -ids[pair[0]], -ids[pair[1]])


def joined(pair: Pair, how: Settings) -> str:
    """Return left and right as one entry."""
    return pair[0] + pair[1].removeprefix(how.continuing_subword_prefix)


def join(entries: Sequence[str], pair: Pair, how: Settings) -> list[str]:
    """Replace a pair everywhere, from left to right.

    >>> join(["a", "a", "a"], ("a", "a"), Settings())
    ['aa', 'a']
    """
    out: list[str] = []
    for entry in entries:
        # What was joined already is not joined again, even if it is spelled like the left part.
        if out and (out[-1], entry) == pair:
            out[-1:] = [joined(pair, how), ""]
        else:
            out.append(entry)
    return [entry for entry in out if entry]


def encode(
    entries: Sequence[str],
    merges: Sequence[Pair],
    how: Settings | None = None,
    *,
    dropout: float = 0.0,
    rng: random.Random | None = None,
) -> list[str]:
    """Join the pair of lowest rank, the leftmost first, until no pair has a rank.

    >>> encode(list("hugs"), [("u", "g"), ("h", "ug")])
    ['hug', 's']

    With `dropout` each possible join is left out of each step with that probability.
    """
    how, rng = how or Settings(), rng or random.Random()
    ranks = {pair: rank for rank, pair in reversed(list(enumerate(merges)))}
    pieces = list(entries)
    while True:
        possible = [
            (ranks[pair], at)
            for at, pair in enumerate(pairwise(pieces))
            if pair in ranks and not (dropout and rng.random() < dropout)
        ]
        if not possible:
            return pieces
        _, at = min(possible)
        pieces[at : at + 2] = [joined((pieces[at], pieces[at + 1]), how)]
