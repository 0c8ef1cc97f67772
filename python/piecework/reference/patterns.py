r"""Characters: search for a text or a pattern, classes of characters, scripts, bytes as printable characters.

Regular expressions of tokenizer files are written for Oniguruma. This file translates the common
differences from `re`: classes by Unicode category (`\p{L}`, `\P{Nd}`), Unicode's `\s` and `\w`, and
`^` and `$` at every line. Only the compiled core supports the rest of Oniguruma.

Python has no script property, but the name of a character begins with its script: GREEK SMALL LETTER
ALPHA. That is right for nearly all characters; the laws skip the others. The scripts follow
Unicode 9.0, as in SentencePiece: Han, Hiragana and Katakana count as one.

A byte-level vocabulary starts from 256 symbols. Printable bytes of Latin-1 stand for themselves; the
68 others have the characters from U+0100 on, in order, so that a space is `Ġ`. BPE then works on these
characters as on any others. Source: Radford et al. 2019 (GPT-2), reference code.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from piecework.reference.aligned import Aligned, Span
from piecework.spec import Pattern
from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER, CHARACTER_OF_BYTE

WHITESPACE = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
# Circled and squared letters are word characters although their category is So, and so are joiners.
WORD_SYMBOLS = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))
JOINERS = "\u200c\u200d"


def matches(pattern: Pattern, text: str) -> Iterator[Span]:
    r"""Find the matches from left to right.

    An empty match directly after another match does not count; the search continues a character later.

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
    """Compile a pattern for `re`.

    >>> compiled("a.b").pattern
    'a\\\\.b'
    """
    if isinstance(pattern, str):
        return re.compile(re.escape(pattern))
    return re.compile(translated(pattern.pattern), re.MULTILINE)


def translated(source: str) -> str:
    r"""Replace the classes that `re` lacks or defines differently by their characters.

    >>> translated(r"\p{Zl}\.[^\p{Zp}]*")
    '[\\u2028]\\.[^\\u2029]*'
    """
    written, in_brackets = "", False
    for token in re.findall(r"\\[pP]\{\w+\}|\\.|.", source, re.DOTALL):
        in_brackets = (in_brackets or token == "[") and token != "]"
        written += class_of(token, in_brackets)
    return written


def class_of(token: str, in_brackets: bool) -> str:
    r"""Translate one token of an expression; a token that is not a class stays as it is.

    >>> class_of(r"\p{Zl}", in_brackets=False), class_of("a", in_brackets=False)
    ('[\\u2028]', 'a')
    """
    name = token[1:]
    if token[0] != "\\" or name[0] not in "pPsSwW":
        return token
    if name[0].islower():
        return ranges(name) if in_brackets else f"[{ranges(name)}]"
    if in_brackets:
        raise ValueError(f"{token} in brackets has no translation for `re`")
    return f"[^{ranges(name[0].lower() + name[1:])}]"


