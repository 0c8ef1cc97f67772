"""Figures as text, with the digits that tell them from nothing and from all."""

from __future__ import annotations

from collections.abc import Iterable

_MOST_PLACES = 15


def percentage(share: float, places: int = 1) -> str:
    """Return a share in per cent with `places` decimals, or more if it looked like 0 or 100 without them.

    >>> percentage(0.123), percentage(1 / 240_000), percentage(1 - 1 / 240_000), percentage(0)
    ('12.3', '0.0004', '99.9996', '0.0')
    """
    figure = 100 * share
    for more in range(places, _MOST_PLACES):
        shown = f"{figure:.{more}f}"
        if float(shown) not in (0, 100) or figure in (0, 100):
            return shown
    return f"{figure:g}"


def percent(share: float) -> str:
    """Return a share with its unit.

    >>> percent(0.123), percent(0.00004)
    ('12.3 %', '0.004 %')
    """
    return f"{percentage(share)} %"


def with_margin(share: float, interval: tuple[float, float] | None) -> str:
    """Return a share in per cent with half the width of its interval, in the digits that the width has.

    >>> with_margin(0.0153, (0.0141, 0.0165)), with_margin(0.0153, (0.01529, 0.01531))
    ('1.53 ±0.12', '1.530 ±0.001')
    >>> with_margin(0.5, (0.5, 0.5)), with_margin(0.5, None)
    ('50.0 ±0.0', '50.0')
    """
    if interval is None:
        return percentage(share)
    half = (interval[1] - interval[0]) / 2
    margin = percentage(half, 2 if 0 < half < 0.01 else 1)
    places = len(margin.partition(".")[2])
    return f"{percentage(share, places)} ±{margin}"


def joined(names: Iterable[str]) -> str:
    """Return names with commas, and "and" before the last one.

    >>> joined(["a", "b", "c"]), joined(["a"])
    ('a, b and c', 'a')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
