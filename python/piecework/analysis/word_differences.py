"""Where tokenizers split the words of a corpus differently, and how much that matters.

Each distinct word is encoded once by each tokenizer, after a space, as in running text. Two tokenizers split
a word alike if their tokens have the same boundaries, and both or neither have an unknown token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from piecework import Batch, Tokenizer
from piecework.analysis.blocks import PlainData
from piecework.analysis.corpus_counts import LONGEST_WORD, UnknownBytes
from piecework.analysis.entry_bytes import PLAIN_TEXT
from piecework.analysis.metrics import ratio
from piecework.analysis.readable import show_whitespace
from piecework.analysis.round_trip import unknown_id_of
from piecework.analysis.side_by_side import SideToken, groups_of

Numbers = npt.NDArray[np.int64]

WORDS_SHOWN = 60
"""The number of words of all groups together."""
GROUPS_SHOWN = 12
"""The number of groups of words."""
_LENGTHS = (1, 3, 5, 7, 9, 11, 13, 17)
_FREQUENCIES = (1, 2, 10, 100, 1_000, 10_000)
_UNKNOWN_BIT = LONGEST_WORD


@dataclass(frozen=True)
class DifferingWord:
    """A word that not all tokenizers split alike, with the tokens of each tokenizer in the order given.

    >>> DifferingWord("hugs", 3, 1, ()).differences
    1

    `count` is the number of occurrences in the corpus. `differences` is the number of boundaries that some
    tokenizers have and others do not, plus one if some have an unknown token and others do not. Spans are in
    characters of the word.
    """

    word: str
    count: int
    differences: int
    tokens: tuple[tuple[SideToken, ...], ...]


@dataclass(frozen=True)
class WordGroup:
    """Words that the same tokenizers split alike, and others differently.

    >>> WordGroup(alike=((0, 2), (1,)), words=17, occurrences=940, most=()).alike
    ((0, 2), (1,))

    `alike` has sets of tokenizers, as indices in the order given: the tokenizers of one set split each of the
    words alike, and tokenizers of two sets split it differently. `words` are distinct. `most` are the words
    with the largest products of `count` and `differences`.
    """

    alike: tuple[tuple[int, ...], ...]
    words: int
    occurrences: int
    most: tuple[DifferingWord, ...]


@dataclass(frozen=True)
class WordBand:
    """Words of a range of lengths or counts, with the tokens that each tokenizer needs for them.

    >>> WordBand(low=2, high=9, words=1, occurrences=4, tokens=(4, 8)).tokens
    (4, 8)

    `high` is None without an upper limit. `words` are distinct. `tokens` are the charged tokens of all
    occurrences.
    """

    low: int
    high: int | None
    words: int
    occurrences: int
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class WordDifferences(PlainData):
    """How several tokenizers split the words of a corpus.

    >>> import piecework as pw
    >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
    >>> hugs = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
    >>> letters = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "h": 1, "u": 2, "g": 3, "s": 4}))
    >>> found = pw.analysis.compare({"hugs": hugs, "letters": letters}, ["hug hugs hug"]).word_differences
    >>> found.words, found.differing_occurrences, found.agreement[0][1]
    (2, 3, 0.0)
    >>> [group] = found.groups
    >>> group.alike, [(one.word, one.count, one.differences) for one in group.most]
    (((0,), (1,)), [('hug', 2, 2), ('hugs', 1, 2)])

    - `words` distinct words were compared, with `occurrences` in the corpus. Words of more than 32 characters
      are left out, and rare words of a corpus with more than 200,000 distinct ones.
    - `differing_words` and `differing_occurrences` are not split alike by all tokenizers.
    - `agreement[i][j]` is the share of the occurrences that tokenizers i and j split alike.
    - `tokens_per_word` has, for each tokenizer, pairs of a number of tokens and the occurrences of words that
      have so many.
    - `by_length` groups words by characters, `by_frequency` by their count in the corpus.
    - `single_token_rates` has, for each tokenizer, the share of the distinct words that are one token, and
      not the unknown one.
    - `groups` are the words that are not split alike, by which tokenizers agree: at most 12 groups, those
      with the largest sums of `count` times `differences` first, with 60 words in all.
    """

    words: int
    occurrences: int
    differing_words: int
    differing_occurrences: int
    agreement: tuple[tuple[float, ...], ...]
    tokens_per_word: tuple[tuple[tuple[int, int], ...], ...]
    single_token_rates: tuple[float, ...]
    by_length: tuple[WordBand, ...]
    by_frequency: tuple[WordBand, ...]
    groups: tuple[WordGroup, ...]


class Piece(NamedTuple):
    """A part of a word that one token covers, or several that share a character.

    >>> Piece("é", tokens=2, is_unknown=False).tokens
    2

    Characters that no token covers are a piece with 0 tokens.
    """

    text: str
    tokens: int
    is_unknown: bool


def pieces(word: str, tokens: Sequence[SideToken]) -> Iterator[Piece]:
    """Yield the pieces of a word, safe to print.

    >>> [one.text for one in pieces("hugs", [SideToken(1, "hug", (0, 3), False)])]
    ['hug', 's']
    """
    at = 0
    for group in groups_of(tokens):
        if group.start > at:
            yield Piece(show_whitespace(word[at : group.start]), 0, False)
        yield Piece(show_whitespace(word[group.start : group.end]), group.tokens, group.is_unknown)
        at = group.end
    if at < len(word):
        yield Piece(show_whitespace(word[at:]), 0, False)


class _Split(NamedTuple):
    """The words as one tokenizer splits them: each array has a value for each word.

    Bit i of `boundaries` is set if a token begins at character i, 0 < i < `LONGEST_WORD`, and bit
    `_UNKNOWN_BIT` if one is unknown: words with the same value are split alike.
    """

    batch: Batch
    boundaries: Numbers
    tokens: Numbers
    unknown_tokens: Numbers


def word_differences(
    tokenizers: Mapping[str, Tokenizer],
    words: Sequence[tuple[str, int]],
    num_threads: int | None = None,
) -> WordDifferences:
    """Return how tokenizers split words, given with their counts, the most frequent ones first.

    >>> import piecework as pw
    >>> letters = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "h": 1, "u": 2, "g": 3}))
    >>> word_differences({"letters": letters}, [("hug", 2)]).tokens_per_word
    (((3, 2),),)
    """
    texts = [f" {word}" for word, _ in words]
    lengths = np.array([len(text) - 1 for text in texts], np.int64)
    counts = np.array([count for _, count in words], np.int64)
    splits = [_split(one, texts, lengths, num_threads) for one in tokenizers.values()]
    charged = [
        split.tokens
        - split.unknown_tokens
        + UnknownBytes(one).of(texts, split.batch, num_threads, start=1)
        for one, split in zip(tokenizers.values(), splits, strict=True)
    ]
    differences = _differences(splits, len(words))
    return WordDifferences(
        words=len(words),
        occurrences=int(counts.sum()),
        differing_words=int(np.count_nonzero(differences)),
        differing_occurrences=int(counts[differences > 0].sum()),
        agreement=_agreement(splits, counts),
        tokens_per_word=tuple(_histogram(one.tokens, counts) for one in splits),
        single_token_rates=tuple(map(_single_token_rate, splits)),
        by_length=_bands(_LENGTHS, lengths, counts, charged),
        by_frequency=_bands(_FREQUENCIES, counts, counts, charged),
        groups=tuple(_groups(list(tokenizers.values()), splits, words, differences)),
    )


def single_token_rate(
    tokenizer: Tokenizer, words: Sequence[str], num_threads: int | None = None
) -> float:
    """Return the share of distinct words that are one token after a space, and not the unknown one.

    >>> import piecework as pw
    >>> model = pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})
    >>> tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit())
    >>> single_token_rate(tok, ["hug", "hugs", "pug", "bug"])
    0.25

    Source: Nayeem et al. 2025, "Beyond Fertility: Analyzing STRR as a Metric for Multilingual Tokenization
    Evaluation".
    """
    lengths = np.array([len(word) for word in words], np.int64)
    texts = [f" {word}" for word in words]
    return _single_token_rate(_split(tokenizer, texts, lengths, num_threads))


def _single_token_rate(split: _Split) -> float:
    retained = np.count_nonzero((split.tokens == 1) & (split.unknown_tokens == 0))
    return ratio(int(retained), len(split.tokens))


def _split(
    tokenizer: Tokenizer, texts: Sequence[str], lengths: Numbers, num_threads: int | None
) -> _Split:
    batch = tokenizer.encode_batch(texts, offsets=True, num_threads=num_threads, **PLAIN_TEXT)
    rows = np.repeat(np.arange(len(texts)), batch.lengths)
    starts, ends = batch.offsets.astype(np.int64).T
    # A token that covers only the space before the word does not belong to the word.
    inside = (starts < ends) & (ends > 1)
    unknown = rows[inside & (batch.ids == _unknown_id(tokenizer))]
    tokens = np.bincount(rows[inside], minlength=len(texts))
    unknown_tokens = np.bincount(unknown, minlength=len(texts))
    has_unknown = (unknown_tokens > 0).astype(np.int64)
    boundaries = _boundaries(rows, starts, ends, lengths) + (has_unknown << _UNKNOWN_BIT)
    return _Split(batch, boundaries, tokens, unknown_tokens)


def _boundaries(rows: Numbers, starts: Numbers, ends: Numbers, lengths: Numbers) -> Numbers:
    """Return the bits of positions at which a token begins; a part of a character is not a boundary."""
    has_text = starts < ends
    rows, starts, ends = rows[has_text], starts[has_text], ends[has_text]
    follows = (rows[1:] == rows[:-1]) & (ends[:-1] <= starts[1:])
    at, positions = rows[1:][follows], starts[1:][follows] - 1
    inner = (positions > 0) & (positions < np.minimum(lengths[at], LONGEST_WORD))
    boundaries = np.zeros(len(lengths), np.int64)
    np.bitwise_or.at(boundaries, at[inner], 1 << positions[inner])
    return boundaries


def _unknown_id(tokenizer: Tokenizer) -> int:
    id = unknown_id_of(tokenizer)
    return -1 if id is None else id


def _differences(splits: Sequence[_Split], words: int) -> Numbers:
    """Return for each word the number of boundaries, and of unknown tokens, that not all have."""
    boundaries = np.stack([one.boundaries for one in splits])
    some = np.bitwise_or.reduce(boundaries) & ~np.bitwise_and.reduce(boundaries)
    return sum(((some >> bit) & 1 for bit in range(_UNKNOWN_BIT + 1)), np.zeros(words, np.int64))


def _agreement(splits: Sequence[_Split], counts: Numbers) -> tuple[tuple[float, ...], ...]:
    """Return for each pair of tokenizers the share of occurrences that both split alike."""
    total = int(counts.sum())
    return tuple(
        tuple(
            ratio(int(counts[one.boundaries == other.boundaries].sum()), total) for other in splits
        )
        for one in splits
    )


def _groups(
    tokenizers: Sequence[Tokenizer],
    splits: Sequence[_Split],
    words: Sequence[tuple[str, int]],
    differences: Numbers,
) -> Iterator[WordGroup]:
    """Yield the words that are not split alike, in groups by which tokenizers agree."""
    weights = [count * many for (_, count), many in zip(words, differences.tolist(), strict=True)]
    by_agreement: dict[tuple[int, ...], list[int]] = {}
    for at, agreement in _agreements(splits, np.flatnonzero(differences)):
        by_agreement.setdefault(agreement, []).append(at)
    by_weight = sorted(by_agreement.items(), key=lambda one: -sum(weights[at] for at in one[1]))
    chosen = by_weight[:GROUPS_SHOWN]
    for agreement, group in chosen:
        most = sorted(group, key=lambda at: -weights[at])[: WORDS_SHOWN // len(chosen)]
        yield WordGroup(
            alike=_sets(agreement),
            words=len(group),
            occurrences=sum(words[at][1] for at in group),
            most=tuple(
                DifferingWord(
                    *words[at],
                    int(differences[at]),
                    tuple(map(_tokens, tokenizers, splits, [at] * len(splits))),
                )
                for at in most
            ),
        )


def _agreements(splits: Sequence[_Split], rows: Numbers) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield words, each with the first tokenizer that splits it as each tokenizer does."""
    boundaries = np.stack([one.boundaries[rows] for one in splits])
    first = np.stack([(boundaries == one).argmax(axis=0) for one in boundaries], axis=1)
    return zip(rows.tolist(), map(tuple, first.tolist()), strict=True)


