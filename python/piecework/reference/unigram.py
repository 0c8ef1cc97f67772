"""Unigram: start with many pieces and drop the ones that the corpus misses least.

The idea: every piece has a probability, and the probability of a segmentation is the product of its pieces'
probabilities. A word is encoded by its most probable segmentation. To train, take all frequent substrings of
the corpus. Expectation-maximization (EM) sets the probabilities: count each piece over all
segmentations, weighted by their probabilities, and divide by the total. Then drop the pieces whose
removal lowers the likelihood of the corpus least, but never a single character. Repeat until few enough
are left.

Source: Kudo 2018, "Subword Regularization", section 3.2. `lattice` sums over all segmentations, and
`unigram_training` has the constants and the digamma of SentencePiece.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from piecework.reference.lattice import Lattice
from piecework.reference.words import count_parts, substrings


def train(
    words: Mapping[str, int], vocab_size: int, *, kept_share: float = 0.8, max_length: int = 16
) -> dict[str, float]:
    """Learn pieces and their log probabilities from the words of a corpus and their counts.

    >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    >>> scores = train(words, vocab_size=9)
    >>> sorted(scores, key=lambda piece: -scores[piece])[:4]
    ['hug', 'pun', 'u', 'p']

    Each round keeps `kept_share` of the pieces. `max_length` is in characters. Single characters are
    always kept, even when they alone are more than `vocab_size`.
    """
    scores = seeds(words, max_length)
    while True:
        for _ in range(2):
            scores = maximized(expected_counts(words, scores))
        if len(scores) <= max(vocab_size, sum(len(piece) == 1 for piece in scores)):
            return scores
        scores = pruned(words, scores, max(vocab_size, int(kept_share * len(scores))))


def seeds(words: Mapping[str, int], max_length: int) -> dict[str, float]:
    """Return all characters and all substrings that occur twice, scored by the text they cover.

    >>> list(seeds({"ab": 2, "c": 1}, max_length=16))
    ['a', 'ab', 'b', 'c']
    """
    counts = count_parts(words.items(), lambda word: substrings(word, max_length))
    kept = sorted(piece for piece, count in counts.items() if len(piece) == 1 or count >= 2)
    return maximized({piece: counts[piece] * len(piece) for piece in kept})


def expected_counts(words: Mapping[str, int], scores: Mapping[str, float]) -> dict[str, float]:
    """Return how often each piece occurs, averaged over all segmentations: the E step.

    >>> scores = {"a": math.log(0.5), "aa": math.log(0.25)}
    >>> expected_counts({"aa": 4}, scores)
    {'a': 4.0, 'aa': 2.0}
    """
    expected = dict.fromkeys(scores, 0.0)
    for word, count in words.items():
        for piece, times in Lattice(word, scores).expected(count):
            expected[piece] += times
    return expected


def maximized(counts: Mapping[str, float]) -> dict[str, float]:
    """Return the log probabilities that fit the counts best: the M step.

    >>> {piece: math.exp(score) for piece, score in maximized({"a": 3, "b": 1}).items()}
    {'a': 0.75, 'b': 0.25}

    A piece without any count keeps a tiny probability, so that its logarithm exists.
    """
    counts = {piece: max(count, 1e-9) for piece, count in counts.items()}
    total = math.fsum(counts.values())
    return {piece: math.log(count / total) for piece, count in counts.items()}


def pruned(words: Mapping[str, int], scores: Mapping[str, float], size: int) -> dict[str, float]:
    """Keep `size` pieces: the single characters and the pieces with the greatest loss.

    >>> words = {"hug": 10, "hugs": 5}
    >>> sorted(pruned(words, maximized(expected_counts(words, seeds(words, 16))), 6))
    ['g', 'h', 'hug', 'hugs', 's', 'u']
    """
    uses = count_parts(words.items(), lambda word: encode(word, scores))
    ranked = sorted(
        scores, key=lambda piece: (len(piece) > 1, -loss(piece, scores) * uses[piece], piece)
    )
    characters = sum(len(piece) == 1 for piece in scores)
    return {piece: scores[piece] for piece in ranked[: max(size, characters)]}


def loss(piece: str, scores: Mapping[str, float]) -> float:
    """Return how much log probability one use of a piece loses when its best alternative replaces it.

    >>> loss("ab", {"ab": -1.0, "a": -2.0, "b": -2.0})
    3.0
    """
    others = {other: score for other, score in scores.items() if other != piece}
    return scores[piece] - Lattice(piece, others).best().score


def encode(word: str, scores: Mapping[str, float]) -> list[str]:
    """Return the most probable segmentation of a word (Viterbi).

    >>> scores = {piece: math.log(p) for piece, p in [("hug", 0.1), ("s", 0.2), ("ug", 0.3)]}
    >>> encode("hugs", scores | {letter: math.log(0.1) for letter in "hu"})
    ['hug', 's']

    An unknown character scores 10 less than the worst piece. `lattice` has the search.
    """
    return Lattice(word, scores).best().pieces


def decode(pieces: Sequence[str]) -> str:
    """Join the pieces of a word.

    >>> decode(["hug", "s"])
    'hugs'
    """
    return "".join(pieces)
