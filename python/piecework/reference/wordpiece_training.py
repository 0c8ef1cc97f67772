"""WordPiece training by merging pairs, with every score: word counts in, vocabulary and merges out.

The loop is the one of `wordpiece.train`: merge the pair with the best score until the vocabulary is
full. `score` chooses the score of a pair (`SCORES`).

`ties` decides between pairs of equal score:

    smallest-strings  the smaller left symbol, then the smaller right symbol, by code points
    lowest-ids        the lower left id, then the lower right id, as in `tokenizers`
    first-seen        the pair that occurs first in the corpus

`alphabet_order` arranges the entries of one character, as in `bpe_training`, with one more order:

    word-starts-first  the entries at the start of words, then those inside, each part by code points

`alphabet_forms` says which entries of one character there are:

    possible        every character at the start of words, and inside unless the pipeline isolates it
    start-and-seen  every character at the start of words, and inside where it occurs, as in `tokenizers`
    seen            every character where it occurs; characters of `initial_alphabet` in both positions

Each step counts the whole corpus again.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from piecework.errors import TrainingError
from piecework.reference import bpe
from piecework.reference.boundaries import begins, symbols
from piecework.reference.words import count_parts, in_alphabet_order, kept_characters

Pair: TypeAlias = tuple[str, str]
Score: TypeAlias = Fraction | float | int
Split: TypeAlias = tuple[list[str], int]
Scorer: TypeAlias = Callable[[Pair, str, int], Score]
"""Takes a pair, the entry that it becomes and the count of the pair."""

BERT_SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@dataclass(frozen=True)
class Settings:
    """What to learn; lengths are in characters without the prefix."""

    vocab_size: int = 30_000
    min_frequency: int = 2
    limit_alphabet: int | None = None
    initial_alphabet: Sequence[str] = ()
    special_tokens: Sequence[str] = BERT_SPECIAL_TOKENS
    continuing_subword_prefix: str = "##"
    max_token_length: int | None = None
    alphabet_order: Literal["sorted", "first-seen", "given", "word-starts-first"] = "sorted"
    alphabet_forms: Literal["possible", "start-and-seen", "seen"] = "possible"
    isolated_characters: str = ""

    @property
    def has_tokenizers_alphabet(self) -> bool:
        """Whether the order of the alphabet, and the characters outside it, are as in `tokenizers`."""
        return False


@dataclass(frozen=True)
class MergeSettings(Settings):
    """What to learn by merging pairs."""

    score: str = "likelihood"
    ties: Literal["smallest-strings", "lowest-ids", "first-seen"] | None = None

    @property
    def has_tokenizers_alphabet(self) -> bool:
        """Whether the order of the alphabet, and the characters outside it, are as in `tokenizers`."""
        return self.score == "frequency"


class Merge(NamedTuple):
    """One step of training: the pair, the token it became, its count and its score."""

    left: str
    right: str
    merged: str
    pair_count: int
    score: Score


@dataclass
class LearnedWordPiece:
    """Tokens in id order, the merges, and the reason if training stopped early."""

    vocab: list[str]
    merges: list[Merge] = field(default_factory=list)
    stopped_early: str | None = None


def learn(words: Sequence[tuple[str, int]], settings: MergeSettings) -> LearnedWordPiece:
    """Merge the best pair until the vocabulary is full or no pair improves it.

    >>> words = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]
    >>> settings = MergeSettings(vocab_size=9, score="pmi", special_tokens=(), alphabet_forms="seen")
    >>> for merge in learn(words, settings).merges:
    ...     print(merge.left, merge.right, merge.pair_count, merge.score)
    ##g ##s 5 1/20
    h ##u 15 1/36

    `words` are distinct and in order of first occurrence. Raises `TrainingError` when special tokens and
    alphabet alone are more than `vocab_size`.
    """
    learned = LearnedWordPiece(initial_vocabulary(words, settings))
    splits = initial_splits(words, settings)
    while len(learned.vocab) < settings.vocab_size:
        merge = best_merge(splits, learned.vocab, settings)
        if merge is None:
            learned.stopped_early = (
                f"no pair improves the vocabulary after {len(learned.merges)} merges"
            )
            break
        learned.merges.append(merge)
        splits = [(apply_merge(entries, merge), count) for entries, count in splits]
        if merge.merged not in learned.vocab:
            learned.vocab.append(merge.merged)
    return learned


# ---- alphabet


def initial_vocabulary(words: Sequence[tuple[str, int]], settings: Settings) -> list[str]:
    """Return the special tokens, then the alphabet, without duplicates.

    >>> initial_vocabulary([("ab", 1), ("b", 1)], Settings(special_tokens=["[UNK]"]))
    ['[UNK]', '##a', '##b', 'a', 'b']
    """
    specials = list(dict.fromkeys(settings.special_tokens))
    vocab = list(dict.fromkeys([*specials, *alphabet_entries(words, settings)]))
    if len(vocab) > settings.vocab_size:
        raise TrainingError(
            "vocab_size",
            f"must be at least {len(vocab)} ({len(specials)} special tokens and an alphabet "
            f"of {len(vocab) - len(specials)}), not {settings.vocab_size}",
        )
    return vocab


def alphabet_entries(words: Sequence[tuple[str, int]], settings: Settings) -> list[str]:
    """Return the tokens of one character in order: plain at the start of words, prefixed inside.

    >>> alphabet_entries([("hug", 1), (".", 1)], Settings(isolated_characters="."))
    ['##g', '##h', '##u', '.', 'g', 'h', 'u']
    >>> alphabet_entries([("hug", 1)], Settings(alphabet_forms="start-and-seen"))
    ['##g', '##u', 'g', 'h', 'u']
    >>> alphabet_entries([("hug", 1)], Settings(alphabet_forms="seen"))
    ['##g', '##u', 'h']
    >>> settings = Settings(alphabet_forms="seen", alphabet_order="first-seen")
    >>> alphabet_entries([("hug", 1)], settings)
    ['h', '##u', '##g']
    >>> settings = Settings(alphabet_forms="seen", alphabet_order="word-starts-first")
    >>> alphabet_entries([("hug", 1)], settings)
    ['h', '##g', '##u']
    """
    prefix = settings.continuing_subword_prefix
    starting, inside = character_positions(words, settings)
    others = {prefix + character for character in inside}
    entries = sorted(starting | others)
    if settings.has_tokenizers_alphabet or settings.alphabet_order == "word-starts-first":
        entries = sorted(starting) + sorted(others)
    marked = (symbol for word, _ in words for symbol in symbols(word, prefix))
    return in_alphabet_order(entries, settings.alphabet_order, marked, settings.initial_alphabet)


def character_positions(
    words: Sequence[tuple[str, int]], settings: Settings
) -> tuple[set[str], set[str]]:
    """Return the characters with an entry at the start of words, and the characters with one inside.

    >>> starting, inside = character_positions([("hug", 1)], Settings())
    >>> sorted(starting), sorted(inside)
    (['g', 'h', 'u'], ['g', 'h', 'u'])
    """
    kept = alphabet(words, settings)
    seen_inside = {character for word, _ in words for character in word[begins(word) :]} & kept
    if settings.alphabet_forms == "possible":
        return kept, (kept - set(settings.isolated_characters)) | seen_inside
    if settings.alphabet_forms == "start-and-seen":
        return kept, seen_inside
    given = kept.intersection(settings.initial_alphabet)
    return ({word[0] for word, _ in words if begins(word)} & kept) | given, seen_inside | given


def isolated_characters(
    words: Sequence[tuple[str, int]],
    split: Callable[[str], Sequence[str]],
    more: Iterable[str] = (),
) -> str:
    """Return the characters in the words and in `more` that a pipeline makes separate words.

    >>> isolated_characters([("hug", 1), (".", 1)], str.split)
    ''
    >>> isolated_characters([("hug", 1), (".", 1)], lambda text: text.replace(".", " . ").split())
    '.'

    `split` returns the words of a text. No longer word of the corpus has such a character, and in the texts
    `ccc`, `aca`, `AcA` and `0c0` it is a word, and no longer word has it.
    """
    longer = {character for word, _ in words if len(word) > 1 for character in word}
    alone = {word for word, _ in words if len(word) == 1}.union(more) - longer

    def is_isolated(c: str) -> bool:
        found = [word for n in (c, *"aA0") for word in split(n + c + n) if c in word]
        return bool(found) and all(len(word) == 1 for word in found)

    return "".join(sorted(filter(is_isolated, alone)))


def alphabet(words: Sequence[tuple[str, int]], settings: Settings) -> set[str]:
    """Return the characters to keep: `initial_alphabet`, then the most frequent ones up to the limit.

    >>> sorted(alphabet([("aab", 2), ("c", 1)], Settings(limit_alphabet=2)))
    ['a', 'b']
    """
    return kept_characters(words, settings.initial_alphabet, settings.limit_alphabet)


def initial_splits(words: Sequence[tuple[str, int]], settings: Settings) -> list[Split]:
    """Split each word into its characters.

    >>> initial_splits([("hug", 10)], Settings())
    [(['h', '##u', '##g'], 10)]

    A word with a character outside the alphabet does not count, because encoding makes it unknown.
    With `frequency` only the character is dropped, as in `tokenizers`.
    """
    kept = alphabet(words, settings)
    prefix = settings.continuing_subword_prefix
    splits: list[Split] = []
    for word, count in words:
        marked = zip(symbols(word, prefix), word, strict=True)
        entries = [symbol for symbol, character in marked if character in kept]
        if len(entries) == len(word) or settings.has_tokenizers_alphabet:
            splits.append((entries, count))
    return splits


# ---- pairs


def best_merge(
    splits: Sequence[Split], vocab: Sequence[str], settings: MergeSettings
) -> Merge | None:
    """Return the merge with the best score, None if no pair remains.

    >>> best_merge([(["a", "##b"], 2)], ["a", "##b"], MergeSettings(score="frequency")).merged
    'ab'

    `ties` decides between equal scores.
    """
    best = next(iter(ranked_merges(splits, vocab, settings)), None)
    is_gain = best is not None and best.score > SCORES[settings.score].above
    return best if is_gain else None


def ranked_merges(
    splits: Sequence[Split], vocab: Sequence[str], settings: MergeSettings
) -> list[Merge]:
    """Return the merges by decreasing score; `ties` decides between equal scores.

    >>> splits = [(["a", "##b", "##c"], 2)]
    >>> [merge.merged for merge in ranked_merges(splits, ["a", "##b", "##c"], MergeSettings())]
    ['##bc', 'ab']
    """
    merges = candidate_merges(splits, settings)
    ties = settings.ties or SCORES[settings.score].ties
    if ties == "smallest-strings":
        merges.sort(key=lambda merge: (merge.left, merge.right))
    elif ties == "lowest-ids":
        ids = {entry: index for index, entry in enumerate(vocab)}
        merges.sort(key=lambda merge: (ids[merge.left], ids[merge.right]))
    return sorted(merges, key=lambda merge: merge.score, reverse=True)  # keeps the order of equals


def candidate_merges(splits: Sequence[Split], settings: MergeSettings) -> list[Merge]:
    """Score every pair that is frequent and short enough, in order of first occurrence.

    >>> [merge.merged for merge in candidate_merges([(["a", "##b", "##c"], 2)], MergeSettings())]
    ['ab', '##bc']
    """
    prefix = settings.continuing_subword_prefix
    pairs = pair_counts(splits, overlapping=SCORES[settings.score].overlapping)
    score = SCORES[settings.score].scorer(entry_counts(splits))
    merges = []
    for (left, right), count in pairs.items():
        merged = left + right[len(prefix) :]
        limit = settings.max_token_length
        if limit is not None and length_of(merged, prefix) > limit:
            continue
        if count >= max(settings.min_frequency, 1):
            merges.append(Merge(left, right, merged, count, score((left, right), merged, count)))
    return merges


def length_of(entry: str, prefix: str) -> int:
    """Count the characters of a token without its prefix.

    >>> length_of("##ug", "##")
    2
    """
    return len(entry) - len(prefix) if entry.startswith(prefix) else len(entry)


def entry_counts(splits: Sequence[Split]) -> Counter[str]:
    """Count the symbols of all words.

    >>> entry_counts([(["a", "##b"], 2)])
    Counter({'a': 2, '##b': 2})
    """
    return count_parts(splits, iter)


def pair_counts(splits: Sequence[Split], *, overlapping: bool) -> Counter[Pair]:
    """Count adjacent pairs, in order of first occurrence.

    >>> dict(pair_counts([(["a", "a", "a"], 1)], overlapping=True))
    {('a', 'a'): 2}
    >>> dict(pair_counts([(["a", "a", "a"], 1)], overlapping=False))
    {('a', 'a'): 1}
    """
    return count_parts(splits, lambda entries: _pairs_of(entries, overlapping))


def _pairs_of(entries: Sequence[str], overlapping: bool) -> Iterator[Pair]:
    previous_end: dict[Pair, int] = {}
    for start, pair in enumerate(pairwise(entries)):
        if overlapping or start >= previous_end.get(pair, 0):
            previous_end[pair] = start + 2
            yield pair


def apply_merge(entries: Sequence[str], merge: Merge) -> list[str]:
    """Replace every occurrence of a pair, from left to right.

    >>> apply_merge(["a", "a", "a"], Merge("a", "a", "aa", 2, 1))
    ['aa', 'a']
    """
    return bpe.merge(entries, (merge.left, merge.right), merge.merged)


# ---- scores


def frequency(entries: Counter[str]) -> Scorer:
    """Return the score f(ab): the number of occurrences of the pair."""
    return lambda pair, merged, count: count


def mutual_information(entries: Counter[str]) -> Scorer:
    """Return the score of `pmi`."""
    return lambda pair, merged, count: pmi(count, entries[pair[0]], entries[pair[1]])


def likelihood(entries: Counter[str]) -> Scorer:
    """Return the score of `likelihood_gain`."""
    tokens = sum(entries.values())
    return lambda pair, merged, count: likelihood_gain(pair, merged, count, entries, tokens)


def pmi(pair_count: int, left_count: int, right_count: int) -> Fraction:
    """Return f(ab) / (f(a) f(b)), the formula published for WordPiece.

    >>> pmi(95, 100, 5000) > pmi(4000, 8000, 6000)
    True
    """
    return Fraction(pair_count, left_count * right_count)


def likelihood_gain(
    pair: Pair, merged: str, count: int, entries: Counter[str], tokens: int
) -> float:
    """Return how much a merge raises the log-likelihood of the corpus under a unigram model.

    >>> round(likelihood_gain(("a", "b"), "ab", 2, Counter({"a": 2, "b": 2}), 4), 4)
    2.7726

    With counts c, their sum N and g(x) = x ln x, the log-likelihood is the sum of g(c) minus g(N). Only
    the terms that change are added, in this order, so that the compiled core gets the same float.
    """
    left, right = pair
    if left == right:
        changed = _growth(entries[left], -2 * count)
    else:
        changed = _growth(entries[left], -count) + _growth(entries[right], -count)
    return (changed + _growth(entries[merged], count)) + (g(tokens) - g(tokens - count))


def _growth(count: int, change: int) -> float:
    return g(count + change) - g(count)


def g(x: int) -> float:
    """Return x ln x, and 0 for 0.

    >>> g(0), g(1)
    (0.0, 0.0)
    """
    return x * math.log(x) if x else 0.0


class PairScore(NamedTuple):
    """A score: its function for the counts of entries, its usual ties, and which pairs count.

    `overlapping` says whether `aaa` has the pair `aa` twice. A merge must have a score greater than `above`.
    """

    scorer: Callable[[Counter[str]], Scorer]
    ties: str
    overlapping: bool = True
    above: float = -math.inf


SCORES = {
    "likelihood": PairScore(likelihood, "smallest-strings", overlapping=False, above=0),
    "frequency": PairScore(frequency, "lowest-ids"),
    "pmi": PairScore(mutual_information, "first-seen"),
}
"""The scores of pairs: a new one is its function and its row."""
