"""Results as JSON data."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from fractions import Fraction


def plain(value: object) -> object:
    """Return dataclasses, tuples and fractions as JSON data.

    >>> plain((1, Fraction(1, 20)))
    [1, 0.05]
    """
    if is_dataclass(value) and not isinstance(value, type):
        found: dict[str, object] = {}
        for field in fields(value):
            given = getattr(value, field.name)
            found[field.name] = plain(given)
            if isinstance(given, Fraction):
                found[f"{field.name}_fraction"] = str(given)
        return found
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