@cache
def ranges(name: str) -> str:
    r"""Return the members of `s`, `w` or `p{Category}` as ranges for brackets.

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
    r"""Escape a code point for use in brackets.

    >>> print(escaped(0x2028), escaped(0x1F600))
    \u2028 \U0001f600
    """
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def membership(name: str) -> Callable[[str], bool]:
    """Return the test for membership in a class.

    >>> membership("p{Lu}")("A"), membership("p{Lu}")("a")
    (True, False)
    """
    if name == "s":
        return is_whitespace
    if name == "w":
        return is_word
    return lambda c: unicodedata.category(c).startswith(name[2:-1])


# ---- character classes


def is_whitespace(c: str) -> bool:
    """Return whether a character has the Unicode property White_Space.

    >>> is_whitespace(" "), is_whitespace("a")
    (True, False)
    """
    return c in WHITESPACE


def is_number(c: str) -> bool:
    """Return whether a character is a number (category N): digits, fractions, Roman numerals.

    >>> is_number("1"), is_number("½"), is_number("a")
    (True, True, False)
    """
    return unicodedata.category(c).startswith("N")


def is_word(c: str) -> bool:
    """Return whether a character is a word character: letter, mark, digit, connector or joiner.

    >>> is_word("a"), is_word("_"), is_word("-")
    (True, True, False)
    """
    category = unicodedata.category(c)
    if category[0] in "LM" or category in ("Nd", "Nl", "Pc") or c in JOINERS:
        return True
    return any(low <= ord(c) <= high for low, high in WORD_SYMBOLS)


# ---- scripts

JAPANESE = frozenset("CJK HIRAGANA KATAKANA KANGXI".split())
INHERITED = ("COMBINING ", "VARIATION ", "ZERO WIDTH JOINER", "ZERO WIDTH NON-JOINER")
WIDTHS = ("FULLWIDTH ", "HALFWIDTH ")
SCRIPTS = frozenset(
    "ADLAM AHOM ANATOLIAN ARABIC ARMENIAN AVESTAN BALINESE BAMUM BASSA BATAK BENGALI BHAIKSUKI BOPOMOFO"
    " BRAHMI BRAILLE BUGINESE BUHID CANADIAN CARIAN CAUCASIAN CHAKMA CHAM CHEROKEE COPTIC CUNEIFORM"
    " CYPRIOT CYRILLIC DESERET DEVANAGARI DUPLOYAN EGYPTIAN ELBASAN ETHIOPIC GEORGIAN GLAGOLITIC GOTHIC"
    " GRANTHA GREEK GUJARATI GURMUKHI HANGUL HANUNOO HATRAN HEBREW IMPERIAL JAVANESE KAITHI KANNADA"
    " KAYAH KHAROSHTHI KHMER KHOJKI KHUDAWADI LAO LATIN LEPCHA LIMBU LISU LYCIAN LYDIAN MAHAJANI"
    " MALAYALAM MANDAIC MANICHAEAN MARCHEN MEETEI MENDE MIAO MODI MONGOLIAN MRO MULTANI MYANMAR"
    " NABATAEAN NEW NEWA NKO OGHAM OL ORIYA OSAGE OSMANYA PAHAWH PALMYRENE PAU PHAGS-PA PHOENICIAN"
    " PSALTER REJANG RUNIC SAMARITAN SAURASHTRA SHARADA SHAVIAN SIDDHAM SIGNWRITING SINHALA SORA"
    " SUNDANESE SYLOTI SYRIAC TAGALOG TAGBANWA TAKRI TAMIL TANGUT TELUGU THAANA THAI TIBETAN TIFINAGH"
    " TIRHUTA UGARITIC VAI WARANG YI".split()
)
# Names of these scripts have two words.
FAMILIES = frozenset("INSCRIPTIONAL LINEAR MEROITIC OLD TAI".split())


def split_scripts(piece: Aligned) -> list[Aligned]:
    """Split into runs of one script.

    A space has the script of the character before it; leading spaces are dropped.

    >>> from piecework.reference.aligned import align, as_text
    >>> [as_text(run) for run in split_scripts(align("Apples are りんご 林檎."))]
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
    """Return the script in the name of a character; None for a character that fits any script.

    >>> script_of("α"), script_of("漢"), script_of("!"), script_of("\\u0301"), script_of(" ")
    ('GREEK', 'JAPANESE', 'COMMON', 'INHERITED', None)
    """
    name = unicodedata.name(c, "")
    if c == " " or unicodedata.category(c) in ("Cn", "Co"):
        return None
    if name.startswith(INHERITED):
        return "INHERITED"
    first, second, *_ = *name.removeprefix(WIDTHS[0]).removeprefix(WIDTHS[1]).split(), "", ""
    if first in JAPANESE or c == "ー":
        return "JAPANESE"
    if c in "ªº":
        return "LATIN"
    if first in FAMILIES:
        return f"{first} {second}"
    return first if first in SCRIPTS else "COMMON"


# ---- bytes as printable characters


def to_printable(text: str) -> str:
    """Write the UTF-8 bytes of a text as printable characters.

    >>> to_printable("é the")
    'Ã©Ġthe'
    """
    return "".join(CHARACTER_OF_BYTE[byte] for byte in text.encode())


def token_bytes(token: str) -> bytes:
    """Return the bytes of a byte-level token; a token with any other character is UTF-8 text.

    >>> token_bytes("Ã©").decode(), token_bytes("Ã©☃").decode()
    ('é', 'Ã©☃')
    """
    if all(character in BYTE_OF_CHARACTER for character in token):
        return bytes(BYTE_OF_CHARACTER[character] for character in token)
    return token.encode()


def decode_bytes(tokens: Sequence[str], errors: str = "replace") -> str:
    """Turn byte-level tokens into text; `errors` says what invalid UTF-8 becomes.

    >>> decode_bytes(["Ã", "©", "Ġthe"]), decode_bytes(["Ã"])
    ('é the', '�')
    """
    return b"".join(map(token_bytes, tokens)).decode(errors=errors)
