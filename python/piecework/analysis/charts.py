"""Charts as self-contained SVG: grouped bars, and lines on logarithmic axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import log10

COLORS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5")

_WIDTH, _HEIGHT, _MARGIN = 640, 220, 40

Series = Mapping[str, Sequence[float]]
Points = Mapping[str, Sequence[tuple[float, float]]]


def bars(labels: Sequence[str], series: Series) -> str:
    """Draw a group of bars for each label, one bar per series; values must not be negative.

    >>> bars(["1", "2"], {"a": [0.5, 1.0]}).count("<rect")
    3
    """
    largest = max((value for values in series.values() for value in values), default=0) or 1
    group_width = (_WIDTH - 2 * _MARGIN) / max(1, len(labels))
    bar_width = 0.8 * group_width / max(1, len(series))
    marks = []
    for number, (name, values) in enumerate(series.items()):
        for group, value in enumerate(values):
            left = _MARGIN + group * group_width + number * bar_width
            height = (_HEIGHT - 2 * _MARGIN) * value / largest
            top = _HEIGHT - _MARGIN - height
            marks.append(
                f'<rect x="{left:.1f}" y="{top:.1f}" width="{bar_width:.1f}" height="{height:.1f}" '
                f'fill="{_color(number)}"><title>{escape(name)}: {value:.4g}</title></rect>'
            )
    for group, label in enumerate(labels):
        marks.append(_text(_MARGIN + (group + 0.4) * group_width, _HEIGHT - _MARGIN + 14, label))
    marks.append(_text(_MARGIN, _MARGIN - 8, f"{largest:.3g}"))
    return _svg(marks, list(series))


def log_lines(points: Points) -> str:
    """Draw a line for each series through points (x, y) on logarithmic axes; values must be positive.

    >>> log_lines({"a": [(1, 0.5), (10, 0.05)]}).count("<polyline")
    1
    """
    log_points = [(log10(x), log10(y)) for line in points.values() for x, y in line] or [(0.0, 0.0)]
    left, right = min(x for x, _ in log_points), max(x for x, _ in log_points)
    bottom, top = min(y for _, y in log_points), max(y for _, y in log_points)

    def position(x: float, y: float) -> str:
        x_fraction = (log10(x) - left) / (right - left or 1)
        y_fraction = (log10(y) - bottom) / (top - bottom or 1)
        return (
            f"{_MARGIN + x_fraction * (_WIDTH - 2 * _MARGIN):.1f},"
            f"{_HEIGHT - _MARGIN - y_fraction * (_HEIGHT - 2 * _MARGIN):.1f}"
        )

    marks = [
        f'<polyline points="{" ".join(position(x, y) for x, y in line)}" fill="none" '
        f'stroke="{_color(number)}" stroke-width="2"/>'
        for number, line in enumerate(points.values())
    ]
    marks.append(_text(_MARGIN, _HEIGHT - _MARGIN + 14, f"{10**left:,.0f}"))
    marks.append(_text(_WIDTH - _MARGIN, _HEIGHT - _MARGIN + 14, f"{10**right:,.0f}"))
    marks.append(_text(_MARGIN, _MARGIN - 8, f"{10**top:.3g}"))
    marks.append(_text(_MARGIN, _HEIGHT - _MARGIN - 4, f"{10**bottom:.3g}"))
    return _svg(marks, list(points))


def _svg(marks: Sequence[str], names: Sequence[str]) -> str:
    """Return the SVG element with marks, base line and legend."""
    legend = []
    for number, name in enumerate(names):
        y = _HEIGHT + 6 + 16 * number
        legend.append(
            f'<rect x="{_MARGIN}" y="{y}" width="10" height="10" fill="{_color(number)}"/>'
            f'<text x="{_MARGIN + 16}" y="{y + 9}">{escape(name)}</text>'
        )
    base = _HEIGHT - _MARGIN
    line = f'<path d="M{_MARGIN} {base}H{_WIDTH - _MARGIN}" stroke="currentColor"/>'
    height = _HEIGHT + 16 * len(names) + 10
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" font-size="11" fill="currentColor">'
        f"{''.join(marks)}{line}{''.join(legend)}</svg>"
    )


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{escape(text)}</text>'


def _color(number: int) -> str:
    return COLORS[number % len(COLORS)]
