"""The lattice of the reference against the list of all segmentations."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.reference.lattice import Lattice, unknown_score

Scored = dict[str, float]

pieces = st.dictionaries(
    st.text("abc", min_size=1, max_size=3), st.floats(-6.0, -0.1), min_size=1, max_size=8
)
words = st.text("abcd", min_size=1, max_size=7)


def segmentations(word: str, scores: Scored) -> Iterator[tuple[tuple[str, ...], float]]:
    """Return every segmentation of a word; an unknown character is a piece."""
    if not word:
        yield (), 0.0
    for end in range(1, len(word) + 1):
        head = word[:end]
        if head in scores or end == 1:
            score = scores.get(head, unknown_score(scores))
            for rest, more in segmentations(word[end:], scores):
                yield (head, *rest), score + more


@given(words, pieces)
def test_n_best_are_the_best_of_all(word: str, scores: Scored) -> None:
    everything = dict(segmentations(word, scores))
    found = Lattice(word, scores).n_best(1000)
    assert {tuple(pieces) for pieces, _ in found} == everything.keys()
    ordered = sorted(everything.values(), reverse=True)
    assert [score for _, score in found] == pytest.approx(ordered)
    for n in (1, 2, 5):
        assert Lattice(word, scores).n_best(n) == found[:n]


@given(words, pieces)
def test_sums_and_expected_counts_equal_the_definition(word: str, scores: Scored) -> None:
    everything = dict(segmentations(word, scores))
    total = math.fsum(map(math.exp, everything.values()))
    lattice = Lattice(word, scores)
    assert lattice.probability() == pytest.approx(total)
    expected: Counter[str] = Counter()
    for cut, score in everything.items():
        for piece in cut:
            expected[piece] += math.exp(score) / total  # type: ignore[assignment]
    found: Counter[str] = Counter()
    for piece, times in lattice.expected():
        found[piece] += times  # type: ignore[assignment]
    assert dict(found) == pytest.approx({piece: expected[piece] for piece in found})
    assert found.keys() == expected.keys() & scores.keys()


@given(words, pieces)
def test_entropy_equals_the_definition(word: str, scores: Scored) -> None:
    chances = [math.exp(score) for score in dict(segmentations(word, scores)).values()]
    shares = [chance / math.fsum(chances) for chance in chances]
    expected = -math.fsum(share * math.log(share) for share in shares)
    assert Lattice(word, scores).entropy() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("alpha", [1.0, 0.3, 2.0])
def test_samples_follow_the_probabilities(alpha: float) -> None:
    scores = {
        piece: math.log(p) for piece, p in {"a": 0.3, "b": 0.2, "ab": 0.15, "ba": 0.1}.items()
    }
    everything = dict(segmentations("abab", scores))
    chances = {cut: math.exp(alpha * score) for cut, score in everything.items()}
    draws, source = 20_000, random.Random(7)
    lattice = Lattice("abab", scores)
    found = Counter(tuple(lattice.sample(source, alpha)) for _ in range(draws))
    expected = {cut: draws * p / math.fsum(chances.values()) for cut, p in chances.items()}
    chi_square = sum((found[cut] - count) ** 2 / count for cut, count in expected.items())
    assert chi_square < 30  # four degrees of freedom: one in 200,000
