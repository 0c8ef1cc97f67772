"""Unigram by hard EM: count the pieces of the best segmentation only, prune by count.

The idea: `unigram` counts each piece over all segmentations of a word. Hard EM counts the pieces of the
best segmentation, sets the scores from these counts and segments again, until the log probability of
the text changes by less than `delta`. Then it drops the pieces with the lowest counts, and the next
round begins. Nothing here looks at words: the text is one string with `_` for each space, and a seed
may cross words.

This is the trainer that surveys print for its brevity. It differs from Kudo 2018 and from
SentencePiece in four ways, all reproduced here:

- Pruning compares the counts of the seeds, which EM never changes, and not the losses of the pieces.
- A piece that the best segmentation does not use keeps its last score.
- Training stops after `max_rounds` rounds even if the vocabulary is still too large. Each round
  prunes, so `max_rounds=1` prunes once.
- The scores after the last pruning come from the last EM step before it.

`sample` is the sampler printed beside it.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from piecework.errors import ArgumentError, CorpusError, TrainingError

# Euler's constant, and the coefficients of the series of the digamma at infinity, the last term first.
_EULER = 0.5772156649015329
_SERIES = (1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)
_LARGEST_SUM = 10


@dataclass
class HardEm:
    """The pieces that are left, with their scores, and the log probabilities of the text by round."""

    scores: dict[str, float]
    rounds: list[list[float]] = field(default_factory=list)


def train(
    text: str,
    seeds: Mapping[str, int],
    required: Collection[str],
    vocab_size: int,
    *,
    delta: float = 0.01,
    max_iterations: int = 5,
    max_rounds: int = 5,
    pruned_share: float = 0.2,
) -> HardEm:
    """Learn scores for at most `vocab_size` of the seeds, if `max_rounds` rounds suffice.

    >>> text = "hug pug pun bun hugs hug"
    >>> counts = Counter(text.replace(" ", "_"))
    >>> seeds = counts | {"ug": 4, "hug": 3, "un": 2, "pu": 2, "hugs": 1}
    >>> learned = train(text, seeds, set(counts), vocab_size=11)
    >>> sorted(set(learned.scores) - set(counts))
    ['hug', 'ug', 'un']
    >>> segment("hugs_pug", learned.scores)[0]
    ['hug', 's', '_', 'p', 'ug']

    `required` pieces are never pruned. Raises `ArgumentError` if `vocab_size` exceeds the number of seeds,
    `TrainingError` if it is below the number of required pieces, and `CorpusError` for a character that no
    seed covers.
    """
    if vocab_size > len(seeds):
        problem = f"must be at most {len(seeds)}, not {vocab_size}: all seeds"
        raise ArgumentError("vocab_size", problem)
    text = text.replace(" ", "_")
    counts, learned = dict(seeds), HardEm(scores_of(seeds))
    for _ in range(max_rounds):
        learned.rounds.append(em_round(text, learned.scores, delta, max_iterations))
        size = max(vocab_size, len(counts) - int(pruned_share * len(counts)))
        counts = prune(counts, required, size)
        learned.scores = {piece: learned.scores[piece] for piece in counts}
        if size == vocab_size:
            break
    return learned


def em_round(text: str, scores: dict[str, float], delta: float, max_iterations: int) -> list[float]:
    """Segment the text and update the scores in turn; return the log probability of each segmentation.

    >>> scores = {"a": -1.0, "b": -2.0, "ab": -2.0}
    >>> em_round("abab", scores, delta=0.01, max_iterations=5)[:1]
    [-4.0]
    >>> scores["a"]
    -1.0
    """
    pieces, before = segment(text, scores)
    found = [before]
    for _ in range(max_iterations):
        scores.update(scores_of(Counter(pieces)))
        pieces, now = segment(text, scores)
        found.append(now)
        if abs(before - now) < delta:
            break
        before = now
    return found


def scores_of(counts: Mapping[str, int]) -> dict[str, float]:
    """Return a score for each count: its digamma less the digamma of the total.

    >>> {piece: round(score, 4) for piece, score in scores_of({"a": 3, "b": 1}).items()}
    {'a': -0.3333, 'b': -1.8333}
    """
    total = digamma(sum(counts.values()))
    return {piece: digamma(count) - total for piece, count in counts.items()}


def digamma(count: int) -> float:
    """Return the digamma of a count, the derivative of log gamma.

    >>> digamma(1), digamma(3) == digamma(2) + 1 / 2
    (-0.5772156649015329, True)

    Ties between segmentations depend on the last bit, so the sums have the order and the number of terms of
    the function that surveys import (Moshier, Cephes). The digamma of `unigram_training` has other bits.
    """
    if count <= _LARGEST_SUM:
        harmonic = 0.0
        for number in range(1, count):
            harmonic += 1 / number
        return harmonic - _EULER
    square, series = 1.0 / (float(count) * count), 0.0
    for coefficient in _SERIES:
        series = series * square + coefficient
    return math.log(count) - 0.5 / count - square * series


def prune(counts: Mapping[str, int], required: Collection[str], size: int) -> dict[str, int]:
    """Drop the pieces with the lowest counts, but no required ones; among equal counts, the later first.

    >>> prune({"a": 1, "ab": 2, "abc": 2, "b": 1}, {"a", "b"}, 3)
    {'a': 1, 'ab': 2, 'b': 1}
    """
    ranked = sorted(counts, key=lambda piece: -counts[piece])
    optional = [piece for piece in ranked if piece not in required]
    excess = len(counts) - size
    if excess > len(optional):
        least = len(counts) - len(optional)
        problem = f"must be at least {least}, not {size}: the required pieces"
        raise TrainingError("vocab_size", problem)
    dropped = set(optional[len(optional) - excess :])
    return {piece: count for piece, count in counts.items() if piece not in dropped}


def segment(text: str, scores: Mapping[str, float]) -> tuple[list[str], float]:
    """Return the best segmentation with its log probability; among equal ones, the longest last piece.

    >>> segment("abb", {"a": -1.0, "b": -1.0, "ab": -2.0, "bb": -2.0})
    (['a', 'bb'], -3.0)
    """
    longest = max(map(len, scores), default=0)
    best = [(0.0, 0)] + [(-math.inf, 0)] * len(text)
    for end in range(1, len(text) + 1):
        for start in range(max(end - longest, 0), end):
            score = best[start][0] + scores.get(text[start:end], -math.inf)
            if score > best[end][0]:
                best[end] = (score, start)
        if best[end][0] == -math.inf:
            problem = f"found {text[end - 1]!r}, expected characters that the seeds cover"
            raise CorpusError("text", problem)
    pieces, end = [], len(text)
    while end > 0:
        start = best[end][1]
        pieces.append(text[start:end])
        end = start
    return pieces[::-1], best[-1][0]


# ---- sampling


def sample(
    text: str,
    scores: Mapping[str, float],
    nbest_size: int,
    choose: Callable[[Sequence[str]], str] = random.choice,
) -> list[str]:
    """Draw a segmentation: from the end backwards, choose each last piece among the `nbest_size` best ones.

    >>> scores = {"h": -3.0, "u": -2.0, "g": -2.5, "ug": -3.0, "hug": -4.0}
    >>> sample("hug", scores, nbest_size=1)
    ['hug']
    >>> sample("hug", scores, nbest_size=2, choose=lambda pieces: pieces[0])
    ['h', 'ug']

    `choose` gets the pieces that can come last, the best one last. This is the sampler that surveys print
    for its brevity, not the sampler of Kudo 2018: it chooses uniformly, whatever the scores of the pieces,
    and the result need not be one of the `nbest_size` best segmentations of the text.
    """
    ends = best_last_pieces(text, scores, nbest_size)
    pieces, end = [], len(text)
    while end > 0:
        pieces.append(choose(ends[end]))
        end -= len(pieces[-1])
    return pieces[::-1]


def best_last_pieces(text: str, scores: Mapping[str, float], nbest_size: int) -> list[list[str]]:
    """Return for each end of a prefix the `nbest_size` best last pieces, the best one last.

    >>> best_last_pieces("ab", {"a": -1.0, "b": -1.0, "ab": -1.5}, nbest_size=2)
    [[], ['a'], ['b', 'ab']]

    A last piece has the score of the best segmentation that ends with it. Among equal ones, the shorter is
    the better one, unlike in `segment`.
    """
    longest = max(map(len, scores), default=0)
    best, found = [0.0], list[list[str]]([[]])
    for end in range(1, len(text) + 1):
        starts = range(max(end - longest, 0), end)
        pieces = [text[start:end] for start in starts if text[start:end] in scores]
        if not pieces:
            problem = f"found {text[end - 1]!r}, expected characters that the seeds cover"
            raise CorpusError("text", problem)
        total = {piece: best[end - len(piece)] + scores[piece] for piece in pieces}
        ranked = sorted(pieces, key=total.__getitem__)  # longer pieces first among equals
        best.append(total[ranked[-1]])
        found.append(ranked[-nbest_size:])
    return found
