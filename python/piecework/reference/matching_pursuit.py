"""Orthogonal matching pursuit: a vector as a sum of a few others."""

from __future__ import annotations

import math
from collections.abc import Sequence

Vector = Sequence[float]


def combination(target: Vector, anchors: Sequence[Vector], size: int) -> dict[int, float]:
    """Return the positions of at most `size` anchors and what each is multiplied by.

    >>> found = combination([3.0, 1.0], [[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]], size=2)
    >>> {position: round(number, 6) for position, number in found.items()}
    {0: 3.0, 1: 0.5}

    Each step takes the anchor whose direction is nearest to what is left of the target. The numbers of all
    anchors taken are then those that leave the shortest rest, which is orthogonal to each of them.

    Source: Pati, Rezaiifar and Krishnaprasad 1993, "Orthogonal Matching Pursuit".
    """
    found: dict[int, float] = {}
    left = list(target)
    while len(found) < size and length(left) > 1e-6 * length(target):
        others = [position for position in range(len(anchors)) if position not in found]
        nearest = max(others, key=lambda position: abs(cosine(left, anchors[position])))
        taken = [*found, nearest]
        numbers = least_squares(target, [anchors[position] for position in taken])
        found = dict(zip(taken, numbers, strict=True))
        sums = (
            sum(number * anchors[position][column] for position, number in found.items())
            for column in range(len(target))
        )
        left = [wanted - total for wanted, total in zip(target, sums, strict=True)]
    return found


def least_squares(target: Vector, vectors: Sequence[Vector]) -> list[float]:
    """Return the numbers by which vectors are multiplied so that their sum is nearest to the target.

    The vectors must be linearly independent. Solves the normal equations by elimination.
    """
    rows = [[dot(one, other) for other in vectors] + [dot(one, target)] for one in vectors]
    for at, pivot in enumerate(rows):
        for row in rows[at + 1 :]:
            factor = row[at] / pivot[at]
            row[:] = [value - factor * above for value, above in zip(row, pivot, strict=True)]
    numbers = [0.0] * len(rows)
    for at in reversed(range(len(rows))):
        known = sum(rows[at][column] * numbers[column] for column in range(at + 1, len(rows)))
        numbers[at] = (rows[at][-1] - known) / rows[at][at]
    return numbers


def cosine(one: Vector, other: Vector) -> float:
    """Return the cosine of the angle between two vectors; 0 if one has no length."""
    lengths = length(one) * length(other)
    return dot(one, other) / lengths if lengths else 0.0


def length(vector: Vector) -> float:
    """Return the Euclidean length."""
    return math.sqrt(dot(vector, vector))


def dot(one: Vector, other: Vector) -> float:
    """Return the inner product."""
    return sum(a * b for a, b in zip(one, other, strict=True))
