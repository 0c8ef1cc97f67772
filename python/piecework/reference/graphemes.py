"""Extended grapheme clusters (Unicode Annex 29), as far as charsmaps depend on them.

Charsmaps look up clusters of fewer than six bytes only. Three rules join longer clusters only, so they
are missing here: flags of two regional indicators, Indic conjuncts and joined emoji. (Where one of these
precedes a mark of two bytes, only the compiled core is right.) Python has no grapheme properties, so
they come from general categories with lists of exceptions.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

PREPENDED = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e")
# Spacing marks that do not extend (Myanmar, Tai Tham, Tai Viet); letters and formats that extend.
ALONE = frozenset(
    "\u102b\u102c\u1038\u1062\u1063\u1064\u1067\u1068\u1069\u106a\u106b\u106c\u106d\u1083\u1087\u1088"
    "\u1089\u108a\u108b\u108c\u108f\u109a\u109b\u109c\u1a61\u1a63\u1a64\uaa7b\uaa7d\U00011720\U00011721"
)
EXTENDING = frozenset("\u200c\u200d\uff9e\uff9f\u0e33\u0eb3")
LEADING, VOWELS, TRAILING = (
    ((0x1100, 0x115F), (0xA960, 0xA97C)),
    ((0x1160, 0x11A7), (0xD7B0, 0xD7C6)),
    ((0x11A8, 0x11FF), (0xD7CB, 0xD7FB)),
)


def clusters(text: str) -> Iterator[str]:
    r"""Split a text into clusters.

    >>> [len(cluster) for cluster in clusters("e\u0301x\r\n")]
    [2, 1, 2]
    """
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or not joins(text[at - 1], text[at]):
            yield text[start:at]
            start = at


def joins(before: str, after: str) -> bool:
    r"""Return whether two adjacent characters belong to one cluster.

    >>> joins("e", "\u0301"), joins("e", "x")
    (True, False)
    """
    if before + after == "\r\n":
        return True
    if is_control(before) or is_control(after):
        return False
    return extends(after) or before in PREPENDED or joins_syllable(before, after)


def is_control(c: str) -> bool:
    r"""Return whether a character is always a cluster of its own.

    >>> is_control("\n"), is_control("a")
    (True, False)
    """
    if c in EXTENDING or c in PREPENDED or extends(c):
        return False
    return unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")


def extends(c: str) -> bool:
    r"""Return whether a character extends the one before it: marks, joiners, skin tones, tags.

    >>> extends("\u0301"), extends("a")
    (True, False)
    """
    if c in EXTENDING or "\U0001f3fb" <= c <= "\U0001f3ff" or "\U000e0020" <= c <= "\U000e007f":
        return True
    return unicodedata.category(c).startswith("M") and c not in ALONE


def joins_syllable(before: str, after: str) -> bool:
    r"""Return whether two characters belong to one Hangul syllable.

    >>> joins_syllable("가", "\u11a8"), joins_syllable("각", "가")
    (True, False)
    """
    first, second = jamo(before), jamo(after)
    return (first[-1:], second[:1]) in {("L", "L"), ("L", "V"), ("V", "V"), ("V", "T"), ("T", "T")}


def jamo(c: str) -> str:
    """Return the parts of a Hangul syllable that a character contains; empty for other characters.

    >>> jamo("가"), jamo("각"), jamo("a")
    ('LV', 'LVT', '')
    """
    if "\uac00" <= c <= "\ud7a3":
        return "LV" if (ord(c) - 0xAC00) % 28 == 0 else "LVT"
    for kind, blocks in (("L", LEADING), ("V", VOWELS), ("T", TRAILING)):
        if any(low <= ord(c) <= high for low, high in blocks):
            return kind
    return ""