def _sets(agreement: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the tokenizers that agree as sets, the smallest set first."""
    sets: dict[int, list[int]] = {}
    for at, first in enumerate(agreement):
        sets.setdefault(first, []).append(at)
    return tuple(sorted(map(tuple, sets.values()), key=len))


def _histogram(tokens: Numbers, counts: Numbers) -> tuple[tuple[int, int], ...]:
    occurrences = np.zeros(int(tokens.max(initial=0)) + 1, np.int64)
    np.add.at(occurrences, tokens, counts)
    return tuple((number, many) for number, many in enumerate(occurrences.tolist()) if many)


def _bands(
    lows: Sequence[int], values: Numbers, counts: Numbers, tokens: Sequence[Numbers]
) -> tuple[WordBand, ...]:
    """Return the words in bands that begin at `lows`; leave out empty bands."""
    highs = [*(low - 1 for low in lows[1:]), None]
    chosen = np.searchsorted(np.array(lows), values, side="right") - 1
    bands = []
    for at, (low, high) in enumerate(zip(lows, highs, strict=True)):
        here = chosen == at
        if here.any():
            sums = tuple(int(one[here] @ counts[here]) for one in tokens)
            words, occurrences = int(np.count_nonzero(here)), int(counts[here].sum())
            bands.append(WordBand(low, high, words, occurrences, sums))
    return tuple(bands)


def _tokens(tokenizer: Tokenizer, split: _Split, row: int) -> tuple[SideToken, ...]:
    batch = split.batch
    first, last = batch.row_offsets[row : row + 2].tolist()
    unknown = _unknown_id(tokenizer)
    columns = zip(batch.ids[first:last].tolist(), batch.offsets[first:last].tolist(), strict=True)
    return tuple(
        SideToken(id, tokenizer.id_to_token(id) or "", (max(start - 1, 0), end - 1), id == unknown)
        for id, (start, end) in columns
        if end > max(start, 1)
    )
