"""Draw charts as SVG whose widths follow the page: horizontal bars and dots, and lines.

Horizontal positions are shares of the width of the plot, so that texts and marks keep their size. Colours are
classes of `page_files/chart.css`. A drawing is a tree of elements: text of a page, or data for its scripts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import pairwise
from math import ceil, floor, log10
from pathlib import Path
from typing import NamedTuple, TypeAlias

PAGE_FILES = Path(__file__).parent / "page_files"
"""The styles and the script that the page, the pictures and the playground share."""
SERIES_COLORS = 8
_WIDTH, _LEFT, _RIGHT, _HEIGHT = 640, 140, 24, 230
_LEFTS = {"wide": _LEFT, "narrow": 60}
_ROW = 26
_NAME_CHARS = 20
_CHAR_WIDTH = 7.5
_TICKS = 5

Format: TypeAlias = Callable[[float], str]
Tip: TypeAlias = "dict[str, str]"
"""What a mark shows on hover: names and figures."""


class Element(NamedTuple):
    """An element of a drawing: its name, its attributes, and its texts and elements.

    >>> Element("text", {"x": "5"}, ["a < b"]).markup()
    '<text x="5">a &lt; b</text>'
    """

    name: str
    attributes: dict[str, str]
    children: Sequence[Element | str]

    def markup(self) -> str:
        """Return the element as text of an SVG file or an HTML page."""
        attributes = "".join(
            f' {name}="{escape(value)}"' for name, value in self.attributes.items()
        )
        inner = (escape(one) if isinstance(one, str) else one.markup() for one in self.children)
        return f"<{self.name}{attributes}>{''.join(inner)}</{self.name}>"


@dataclass(frozen=True)
class Mark:
    """A bar or a dot: where it is from 0 to `limit`, the class of its colour, and its tokenizer."""

    kind: str
    start: float
    end: float
    color: str
    series: int | None = None
    tip: Tip | None = None
    label: str = ""


Row: TypeAlias = "tuple[str, Sequence[Mark]]"
Legend: TypeAlias = "Sequence[tuple[str, str]]"
"""Names with the classes of their colours."""


class Point(NamedTuple):
    """A point of a line, as shares of the width and of the height."""

    x: float
    y: float
    tip: Tip


Ticks: TypeAlias = "Sequence[tuple[float, str]]"
"""Shares of the width or height with their labels."""


def row_chart(
    rows: Sequence[Row],
    limit: float,
    format: Format | None = None,
    title: str = "",
    legend: Legend = (),
) -> Element:
    """Return a chart with a label and marks for each row; without a format, it has no axis.

    >>> chart = row_chart([("hug", [Mark("bar", 0, 1, "s0")])], 2)
    >>> chart.attributes["height"]
    '30'
    """
    values = linear_ticks(limit) if format else [limit]
    limit = values[-1]
    ticks = [(value / limit, format(value)) for value in values] if format else []
    drawn: list[Element] = []
    bottom = 0.0
    for label, marks in rows:
        middle, bottom = bottom + _ROW / 2, bottom + _ROW
        drawn.append(_text(label, x=-12, y=middle, kind="label end"))
        for mark in marks:
            drawn += _mark(mark, limit, middle)
    plot = [*_below(ticks, bottom, title), *drawn]
    names, above = legend_of(legend)
    shift = {"transform": f"translate({10 - _LEFT} 0)"}
    under = 0 if not ticks else 38 if title else 22
    return _chart("wide", [Element("g", shift, names)], plot, above + 4, bottom + under)


def line_chart(
    lines: Sequence[Sequence[Point]], x_ticks: Ticks, y_ticks: Ticks, x_title: str, y_title: str
) -> Element:
    """Return a chart with a line and points for each tokenizer."""
    plot = [*_below(x_ticks, _HEIGHT, x_title, with_grid=False)]
    for share, label in y_ticks:
        y = _y(share)
        plot.append(_element("line", x1="0", x2="100%", y1=y, y2=y, class_="grid"))
        plot.append(_text(label, x=-8, y=y, kind="label end"))
    for series, line in enumerate(lines):
        color = series_color(series)
        shapes = [
            _element("line", x1=_x(a.x), y1=_y(a.y), x2=_x(b.x), y2=_y(b.y), class_=f"line {color}")
            for a, b in pairwise(line)
        ]
        for one in line:
            dot = _element("circle", cx=_x(one.x), cy=_y(one.y), r="3.5", class_=color)
            shapes.append(_with_tip(dot, one.tip))
        plot.append(Element("g", {"data-series": str(series)}, shapes))
    return _chart("narrow", [_text(y_title, x=0, y=8, kind="label")], plot, 26, _HEIGHT + 40)


def picture(chart: Element, legend: Legend, title: str) -> str:
    """Return a chart as an SVG file with its title and the names of its colours.

    >>> picture(row_chart([], 1), [("hug", "s0")], "Tokens")[:28]
    '<svg xmlns="http://www.w3.or'
    """
    names, above = legend_of(legend)
    left = _LEFTS[chart.attributes["class"].split()[-1]]
    place = {"x": f"{left}", "y": f"{40 + above}", "width": f"{_WIDTH - left - _RIGHT}"}
    height = f"{50 + above + int(chart.attributes['height'])}"
    body = [
        Element("style", {}, [_picture_style()]),
        _element("rect", width="100%", height="100%", class_="paper"),
        _text(title, x=10, y=18, kind="title"),
        _element("svg", *names, x="10", y="38"),
        chart._replace(attributes=chart.attributes | place),
    ]
    root = {"xmlns": "http://www.w3.org/2000/svg", "width": f"{_WIDTH}", "height": height}
    return Element("svg", {**root, "class": "chart"}, body).markup()


def legend_of(legend: Legend) -> tuple[list[Element], int]:
    """Return squares with names, in lines, and the height of these lines."""
    found: list[Element] = []
    x, line = 0.0, 0
    for name, color in legend:
        width = 30 + _CHAR_WIDTH * len(_short(name))
        if x and x + width > _WIDTH - 2 * _RIGHT:
            x, line = 0.0, line + 1
        y = 22 * line
        found.append(_element("rect", x=x, y=y + 1, width=11, height=11, rx=2, class_=color))
        found.append(_text(_short(name), x=x + 17, y=y + 7, kind="label"))
        x += width
    return found, 22 * (line + 1) if legend else 0


def series_color(at: int) -> str:
    """Return the class of the colour of a tokenizer."""
    return f"s{at % SERIES_COLORS}"


# ---- axes


def linear_ticks(limit: float) -> list[float]:
    """Return round numbers from 0 to the first one that is not less than a limit.

    >>> linear_ticks(2.3), linear_ticks(18)
    ([0.0, 0.5, 1.0, 1.5, 2.0, 2.5], [0.0, 5.0, 10.0, 15.0, 20.0])
    """
    rough = limit / _TICKS or 1
    power = 10.0 ** floor(log10(rough))
    step = next(power * one for one in (1, 2, 5, 10) if power * one >= rough * 0.999)
    return [step * at for at in range(ceil(limit / step * 0.999) + 1)]


def band_ticks(labels: Sequence[str]) -> Ticks:
    """Return the middles of equal bands with their labels; if there are many, of every second one or fewer.

    >>> band_ticks(["a", "b"])
    [(0.25, 'a'), (0.75, 'b')]
    """
    every = ceil(len(labels) / 16)
    return [
        (middle_of(at, len(labels)), "" if at % every else label) for at, label in enumerate(labels)
    ]


def middle_of(at: int, bands: int) -> float:
    """Return the middle of one of several equal bands."""
    return (at + 0.5) / bands


def _below(ticks: Ticks, height: float, title: str, *, with_grid: bool = True) -> Iterator[Element]:
    for share, label in ticks:
        if with_grid:
            yield _element("line", x1=_x(share), x2=_x(share), y1=0, y2=height, class_="grid")
        yield _text(label, x=_x(share), y=height + 12, kind="label middle")
    if title:
        yield _text(title, x="50%", y=height + 30, kind="label middle")


# ---- shapes


def _chart(
    kind: str, above: Sequence[Element], plot: Sequence[Element], top: float, height: float
) -> Element:
    """Return a drawing whose texts at the left are outside of it, where x is negative."""
    attributes = {"class": f"chart {kind}", "height": f"{ceil(top + height)}", "width": "100%"}
    moved = Element("g", {"transform": f"translate(0 {top:g})"}, plot)
    return Element("svg", attributes, [*above, moved])


def _mark(mark: Mark, limit: float, y: float) -> Iterator[Element]:
    start, end = mark.start / limit, mark.end / limit
    if mark.kind == "range":
        yield _element("line", x1=_x(start), x2=_x(end), y1=y, y2=y, class_="range")
        return
    if mark.kind == "dot":
        shape = _element("circle", cx=_x(end), cy=y, r="6", class_=mark.color)
    else:
        size = {"x": _x(start), "y": y - 7, "width": _x(end - start), "height": 14}
        shape = _element("rect", **size, class_=mark.color)
    series = {} if mark.series is None else {"data-series": str(mark.series)}
    drawn = [_with_tip(shape, mark.tip or {})]
    if mark.label:
        drawn.append(_text(mark.label, x=_x(end), y=y, dx=6))
    yield Element("g", series, drawn)


def _with_tip(shape: Element, tip: Tip) -> Element:
    text = "\n".join(f"{name}: {value}" for name, value in tip.items())
    return shape._replace(children=[Element("title", {}, [text])] if text else [])


def _text(text: str, *, kind: str = "", **attributes: object) -> Element:
    shown = _short(text) if kind.endswith("end") else text
    return _element("text", shown, **attributes, dy="0.35em", class_=kind)


def _short(name: str) -> str:
    return name if len(name) <= _NAME_CHARS else f"{name[: _NAME_CHARS - 1]}…"


def _element(
    name: str, *children: Element | str, class_: str = "", **attributes: object
) -> Element:
    shown = {
        key: f"{value:.6g}" if isinstance(value, float) else f"{value}"
        for key, value in attributes.items()
    }
    return Element(name, shown | ({"class": class_} if class_ else {}), children)


def _x(share: float) -> str:
    return f"{100 * share:.2f}%"


def _y(share: float) -> float:
    return _HEIGHT * (1 - share)


@cache
def _picture_style() -> str:
    """Return the style of a picture, with the light colours instead of their names."""
    theme = (PAGE_FILES / "theme.css").read_text(encoding="utf-8")
    colors = dict(re.findall(r"(--\w+): (.*?);", theme.partition("@media")[0]))
    style = (PAGE_FILES / "chart.css").read_text(encoding="utf-8")
    return re.sub(r"var\((--\w+)\)", lambda name: colors[name[1]], style)
