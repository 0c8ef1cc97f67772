"""Results as JSON data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, ClassVar


class PlainData:
    """A dataclass that is JSON data; `_computed` names properties that are part of it."""

    _computed: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as dicts, lists, strings and numbers, for JSON."""
        names = (field.name for field in fields(self))  # type: ignore[arg-type]
        return _plain_fields(self, (*names, *self._computed))


def plain(value: object) -> object:
    """Return dataclasses, tuples and fractions as JSON data.

    >>> plain((1, Fraction(1, 20)))
    [1, 0.05]
    """
    if isinstance(value, PlainData):
        return value.to_dict()
    if is_dataclass(value):
        return _plain_fields(value, [field.name for field in fields(value)])
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _plain_fields(value: object, names: Iterable[str]) -> dict[str, Any]:
    """Return attributes by name; a fraction is a number, and a text beside it."""
    found: dict[str, Any] = {}
    for name in names:
        given = getattr(value, name)
        found[name] = plain(given)
        if isinstance(given, Fraction):
            found[f"{name}_fraction"] = str(given)
    return found
