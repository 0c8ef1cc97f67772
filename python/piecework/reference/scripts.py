"""Cutting where the script changes, as SentencePiece does: Han, Hiragana and Katakana count as one.

Python knows no scripts, but letters are named for theirs: GREEK SMALL LETTER ALPHA. What is told from
names here is right for nearly all characters; the laws say for which it is not and leave those out.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from piecework.reference.aligned import Aligned

JAPANESE = ("CJK", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "IDEOGRAPHIC ITERATION")


def cut_scripts(piece: Aligned) -> list[Aligned]:
    """Cut into stretches of one script.

    A space has the script of what comes before it; spaces before all else are dropped.

    >>> from piecework.reference.aligned import align, as_text
    >>> [as_text(run) for run in cut_scripts(align("Apples are りんご 林檎."))]
    ['Apples are ', 'りんご 林檎', '.']
    """
    runs: list[Aligned] = []
    before = None
    for item in piece:
        script = script_of(item[0]) or before
        if script is None:
            continue
        if script != before:
            runs.append([])
        runs[-1].append(item)
        before = script
    return runs


@cache
def script_of(c: str) -> str | None:
    """Return the script that a character's name tells, None for one that has any script.

    >>> script_of("α"), script_of("漢"), script_of("!"), script_of("\\u0301"), script_of(" ")
    ('GREEK', 'JAPANESE', 'COMMON', 'INHERITED', None)
    """
    name = unicodedata.name(c, "")
    if c == " " or (not name and unicodedata.category(c) == "Cn"):
        return None
    if c == "ー" or (name.startswith(JAPANESE) and unicodedata.category(c)[0] in "LN"):
        return "JAPANESE"
    if name.startswith(("COMBINING", "VARIATION")):
        return "INHERITED"
    return name.split()[0] if unicodedata.category(c)[0] in "LM" else "COMMON"
