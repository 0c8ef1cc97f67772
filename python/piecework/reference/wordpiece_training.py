"""WordPiece training by joining pairs: word counts in, vocabulary and joins out.

Words are sequences of entries, at first one for each character. The best pair is joined everywhere,
again and again, until the vocabulary is full; `score` says what best means:

    pmi         f(ab) / (f(a) f(b)), exactly: the formula published for WordPiece
    likelihood  the gain in unigram log-likelihood of the corpus, as in Schuster & Nakajima 2012
    frequency   f(ab), with the alphabet of the `tokenizers` trainer

`ties` decides between pairs of equal score:

    smallest-strings  the smaller left entry, then the smaller right entry, by code points
    lowest-ids        the lower left id, then the lower right id, as in `tokenizers`
    first-seen        the pair that occurs first in the corpus

Everything is counted again from scratch at every step, so a step costs the whole corpus.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from piecework.errors import TrainingError

Pair: TypeAlias = tuple[str, str]
Score: TypeAlias = Fraction | float | int
Split: TypeAlias = tuple[list[str], int]

BERT_SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@dataclass(frozen=True)
class Settings:
    """Say what to learn; lengths are in characters without the prefix."""

    vocab_size: int = 30_000
    score: Literal["pmi", "likelihood", "frequency", "top-down"] = "likelihood"
    min_frequency: int = 2
    limit_alphabet: int | None = None
    initial_alphabet: Sequence[str] = ()
    special_tokens: Sequence[str] = BERT_SPECIAL_TOKENS
    continuing_subword_prefix: str = "##"
    max_token_length: int | None = None
    ties: Literal["smallest-strings", "lowest-ids", "first-seen"] | None = None


DEFAULT_TIES = {"likelihood": "smallest-strings", "pmi": "first-seen", "frequency": "lowest-ids"}


class Join(NamedTuple):
    """One step of the learner: the pair, what it became, how often it stood there, and its score."""

    left: str
    right: str
    joined: str
    pair_count: int
    score: Score


@dataclass
class Learned:
    """Entries in id order, the joins that made them, and why there are too few, if so."""

    vocab: list[str]
    joins: list[Join] = field(default_factory=list)
    stopped_early: str | None = None


def learn(words: Sequence[tuple[str, int]], settings: Settings) -> Learned:
    """Join the best pair until the vocabulary is full or no pair is worth joining.

    >>> words = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]
    >>> settings = Settings(vocab_size=9, score="pmi", special_tokens=())
    >>> for join in learn(words, settings).joins:
    ...     print(join.left, join.right, join.pair_count, join.score)
    ##g ##s 5 1/20
    h ##u 15 1/36

    `words` are distinct and in the order of their first occurrence. Raises `TrainingError` when the
    special tokens and the alphabet alone are more than `vocab_size`.
    """
    learned = Learned(initial_vocabulary(words, settings))
    splits = initial_splits(words, settings)
    while len(learned.vocab) < settings.vocab_size:
        join = best_join(splits, learned.vocab, settings)
        if join is None:
            learned.stopped_early = f"no pair is worth joining after {len(learned.joins)} joins"
            break
        learned.joins.append(join)
        splits = [(apply_join(entries, join), count) for entries, count in splits]
        if join.joined not in learned.vocab:
            learned.vocab.append(join.joined)
    return learned


# ---- alphabet


def initial_vocabulary(words: Sequence[tuple[str, int]], settings: Settings) -> list[str]:
    """Return the special tokens, then the alphabet, each spelling once.

    >>> initial_vocabulary([("ab", 1), ("b", 1)], Settings(special_tokens=["[UNK]"]))
    ['[UNK]', '##b', 'a', 'b']
    """
    specials = list(dict.fromkeys(settings.special_tokens))
    vocab = list(dict.fromkeys([*specials, *alphabet_entries(words, settings)]))
    if len(vocab) > settings.vocab_size:
        raise TrainingError(
            "vocab_size",
            str(settings.vocab_size),
            f"at least {len(vocab)} ({len(specials)} special tokens and an alphabet of "
            f"{len(vocab) - len(specials)})",
        )
    return vocab


def alphabet_entries(words: Sequence[tuple[str, int]], settings: Settings) -> list[str]:
    """Return the one-character entries in order: plain at the start of words, prefixed inside."""
    prefix = settings.continuing_subword_prefix
    kept = alphabet(words, settings)
    starting = {word[0] for word, _ in words} & kept
    inside = {character for word, _ in words for character in word[1:]} & kept
    if settings.score == "frequency":
        return sorted(kept) + sorted(prefix + character for character in inside)
    given = kept.intersection(settings.initial_alphabet)
    return sorted({*starting, *given} | {prefix + character for character in inside | given})


def alphabet(words: Sequence[tuple[str, int]], settings: Settings) -> set[str]:
    """Return the characters to keep: those given, then the most frequent, up to the limit."""
    given = set(settings.initial_alphabet)
    totals: Counter[str] = Counter()
    for word, count in words:
        for character in word:
            totals[character] += count
    ranked = sorted(given | set(totals), key=lambda c: (c not in given, -totals[c], c))
    return set(ranked[: settings.limit_alphabet])


def initial_splits(words: Sequence[tuple[str, int]], settings: Settings) -> list[Split]:
    """Split each word into one-character entries.

    >>> initial_splits([("hug", 10)], Settings())
    [(['h', '##u', '##g'], 10)]

    A word with a character outside the alphabet is left out, since encoding makes it unknown anyway;
    `frequency` leaves out only the character, as the `tokenizers` trainer does.
    """
    kept = alphabet(words, settings)
    prefix = settings.continuing_subword_prefix
    splits: list[Split] = []
    for word, count in words:
        entries = [c if i == 0 else prefix + c for i, c in enumerate(word) if c in kept]
        if len(entries) == len(word) or settings.score == "frequency":
            splits.append((entries, count))
    return splits


# ---- pairs


def best_join(splits: Sequence[Split], vocab: Sequence[str], settings: Settings) -> Join | None:
    """Return the join of the pair with the best score, None when there is none to make.

    `ties` decides among equal scores.
    """
    joins = candidate_joins(splits, settings)
    ties = settings.ties or DEFAULT_TIES[settings.score]
    if ties == "smallest-strings":
        joins.sort(key=lambda join: (join.left, join.right))
    elif ties == "lowest-ids":
        ids = {entry: index for index, entry in enumerate(vocab)}
        joins.sort(key=lambda join: (ids[join.left], ids[join.right]))
    best = max(joins, key=lambda join: join.score, default=None)  # max keeps the first of equals
    if best is None or (settings.score == "likelihood" and best.score <= 0):
        return None
    return best


def candidate_joins(splits: Sequence[Split], settings: Settings) -> list[Join]:
    """Score every pair that is frequent and short enough, in the order of first occurrence."""
    prefix = settings.continuing_subword_prefix
    pairs = pair_counts(splits, overlapping=settings.score != "likelihood")
    entries = entry_counts(splits)
    score = _scorer(settings.score, entries)
    joins = []
    for (left, right), count in pairs.items():
        joined = left + right[len(prefix) :]
        limit = settings.max_token_length
        if limit is not None and length_of(joined, prefix) > limit:
            continue
        if count >= max(settings.min_frequency, 1):
            joins.append(Join(left, right, joined, count, score((left, right), joined, count)))
    return joins


def length_of(entry: str, prefix: str) -> int:
    """Count the characters of an entry without its prefix."""
    return len(entry) - len(prefix) if entry.startswith(prefix) else len(entry)


def entry_counts(splits: Sequence[Split]) -> Counter[str]:
    """Count the occurrences of each entry in the corpus as it is split now."""
    counts: Counter[str] = Counter()
    for entries, count in splits:
        for entry in entries:
            counts[entry] += count
    return counts


def pair_counts(splits: Sequence[Split], *, overlapping: bool) -> Counter[Pair]:
    """Count adjacent pairs, in the order in which they first occur.

    >>> dict(pair_counts([(["a", "a", "a"], 1)], overlapping=True))
    {('a', 'a'): 2}
    >>> dict(pair_counts([(["a", "a", "a"], 1)], overlapping=False))
    {('a', 'a'): 1}
    """
    counts: Counter[Pair] = Counter()
    for entries, count in splits:
        for pair in _pairs_of(entries, overlapping):
            counts[pair] += count
    return counts


def _pairs_of(entries: Sequence[str], overlapping: bool) -> Iterator[Pair]:
    previous_end: dict[Pair, int] = {}
    for start, pair in enumerate(pairwise(entries)):
        if overlapping or start >= previous_end.get(pair, 0):
            previous_end[pair] = start + 2
            yield pair


def apply_join(entries: Sequence[str], join: Join) -> list[str]:
    """Replace the pair from left to right.

    >>> apply_join(["a", "a", "a"], Join("a", "a", "aa", 2, 1))
    ['aa', 'a']
    """
    joined: list[str] = []
    index = 0
    while index < len(entries):
        found = tuple(entries[index : index + 2]) == (join.left, join.right)
        joined.append(join.joined if found else entries[index])
        index += 2 if found else 1
    return joined


# ---- scores


def _scorer(score: str, entries: Counter[str]) -> Callable[[Pair, str, int], Score]:
    tokens = sum(entries.values())
    if score == "pmi":
        return lambda pair, _, count: pmi(count, entries[pair[0]], entries[pair[1]])
    if score == "likelihood":
        return lambda pair, joined, count: likelihood_gain(pair, joined, count, entries, tokens)
    return lambda _pair, _joined, count: count


def pmi(pair_count: int, left_count: int, right_count: int) -> Fraction:
    """Return f(ab) / (f(a) f(b)).

    >>> pmi(95, 100, 5000) > pmi(4000, 8000, 6000)
    True
    """
    return Fraction(pair_count, left_count * right_count)


def likelihood_gain(
    pair: Pair, joined: str, count: int, entries: Counter[str], tokens: int
) -> float:
    """Return how much the corpus log-likelihood of the unigram model grows by a join.

    With c the counts, N their sum and g(x) = x ln x the log-likelihood is (sum of g(c)) - g(N);
    only the terms that change are added, in this order, so that floats agree to the last bit.
    """
    left, right = pair
    if left == right:
        changed = _growth(entries[left], -2 * count)
    else:
        changed = _growth(entries[left], -count) + _growth(entries[right], -count)
    return (changed + _growth(entries[joined], count)) + (g(tokens) - g(tokens - count))


def _growth(count: int, change: int) -> float:
    return g(count + change) - g(count)


def g(x: int) -> float:
    """Return x ln x, and 0 for 0."""
    return x * math.log(x) if x else 0.0
