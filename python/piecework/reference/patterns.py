"""Searching: a text, or a regular expression of the kind that Python and Oniguruma read alike.

Expressions in tokenizer files are written for Oniguruma. Of its differences from `re` the common ones
are bridged here: classes by Unicode property (`\\p{L}`, `\\P{Nd}`), `\\s` and `\\w` as Unicode defines
them, and `^` and `$` at every line. Anything further belongs to the compiled core alone.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache

from piecework.reference.aligned import Span
from piecework.spec import Pattern

WHITESPACE = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
# Circled and squared letters are Alphabetic though their category is So; both joiners join words.
WORD_SYMBOLS = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))
JOINERS = "\u200c\u200d"


def matches(pattern: Pattern, text: str) -> Iterator[Span]:
    r"""Find matches from left to right.

    An empty match right after another one does not count; the search goes on a character later.

    >>> from piecework.spec import Regex
    >>> list(matches(Regex(r"\p{N}+"), "a12b3"))
    [(1, 3), (4, 5)]
    >>> list(matches(Regex("b*"), "abbc"))
    [(0, 0), (1, 3), (4, 4)]
    """
    expression = compiled(pattern)
    start, last_end = 0, None
    while start <= len(text):
        match = expression.search(text, start)
        if match is None:
            return
        if match.end() == match.start() == last_end:
            start += 1
            continue
        yield match.span()
        start = last_end = match.end()


@cache
def compiled(pattern: Pattern) -> re.Pattern[str]:
    """Return the pattern as `re` has it."""
    if isinstance(pattern, str):
        return re.compile(re.escape(pattern))
    return re.compile(translated(pattern.pattern), re.MULTILINE)


def translated(source: str) -> str:
    r"""Write the classes that `re` lacks, or reads otherwise, as the characters they hold.

    >>> translated(r"\p{Zl}\.[^\p{Zp}]*")
    '[\\u2028]\\.[^\\u2029]*'
    """
    written, in_brackets = "", False
    for token in re.findall(r"\\[pP]\{\w+\}|\\.|.", source, re.DOTALL):
        in_brackets = (in_brackets or token == "[") and token != "]"
        written += class_of(token, in_brackets)
    return written


def class_of(token: str, in_brackets: bool) -> str:
    """Write one token of an expression; what is no class stays as it is."""
    name = token[1:]
    if token[0] != "\\" or name[0] not in "pPsSwW":
        return token
    if name[0].islower():
        return ranges(name) if in_brackets else f"[{ranges(name)}]"
    if in_brackets:
        raise ValueError(f"{token} in brackets has no counterpart here")
    return f"[^{ranges(name[0].lower() + name[1:])}]"


@cache
def ranges(name: str) -> str:
    r"""Write the members of `s`, `w` or `p{Category}` as they stand in brackets.

    >>> ranges("p{Zl}")
    '\\u2028'
    """
    belongs = membership(name)
    runs: list[list[int]] = []
    for code in range(sys.maxunicode + 1):
        if not belongs(chr(code)):
            continue
        if runs and runs[-1][1] == code - 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return "".join(
        escaped(first) + (f"-{escaped(last)}" if last > first else "") for first, last in runs
    )


def escaped(code: int) -> str:
    """Write a code point as `re` reads it in brackets."""
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def membership(name: str) -> Callable[[str], bool]:
    """Return what tells the members of a class."""
    if name == "s":
        return is_whitespace
    if name == "w":
        return is_word
    return lambda c: unicodedata.category(c).startswith(name[2:-1])


# ---- character classes


def is_whitespace(c: str) -> bool:
    """Tell whether a character has the Unicode property White_Space."""
    return c in WHITESPACE


def is_number(c: str) -> bool:
    """Tell whether a character is a number of any kind (N): digits, fractions, Roman numerals."""
    return unicodedata.category(c).startswith("N")


def is_word(c: str) -> bool:
    """Tell whether a character is one of words: letters, marks, digits, connectors, joiners."""
    category = unicodedata.category(c)
    if category[0] in "LM" or category in ("Nd", "Nl", "Pc") or c in JOINERS:
        return True
    return any(low <= ord(c) <= high for low, high in WORD_SYMBOLS)
