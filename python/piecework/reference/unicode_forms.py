"""Unicode normal forms (Annex 15) with alignment: decompose, reorder marks, compose.

The first part of a decomposed character replaces it, and the others are inserted after it. A composed
character replaces all of its parts. Reordering moves marks but not their spans, which stay in the order
of the text, as in `tokenizers`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from itertools import groupby
from typing import Literal, TypeAlias

from piecework.reference.aligned import Aligned, Change, rewrite

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
