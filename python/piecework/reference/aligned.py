"""Aligned text: a list of characters, each with a span of the original text.

Every stage may insert, replace or drop characters. Each character keeps the span, in characters, of the
original text that it stands for. So every word and every token has offsets into the original text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]
Aligned: TypeAlias = list[tuple[str, Span]]
Word: TypeAlias = tuple[str, Span]
# New text, and the number of old characters that it replaces.
Change: TypeAlias = tuple[str, int]


def align(text: str) -> Aligned:
    """Return the characters of a text, each with its own position as its span.

    >>> align("hé")
    [('h', (0, 1)), ('é', (1, 2))]
    """
    return [(character, (index, index + 1)) for index, character in enumerate(text)]


def as_text(aligned: Aligned) -> str:
    """Return the text without the spans.

    >>> as_text([("a", (0, 1)), ("b", (0, 1))])
    'ab'
    """
    return "".join(character for character, _ in aligned)


def span(aligned: Aligned) -> Span:
    """Return the span of a text that is not empty, from its first character to its last.

    >>> span([("b", (1, 2)), ("c", (4, 5))])
    (1, 5)

    Characters that were dropped before the first or after the last one are not part of it.
    """
    return aligned[0][1][0], aligned[-1][1][1]


def span_between(aligned: Aligned, start: int, end: int) -> Span:
    """Return the span of the characters `start:end`; an empty range has an empty span.

    >>> span_between(align("abc"), 1, 3), span_between(align("abc"), 1, 1)
    ((1, 3), (1, 1))
    """
    if start < end:
        return span(aligned[start:end])
    return aligned[start][1][0], aligned[start][1][0]


def word_at(aligned: Aligned) -> Word:
    """Return the text of a word and its span.

    >>> word_at(align("hug"))
    ('hug', (0, 3))
    """
    return as_text(aligned), span(aligned)


def map_characters(aligned: Aligned, new: Callable[[str], str]) -> Aligned:
    """Replace each character by any number of characters, all with its span.

    >>> map_characters(align("aß"), str.upper)
    [('A', (0, 1)), ('S', (1, 2)), ('S', (1, 2))]
    """
    return [(made, source) for character, source in aligned for made in new(character)]


def rewrite(old: Aligned, changes: Iterable[Change]) -> Aligned:
    """Apply changes from left to right; each replaces a number of old characters by a text.

    >>> rewrite(align("abcd"), [("x", 1), ("y", 0), ("z", 2), ("", 1)])
    [('x', (0, 1)), ('y', (0, 1)), ('z', (1, 2))]

    A new character has the span of the first character that it replaces. A change that replaces
    nothing inserts, with the span of the character before it. An empty text deletes.
    """
    new: Aligned = []
    at = 0
    for text, count in changes:
        source = old[at if count else at - 1][1]
        new += [(character, source) for character in text]
        at += count
    return new


def split_by(aligned: Aligned, belongs: Callable[[str], bool]) -> list[tuple[Aligned, bool]]:
    """Split into maximal runs of characters inside and outside a class.

    >>> [(as_text(run), inside) for run, inside in split_by(align("ab12"), str.isdigit)]
    [('ab', False), ('12', True)]
    """
    groups = groupby(aligned, key=lambda item: belongs(item[0]))
    return [(list(run), inside) for inside, run in groups]
