"""Write vectors as sums of a few others: orthogonal matching pursuit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]
Positions = npt.NDArray[np.int64]

_BLOCK_SCORES = 4 << 20  # numbers, of the products of a block of targets and all anchors
_NOTHING_LEFT = 1e-6  # of the length of a target or an anchor


def sparse_combinations(
    targets: Floats, anchors: Floats, size: int
) -> tuple[Positions, npt.NDArray[np.float64]]:
    """Return the positions of `size` anchors for each target, and their coefficients, both (targets, size).

    >>> anchors = np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]])
    >>> positions, coefficients = sparse_combinations(np.array([[3.0, 1.0]]), anchors, 2)
    >>> positions, coefficients.round(6)
    (array([[0, 1]]), array([[3. , 0.5]]))

    Each step takes the anchor whose direction is nearest to what is left of the target, of equal ones the
    first; then the coefficients of all anchors taken are chosen to leave the shortest rest. When nothing is
    left, the others have the coefficient 0. The time is targets * size * anchors * width.

    Source: Pati, Rezaiifar and Krishnaprasad 1993, "Orthogonal Matching Pursuit".
    """
    lengths = np.linalg.norm(anchors, axis=1)
    directions = anchors / np.maximum(lengths, np.finfo(anchors.dtype).tiny)[:, None]
    positions = np.zeros((len(targets), size), np.int64)
    coefficients = np.zeros((len(targets), size), np.float64)
    step = max(_BLOCK_SCORES // max(len(anchors), 1), 1)
    for start in range(0, len(targets), step):
        block = slice(start, start + step)
        found = _block_combinations(targets[block].astype(np.float64), directions, size)
        positions[block] = found[0]
        coefficients[block] = found[1] / np.where(lengths > 0, lengths, 1)[found[0]]
    return positions, coefficients


def _block_combinations(
    targets: npt.NDArray[np.float64], directions: Floats, size: int
) -> tuple[Positions, npt.NDArray[np.float64]]:
    """Return positions and coefficients of anchors of length 1."""
    rows, width = targets.shape
    positions = np.zeros((rows, size), np.int64)
    basis = np.zeros(
        (rows, size, width)
    )  # orthonormal; a row of zeros for an anchor that adds nothing
    triangle = np.tile(np.eye(size), (rows, 1, 1))  # the anchors in terms of the basis
    left, each = targets.copy(), np.arange(rows)
    taken = np.zeros((rows, len(directions)), bool)
    least = _NOTHING_LEFT * np.linalg.norm(targets, axis=1)
    for at in range(size):
        scores = np.abs(left.astype(directions.dtype) @ directions.T)
        scores[taken] = -1.0
        positions[:, at] = scores.argmax(axis=1)
        taken[each, positions[:, at]] = True
        chosen = directions[positions[:, at]].astype(np.float64)
        rest, shares = chosen, np.zeros((rows, at))
        for _ in range(2):  # once more, because one subtraction leaves rounding errors
            more = np.einsum("rsw,rw->rs", basis[:, :at], rest)
            rest = rest - np.einsum("rs,rsw->rw", more, basis[:, :at])
            shares += more
        length = np.linalg.norm(rest, axis=1)
        useful = (length > _NOTHING_LEFT) & (np.linalg.norm(left, axis=1) > least)
        basis[useful, at] = rest[useful] / length[useful, None]
        triangle[useful, :at, at] = shares[useful]
        triangle[useful, at, at] = length[useful]
        left -= np.einsum("rw,rw->r", basis[:, at], left)[:, None] * basis[:, at]
    projections = np.einsum("rsw,rw->rs", basis, targets)
    return positions, np.linalg.solve(triangle, projections[..., None])[..., 0]
