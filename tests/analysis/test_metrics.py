"""Measures: figures worked out by hand, naive twins of every one, and what must hold of any counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.analysis.metrics import (
    SequenceLengths,
    frequency_at_95,
    gini,
    mean_rank,
    parity,
    ratio,
    renyi_efficiency,
    sequence_lengths,
    tail_share,
    used_share,
)

COUNTS = st.lists(st.integers(0, 10**6), min_size=1, max_size=80)
MEASURES: list[Callable[[np.ndarray, int], float]] = [
    used_share,
    tail_share,
    frequency_at_95,
    mean_rank,
    renyi_efficiency,
]


def array(counts: Sequence[int]) -> np.ndarray:
    return np.array(counts, np.int64)


# ---- by hand


def test_use_and_tail_of_eight_entries() -> None:
    counts = array([10, 0, 4, 5, 1, 0, 0, 80])
    assert used_share(counts, 8) == 5 / 8
    assert tail_share(counts, 8) == 5 / 8


def test_f95_is_the_count_at_rank_19_of_20() -> None:
    assert frequency_at_95(array([0, *range(1, 20)]), 20) == 1
    assert frequency_at_95(array(range(1, 101)), 100) == 6
    assert frequency_at_95(array([7]), 1) == 7


def test_mean_rank_weighs_ranks_by_tokens() -> None:
    # 6 tokens of rank 1, 3 of rank 2, 1 of rank 3: (6 + 6 + 3) / 10 = 1.5, of 5 entries
    assert mean_rank(array([3, 0, 6, 1, 0]), 5) == pytest.approx(1.5 / 5)


def test_renyi_of_three_entries() -> None:
    counts = array([2, 1, 1, 0])
    expected = math.log(0.5**2.5 + 2 * 0.25**2.5) / -1.5 / math.log(4)
    assert renyi_efficiency(counts, 4) == pytest.approx(expected)


def test_sequence_lengths_of_known_texts() -> None:
    assert sequence_lengths({1: 10, 3: 9, 100: 1}) == SequenceLengths(6.85, 1, 3, 100)
    assert sequence_lengths({5: 1}) == SequenceLengths(5.0, 5, 5, 5)
    assert sequence_lengths({}) == SequenceLengths(0.0, 0, 0, 0)


@pytest.mark.parametrize("measure", MEASURES)
def test_measures_without_tokens_are_zero_except_the_tail(
    measure: Callable[[np.ndarray, int], float],
) -> None:
    assert measure(array([0, 0]), 2) == (1 if measure is tail_share else 0)
    assert measure(array([]), 0) == 0
    assert ratio(1, 0) == 0


# ---- naive twins


def naive_measures(counts: Sequence[int]) -> list[float]:
    size, total = len(counts), sum(counts)
    ranked = sorted(counts, reverse=True)
    shares = [count / total for count in counts if count]
    power = sum(share**2.5 for share in shares)
    return [
        sum(count > 0 for count in counts) / size,
        sum(count < 5 for count in counts) / size,
        ranked[-(-95 * size // 100) - 1],
        sum(rank * count for rank, count in enumerate(ranked, 1)) / total / size if total else 0,
        math.log(power) / -1.5 / math.log(size) if len(shares) > 1 else 0,
    ]


@given(COUNTS)
def test_measures_equal_their_naive_twins(counts: list[int]) -> None:
    found = [measure(array(counts), len(counts)) for measure in MEASURES]
    assert found == pytest.approx(naive_measures(counts))


@given(st.lists(st.integers(0, 50), min_size=1))
def test_sequence_lengths_equal_their_naive_twin(lengths: list[int]) -> None:
    ranked = sorted(lengths)
    found = sequence_lengths({length: lengths.count(length) for length in set(lengths)})
    assert found.mean == pytest.approx(sum(lengths) / len(lengths))
    assert found.median == ranked[math.ceil(len(lengths) / 2) - 1]
    assert found.p95 == ranked[-(-95 * len(lengths) // 100) - 1]
    assert found.longest == ranked[-1]


COSTS = st.lists(st.integers(1, 1_000), min_size=1, max_size=20)


@given(COSTS)
def test_gini_and_parity_equal_their_naive_twins(costs: list[int]) -> None:
    n = len(costs)
    differences = sum(abs(one - other) for one in costs for other in costs)
    assert gini(costs) == pytest.approx(differences / (2 * n * sum(costs)), abs=1e-12)
    assert parity(costs) == max(costs) / min(costs)


def test_gini_and_parity_of_no_costs_are_zero() -> None:
    assert (gini([]), gini([0, 0]), parity([0, 0])) == (0, 0, 0)


# ---- laws


@given(COSTS, st.integers(2, 9))
def test_gini_depends_on_shares_only(costs: list[int], times: int) -> None:
    assert gini([cost * times for cost in costs]) == pytest.approx(gini(costs))
    assert gini(costs * times) == pytest.approx(gini(costs), abs=1e-12)
    assert 0 <= gini(costs) <= 1 - 1 / len(costs)


@given(COUNTS)
def test_shares_are_between_zero_and_one(counts: list[int]) -> None:
    for measure in (used_share, tail_share, mean_rank, renyi_efficiency):
        assert 0 <= measure(array(counts), len(counts)) <= 1


@given(COUNTS, st.randoms())
def test_the_order_of_the_entries_does_not_matter(counts: list[int], random: object) -> None:
    shuffled = counts[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for measure in MEASURES:
        assert measure(array(shuffled), len(counts)) == measure(array(counts), len(counts))


@given(COUNTS, st.integers(2, 5))
def test_repeating_a_text_changes_no_distribution(counts: list[int], times: int) -> None:
    repeated = array(counts) * times
    for measure in (used_share, mean_rank, renyi_efficiency):
        assert measure(repeated, len(counts)) == pytest.approx(measure(array(counts), len(counts)))
    assert frequency_at_95(repeated, len(counts)) == times * frequency_at_95(
        array(counts), len(counts)
    )


@given(st.integers(2, 60), st.integers(1, 100))
def test_equal_use_is_the_most_efficient(size: int, count: int) -> None:
    assert renyi_efficiency(array([count] * size), size) == pytest.approx(1)
    assert renyi_efficiency(array([count] * size), size + 1) < 1
