"""Unicode's normal forms (Annex 15), with alignment: decompose, put into order, compose.

The first part of a decomposed character stands for it and the others are inserted after it; a composed
character stands for all that it is made of. Putting marks into order moves them but not their spans,
which go on in the order of the text, as in `tokenizers`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from itertools import groupby
from typing import Literal, TypeAlias

from piecework.reference.aligned import Aligned, Change, rewrite

Form: TypeAlias = Literal["NFC", "NFD", "NFKC", "NFKD"]


def normal_form(aligned: Aligned, form: Form) -> Aligned:
    """Bring a text into the form NFC, NFD, NFKC or NFKD.

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
    """Give the parts of every character; the first replaces it."""
    for character, _ in aligned:
        for index, part in enumerate(unicodedata.normalize(form, character)):
            yield part, 1 if index == 0 else 0


def in_canonical_order(parts: Iterable[Change]) -> list[Change]:
    """Sort each run of combining characters by their class."""
    ordered: list[Change] = []
    for _, run in groupby(parts, key=lambda part: combining_class(part) > 0):
        ordered += sorted(run, key=combining_class)
    return ordered


def composed(parts: Iterable[Change]) -> list[Change]:
    """Join each starter with what follows it, where they have a composition and nothing blocks."""
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
    """Tell whether what stands after the starter keeps a part away from it."""
    return bool(between) and combining_class(between[-1]) >= combining_class(part)


def composition(first: str, second: str) -> str | None:
    """Return the one character that two make, None if there is none."""
    whole = unicodedata.normalize("NFC", first + second)
    return whole if len(whole) == 1 else None


def combining_class(part: Change) -> int:
    """Return the canonical combining class of a part, 0 for starters."""
    return unicodedata.combining(part[0])
