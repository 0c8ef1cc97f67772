"""What results show, as headings, paragraphs and tables, and results as JSON data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias

from piecework.analysis.alignment import Alignment

Colors: TypeAlias = Literal["standard", "256", "truecolor", "windows"]
"""The colors of a terminal, as rich names them."""
WIDTH = 100
"""The default width of text in columns, and the most that a table takes if its cells can share it."""


@dataclass(frozen=True)
class Heading:
    """A title; `level` 1 is a part of a result, 2 a step, 3 a list.

    >>> Heading("splits").level
    3
    """

    text: str
    level: int = 3


@dataclass(frozen=True)
class Paragraph:
    """Words that are wrapped at spaces.

    >>> Paragraph("a b").text
    'a b'
    """

    text: str


class Tokens(str):
    """The tokens of a cell: separated by spaces as text, each on a color of its own on a color terminal.

    >>> cell = Tokens.of(["hu", "##g"])
    >>> cell, cell.tokens
    ('hu ##g', ('hu', '##g'))
    """

    tokens: tuple[str, ...]

    @classmethod
    def of(cls, tokens: Iterable[str]) -> Tokens:
        """Return the cell of these tokens."""
        kept = tuple(tokens)
        cell = cls(" ".join(kept))
        cell.tokens = kept
        return cell


@dataclass(frozen=True)
class Grid:
    """A table of strings; columns named in `numbers` are aligned to the right.

    >>> Grid(("pair", "count"), (("u g", "20"),), numbers=("count",)).rows
    (('u g', '20'),)

    `marked` are the indices of the rows that won. `omitted` rows follow the last one.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[str, ...] = ()
    marked: tuple[int, ...] = ()
    omitted: int = 0
    title: str = ""


Block: TypeAlias = Heading | Paragraph | Grid | Alignment


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
