"""Scripts: split a text where the script changes. Han, Hiragana and Katakana count as one.

Python has no script property, but the name of a character begins with its script: GREEK SMALL LETTER
ALPHA. That is right for nearly all characters; the laws skip the others. The scripts are those of
Unicode 9.0, as in SentencePiece.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from piecework.reference.aligned import Aligned

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
