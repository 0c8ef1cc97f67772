"""Weights of sources: given numbers, or a temperature, as exact fractions with one denominator."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import NamedTuple, TypeAlias

from piecework.errors import ArgumentError

Weight: TypeAlias = int | float | str | Fraction | Decimal

_LIMIT = 1 << 32
_TEMPERATURE_DENOMINATOR = 1 << 20


class ExactWeights(NamedTuple):
    """The weight of group `i` is `numerators[i] / denominator`."""

    numerators: list[int]
    denominator: int


EQUAL_WEIGHTS = ExactWeights([], 1)


def weights_as_given(weights: Sequence[Weight]) -> ExactWeights:
    """Return the weights as fractions with one denominator; a float means its shortest decimal form.

    >>> weights_as_given([1, 2.5, "1/3"])
    ExactWeights(numerators=[6, 15, 2], denominator=6)

    Raises `ArgumentError` unless each is a number above 0.
    """
    fractions = [_fraction(index, weight) for index, weight in enumerate(weights)]
    denominator = lcm(*(fraction.denominator for fraction in fractions))
    numerators = [int(fraction * denominator) for fraction in fractions]
    if max((denominator, *numerators)) >= _LIMIT:
        found = ", ".join(map(str, weights))
        raise ArgumentError("source_weights", f"have too many digits: {found}")
    return ExactWeights(numerators, denominator)


def weights_of_temperature(totals: Sequence[int], temperature: float) -> ExactWeights:
    """Return weights that make the share of each group proportional to its share to the power 1/temperature.

    >>> weights_of_temperature([900, 100], 1.0).numerators == [1 << 20, 1 << 20]
    True
    >>> numerators, denominator = weights_of_temperature([900, 100], 2.0)
    >>> [round(n * total / denominator) for n, total in zip(numerators, [900, 100])]
    [750, 250]

    The sum of all counts stays the same but for rounding; weights are rounded to multiples of 2**-20.
    Source: Conneau and Lample 2019, section 3.1 (alpha is 1/temperature).
    """
    whole = sum(totals)
    # Relative to the largest, whose power is 1: at low temperatures the powers of all shares can be 0.
    largest = max(totals)
    powers = [(total / largest) ** (1 / temperature) if total else 0.0 for total in totals]
    norm = sum(powers)
    weights = [
        power / norm * whole / total if total else 1.0
        for power, total in zip(powers, totals, strict=True)
    ]
    numerators = [max(1, round(weight * _TEMPERATURE_DENOMINATOR)) for weight in weights]
    return ExactWeights(numerators, _TEMPERATURE_DENOMINATOR)


def _fraction(index: int, weight: Weight) -> Fraction:
    try:
        fraction = Fraction(str(weight))
    except (ValueError, ZeroDivisionError):
        fraction = Fraction(0)
    if isinstance(weight, bool) or fraction <= 0:
        raise ArgumentError(f"source_weights[{index}]", f"must be a number above 0, not {weight!r}")
    return fraction
