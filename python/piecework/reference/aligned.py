"""Aligned text: a list of characters, each with a span of the original text; Unicode's normal forms of it.

Every stage may insert, replace or drop characters. Each character keeps the span, in characters, of the
original text that it stands for. So every word and every token has offsets into the original text.

Normal forms (Unicode Annex 15) decompose, reorder marks and compose. The first part of a decomposed character
replaces it, and the others are inserted after it. A composed character replaces all of its parts. Reordering
moves marks but not their spans, which stay in the order of the text, as in `tokenizers`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Literal, TypeAlias

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


# ---- normal forms

Form: TypeAlias = Literal["NFC", "NFD", "NFKC", "NFKD"]


def normal_form(aligned: Aligned, form: Form) -> Aligned:
    """Convert a text to NFC, NFD, NFKC or NFKD.

    >>> from piecework.reference.aligned import align
    >>> normal_form(align("e\\u0301x"), "NFC")
    [('é', (0, 1)), ('x', (2, 3))]
    >>> normal_form(align("ﬁ"), "NFKC")
    [('f', (0, 1)), ('i', (0, 1))]
    """
    decomposition: Form = "NFKD" if "K" in form else "NFD"
    parts = in_canonical_order(decomposed(aligned, decomposition))
    return rewrite(aligned, composed(parts) if form.endswith("C") else parts)


def decomposed(aligned: Aligned, form: Form) -> Iterable[Change]:
    """Decompose every character; the first part replaces the character.

    >>> list(decomposed([("é", (0, 1))], "NFD"))
    [('e', 1), ('\u0301', 0)]
    """
    for character, _ in aligned:
        for index, part in enumerate(unicodedata.normalize(form, character)):
            yield part, 1 if index == 0 else 0


def in_canonical_order(parts: Iterable[Change]) -> list[Change]:
    """Sort each run of combining marks by their class.

    >>> in_canonical_order([("a", 1), ("\\u0301", 1), ("\\u0323", 1)])[1][0] == "\\u0323"
    True
    """
    ordered: list[Change] = []
    for _, run in groupby(parts, key=lambda part: combining_class(part) > 0):
        ordered += sorted(run, key=combining_class)
    return ordered


def composed(parts: Iterable[Change]) -> list[Change]:
    """Compose each starter with the marks after it, where a composition exists and none is blocked.

    >>> composed([("e", 1), ("\\u0301", 1)])
    [('é', 2)]
    """
    kept: list[Change] = []
    starter: int | None = None
    for part in parts:
        whole = None
        if starter is not None and not is_blocked(kept[starter + 1 :], part):
            whole = composition(kept[starter][0], part[0])
        if starter is not None and whole is not None:
            kept[starter] = whole, kept[starter][1] + part[1]
            continue
        if combining_class(part) == 0:
            starter = len(kept)
        kept.append(part)
    return kept


def is_blocked(between: list[Change], part: Change) -> bool:
    """Return whether the characters between a starter and a part prevent their composition.

    >>> is_blocked([("\\u0301", 1)], ("\\u0301", 1)), is_blocked([], ("\\u0301", 1))
    (True, False)
    """
    return bool(between) and combining_class(between[-1]) >= combining_class(part)


def composition(first: str, second: str) -> str | None:
    """Return the composition of two characters, None if there is none.

    >>> composition("e", "\\u0301"), composition("e", "x")
    ('é', None)
    """
    whole = unicodedata.normalize("NFC", first + second)
    return whole if len(whole) == 1 else None


def combining_class(part: Change) -> int:
    """Return the canonical combining class of a part, 0 for starters.

    >>> combining_class(("\\u0301", 1)), combining_class(("e", 1))
    (230, 0)
    """
    return unicodedata.combining(part[0])
