"""What a result shows, as blocks: headings, paragraphs and tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Colors: TypeAlias = Literal["standard", "256", "truecolor", "windows"]
"""The colors of a terminal, as rich names them."""


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


Block: TypeAlias = Heading | Paragraph | Grid
