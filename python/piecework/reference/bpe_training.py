"""BPE training with the options of real trainers: word counts in, vocabulary and merges out.

The learner is the one of `bpe`. The options add special tokens, a limited alphabet, a prefix inside
words, a suffix at their end, limits on count and length, and a rule for equal counts:

    lowest-ids        the lower left id, then the lower right id, as in `tokenizers`
    greatest-strings  the greater left symbol, then the greater right symbol, by code points
    first-seen        the pair that occurs first in the corpus

`alphabet_order` arranges the entries of one character:

    sorted            by code points, those with prefix or suffix after the others
    first-seen        by first occurrence in the corpus, then the others
    given             characters of `initial_alphabet` in their order, then the others
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

from piecework.errors import TrainingError
from piecework.reference import bpe
from piecework.reference.boundaries import symbols
from piecework.reference.words import count_parts, in_alphabet_order, kept_characters

Pair: TypeAlias = tuple[str, str]
Split: TypeAlias = tuple[list[str], int]


@dataclass(frozen=True)
class Settings:
    """What to learn; lengths are in characters without prefix and suffix."""

    vocab_size: int = 30_000
    min_frequency: int = 2
    limit_alphabet: int | None = None
    initial_alphabet: Sequence[str] = ()
    special_tokens: Sequence[str] = ()
    continuing_subword_prefix: str = ""
    end_of_word_suffix: str = ""
    max_token_length: int | None = None
    ties: str = "lowest-ids"
    alphabet_order: str = "sorted"


@dataclass
class LearnedBPE:
    """Tokens in id order, and the merges in order with the count of each pair."""

    vocab: list[str]
    merges: list[Pair] = field(default_factory=list)
    pair_counts: list[int] = field(default_factory=list)


def learn(words: Sequence[tuple[str, int]], settings: Settings) -> LearnedBPE:
    """Merge the most frequent pair until the vocabulary is full or no pair is frequent enough.

    >>> words = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]
    >>> learned = learn(words, Settings(vocab_size=10))
    >>> learned.merges, learned.pair_counts
    ([('u', 'g'), ('u', 'n'), ('h', 'ug')], [20, 16, 15])

    `words` are distinct and in order of first occurrence. Raises `TrainingError` when special tokens and
    alphabet alone are more than `vocab_size`.
    """
    kept = alphabet(words, settings)
    splits = [(split(word, kept, settings), count) for word, count in words]
    learned = LearnedBPE(first_entries(kept, splits, settings))
    learn_merges(learned, splits, settings)
    return learned


def learn_merges(
    learned: LearnedBPE,
    splits: Sequence[Split],
    settings: Settings,
    allowed: Callable[[Pair], bool] = lambda pair: True,
) -> None:
    """Append the merges of allowed pairs, the most frequent first, until the vocabulary is full.

    >>> learned = LearnedBPE(["a", "b"])
    >>> learn_merges(learned, [(["a", "b", "a"], 2)], Settings(vocab_size=3))
    >>> learned.vocab
    ['a', 'b', 'ab']
    """
    while len(learned.vocab) < settings.vocab_size:
        counts = count_pairs(splits, settings)
        pairs = {pair: count for pair, count in counts.items() if allowed(pair)}
        best = best_pair(pairs, pairs, learned.vocab, settings)
        if best is None:
            break
        learned.merges.append(best)
        learned.pair_counts.append(pairs[best])
        splits = [(merge(entries, best, settings), count) for entries, count in splits]
        learned.vocab = list(dict.fromkeys([*learned.vocab, merged(best, settings)]))


def best_pair(
    counted: Mapping[Pair, int], pairs: Mapping[Pair, int], vocab: Sequence[str], settings: Settings
) -> Pair | None:
    """Return the best of the pairs that are frequent where they are counted, of the `pairs` of all sources.

    >>> best_pair(Counter({("a", "b"): 3}), {("b", "a"): 9, ("a", "b"): 3}, ["a", "b"], Settings())
    ('a', 'b')
    """
    best = max(pairs, key=preference(counted, vocab, settings), default=None)
    return best if best is not None and counted[best] >= max(1, settings.min_frequency) else None


def first_entries(kept: set[str], splits: Sequence[Split], settings: Settings) -> list[str]:
    """Return the special tokens and the alphabet; raise `TrainingError` if they are more than `vocab_size`.

    >>> first_entries(set("ab"), [(["b", "a"], 2)], Settings(special_tokens=("<s>",)))
    ['<s>', 'a', 'b']
    """
    symbols = sorted({symbol for entries, _ in splits for symbol in entries})
    first = in_order([*sorted(kept), *symbols], splits, settings)
    entries = list(dict.fromkeys([*settings.special_tokens, *first]))
    if len(entries) > settings.vocab_size:
        problem = f"must be at least {len(entries)}, not {settings.vocab_size}"
        raise TrainingError("vocab_size", problem)
    return entries


def in_order(entries: Sequence[str], splits: Sequence[Split], settings: Settings) -> list[str]:
    """Arrange the entries of one character by `alphabet_order`.

    >>> in_order(["a", "b"], [(["b", "a"], 2)], Settings(alphabet_order="first-seen"))
    ['b', 'a']
    """
    seen = (symbol for symbols, _ in splits for symbol in symbols)
    return in_alphabet_order(entries, settings.alphabet_order, seen, settings.initial_alphabet)


def alphabet(words: Sequence[tuple[str, int]], settings: Settings) -> set[str]:
    """Return the characters to keep: `initial_alphabet`, then the most frequent ones up to the limit.

    >>> sorted(alphabet([("aab", 2), ("c", 1)], Settings(limit_alphabet=2)))
    ['a', 'b']
    """
    return kept_characters(words, settings.initial_alphabet, settings.limit_alphabet)


def split(word: str, kept: set[str], settings: Settings) -> list[str]:
    """Return the characters of a word that are kept, with prefix and suffix.

    >>> split("hug", set("hug"), Settings(end_of_word_suffix="</w>"))
    ['h', 'u', 'g</w>']
    """
    marked = symbols(word, settings.continuing_subword_prefix, settings.end_of_word_suffix)
    return [symbol for symbol, c in zip(marked, word, strict=True) if c in kept]


def count_pairs(splits: Sequence[Split], settings: Settings) -> Counter[Pair]:
    """Count adjacent pairs, overlapping ones too; a pair that is too long does not count.

    >>> count_pairs([(["a", "a", "a"], 2)], Settings())
    Counter({('a', 'a'): 4})
    """
    longest = settings.max_token_length

    def short_pairs(entries: Sequence[str]) -> list[Pair]:
        pairs = pairwise(entries)
        return [pair for pair in pairs if longest is None or length(pair, settings) <= longest]

    return count_parts(splits, short_pairs)


def length(pair: Pair, settings: Settings) -> int:
    """Count the characters of a pair without prefixes and suffix.

    >>> length(("u", "##g"), Settings(continuing_subword_prefix="##"))
    2
    """
    bare = [symbol.removeprefix(settings.continuing_subword_prefix) for symbol in pair]
    return len("".join(bare).removesuffix(settings.end_of_word_suffix))


def preference(
    pairs: Mapping[Pair, int], vocab: Sequence[str], settings: Settings
) -> Callable[[Pair], tuple[Any, ...]]:
    """Return the key by which pairs are compared: their count, then `ties`.

    >>> pairs = {("a", "b"): 3, ("b", "a"): 3}
    >>> max(pairs, key=preference(pairs, ["a", "b"], Settings()))
    ('a', 'b')
    """
    if settings.ties == "first-seen":
        return lambda pair: (pairs[pair],)  # max keeps the first of equals
    if settings.ties == "greatest-strings":
        return lambda pair: (pairs[pair], pair)
    ids = {symbol: id for id, symbol in enumerate(vocab)}
    return lambda pair: (pairs[pair], -ids[pair[0]], -ids[pair[1]])


def merged(pair: Pair, settings: Settings) -> str:
    """Return the symbol that a pair becomes.

    >>> merged(("u", "##g"), Settings(continuing_subword_prefix="##"))
    'ug'
    """
    return pair[0] + pair[1].removeprefix(settings.continuing_subword_prefix)


def merge(entries: Sequence[str], pair: Pair, settings: Settings) -> list[str]:
    """Replace every occurrence of a pair, from left to right.

    >>> merge(["a", "a", "a"], ("a", "a"), Settings())
    ['aa', 'a']
    """
    return bpe.merge(entries, pair, merged(pair, settings))
