"""Text that knows where it came from: a list of characters, each with a span of the original.

Whatever a stage makes of a text, every character keeps the span, in characters, of the original that
it stands for; so a word or a token can be laid back onto the text it was cut from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]
Aligned: TypeAlias = list[tuple[str, Span]]
Word: TypeAlias = tuple[str, Span]
Change: TypeAlias = tuple[str, int]


def align(text: str) -> Aligned:
    """Give each character its own place as its span.

    >>> align("hé")
    [('h', (0, 1)), ('é', (1, 2))]
    """
    return [(character, (index, index + 1)) for index, character in enumerate(text)]


def as_text(aligned: Aligned) -> str:
    """Drop the spans."""
    return "".join(character for character, _ in aligned)


def span(aligned: Aligned) -> Span:
    """Return where a piece that is not empty lies in the original, in characters.

    It starts where the original of its first character starts and ends where the original of its
    last character ends; what was dropped at its edges is left out.
    """
    return aligned[0][1][0], aligned[-1][1][1]


def word_at(aligned: Aligned) -> Word:
    """Return the text of a word and its span."""
    return as_text(aligned), span(aligned)


def map_characters(aligned: Aligned, new: Callable[[str], str]) -> Aligned:
    """Put any number of characters for each one, all with its span.

    >>> map_characters(align("aß"), str.upper)
    [('A', (0, 1)), ('S', (1, 2)), ('S', (1, 2))]
    """
    return [(made, source) for character, source in aligned for made in new(character)]


def rewrite(old: Aligned, changes: Iterable[Change]) -> Aligned:
    """Write new characters, each with the number of old ones that it replaces.

    It has the span of the first of these. One that replaces none is inserted and shares the span of
    the old character before it. An empty text deletes.

    >>> rewrite(align("abcd"), [("x", 1), ("y", 0), ("z", 2), ("", 1)])
    [('x', (0, 1)), ('y', (0, 1)), ('z', (1, 2))]
    """
    new: Aligned = []
    at = 0
    for text, count in changes:
        source = old[at if count else at - 1][1]
        new += [(character, source) for character in text]
        at += count
    return new


def split_by(aligned: Aligned, belongs: Callable[[str], bool]) -> list[tuple[Aligned, bool]]:
    """Cut into maximal runs of characters that do or do not belong to a class."""
    groups = groupby(aligned, key=lambda item: belongs(item[0]))
    return [(list(run), inside) for inside, run in groups]
