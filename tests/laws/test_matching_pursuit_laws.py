"""Sparse combinations are those of the reference and of scikit-learn; what was planted is found again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import orthogonal_mp

from piecework.reference import matching_pursuit as reference
from piecework.vocabulary.matching_pursuit import sparse_combinations


def vectors(seed: int, rows: int, width: int, dtype: type = np.float64) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, width)).astype(dtype)


def sums(positions: np.ndarray, coefficients: np.ndarray, anchors: np.ndarray) -> np.ndarray:
    return np.einsum("rs,rsw->rw", coefficients, anchors[positions])


SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.integers(1, 9), st.integers(2, 12), st.integers(1, 8), st.integers(1, 7))
def test_combinations_equal_those_of_the_reference(
    seed: int, targets: int, anchors: int, width: int, size: int
) -> None:
    size = min(size, anchors, width)
    found, dictionary = vectors(seed, targets, width), vectors(seed + 1, anchors, width)
    positions, coefficients = sparse_combinations(found, dictionary, size)
    for target, row, numbers in zip(found.tolist(), positions, coefficients, strict=True):
        expected = reference.combination(target, dictionary.tolist(), size)
        assert list(expected) == row[: len(expected)].tolist()
        assert numbers[: len(expected)] == pytest.approx(
            list(expected.values()), rel=1e-6, abs=1e-9
        )
        assert not numbers[len(expected) :].any()


@given(SEEDS, st.integers(1, 30), st.integers(1, 6))
def test_combinations_equal_those_of_scikit_learn(seed: int, anchors: int, size: int) -> None:
    targets, dictionary = vectors(seed, 4, 12), vectors(seed + 1, anchors, 12)
    dictionary /= np.linalg.norm(dictionary, axis=1)[:, None]  # as it requires
    size = min(size, anchors)
    positions, coefficients = sparse_combinations(targets, dictionary, size)
    dense = np.zeros((4, anchors))
    np.put_along_axis(dense, positions, coefficients, axis=1)
    expected = orthogonal_mp(dictionary.T, targets.T, n_nonzero_coefs=size)
    assert pytest.approx(expected.reshape(anchors, 4), abs=1e-6) == dense.T


@given(SEEDS, st.integers(1, 5))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_planted_combination_is_found_again(dtype: type, seed: int, size: int) -> None:
    anchors = vectors(seed, 40, 200, dtype)
    random = np.random.default_rng(seed + 1)
    planted = np.array([random.choice(40, size, replace=False) for _ in range(6)])
    numbers = random.uniform(1, 3, (6, size)) * random.choice([-1, 1], (6, size))
    targets = sums(planted, numbers, anchors).astype(dtype)
    positions, coefficients = sparse_combinations(targets, anchors, size)
    for row, found, number in zip(planted, positions, range(6), strict=True):
        assert set(row.tolist()) == set(found.tolist())
        order = np.argsort(found)
        expected = numbers[number][np.argsort(row)]
        assert coefficients[number][order] == pytest.approx(expected, rel=1e-3)


@given(SEEDS, st.integers(1, 30), st.integers(1, 10))
def test_one_anchor_is_the_nearest_by_direction(seed: int, anchors: int, width: int) -> None:
    targets, dictionary = vectors(seed, 5, width), vectors(seed + 1, anchors, width)
    positions, coefficients = sparse_combinations(targets, dictionary, 1)
    directions = dictionary / np.linalg.norm(dictionary, axis=1)[:, None]
    assert positions[:, 0].tolist() == np.abs(targets @ directions.T).argmax(axis=1).tolist()
    rest = targets - sums(positions, coefficients, dictionary)
    assert np.einsum("rw,rw->r", rest, dictionary[positions[:, 0]]) == pytest.approx(0, abs=1e-9)


@given(SEEDS, st.integers(2, 12))
def test_more_anchors_leave_less_and_the_rest_is_orthogonal(seed: int, width: int) -> None:
    targets, anchors = vectors(seed, 4, width), vectors(seed + 1, 20, width)
    before = np.linalg.norm(targets, axis=1)
    for size in range(1, width + 1):
        positions, coefficients = sparse_combinations(targets, anchors, size)
        rest = targets - sums(positions, coefficients, anchors)
        left = np.linalg.norm(rest, axis=1)
        assert (left <= before + 1e-9).all()
        assert np.einsum("rw,rsw->rs", rest, anchors[positions]) == pytest.approx(0, abs=1e-6)
        before = left
    assert before == pytest.approx(0, abs=1e-6)


def test_several_blocks_give_what_each_alone_gives() -> None:
    targets, anchors = vectors(1, 5000, 8), vectors(2, 1500, 8)  # 7.5 million products
    whole = sparse_combinations(targets, anchors, 2)
    parts = [
        sparse_combinations(targets[at : at + 1000], anchors, 2) for at in range(0, 5000, 1000)
    ]
    assert np.array_equal(whole[0], np.concatenate([positions for positions, _ in parts]))
    assert np.concatenate([values for _, values in parts]) == pytest.approx(whole[1])


def test_dependent_and_empty_vectors_have_finite_coefficients() -> None:
    anchors = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    targets = np.array([[3.0, 1.0], [5.0, 0.0], [0.0, 0.0]])
    positions, coefficients = sparse_combinations(targets, anchors, 4)
    assert np.isfinite(coefficients).all()
    assert sums(positions, coefficients, anchors) == pytest.approx(targets)
    assert np.array_equal(np.sort(positions), np.tile(np.arange(4), (3, 1)))
