"""BERT's normalizer and pre-tokenizer: text in, words with their places in the original out.

Normalized text is a list of (character, origin): `origin` is the index of the original character it
came from, so that a word or a token can be laid back onto the text it was cut from.

Source: the BasicTokenizer of Devlin et al. 2019, with the character classes of `tokenizers` 0.23.
Categories, decompositions and letter case are those of this Python's `unicodedata`. The compiled
core pins its own tables, so newer characters may differ; the laws draw only those that agree.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TypeAlias

from piecework.spec import BertNormalizer

Aligned: TypeAlias = list[tuple[str, int]]
Word: TypeAlias = tuple[str, tuple[int, int]]

CJK_RANGES = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
WHITESPACE = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def normalize(aligned: Aligned, spec: BertNormalizer) -> Aligned:
    """Apply the steps that `spec` asks for, in BERT's order.

    >>> as_text(normalize(align("Héllo\\u200b  北京!"), BertNormalizer()))
    'hello   北  京 !'
    """
    if spec.clean_text:
        aligned = clean(aligned)
    if spec.handle_chinese_chars:
        aligned = space_out_cjk(aligned)
    if spec.lowercase if spec.strip_accents is None else spec.strip_accents:
        aligned = strip_accents(aligned)
    if spec.lowercase:
        aligned = lowercase(aligned)
    return aligned


def pre_tokenize(aligned: Aligned) -> list[Word]:
    """Split on whitespace and isolate punctuation.

    >>> pre_tokenize(align("It's 5 pm."))
    [('It', (0, 2)), ("'", (2, 3)), ('s', (3, 4)), ('5', (5, 6)), ('pm', (7, 9)), ('.', (9, 10))]
    """
    return [word_at(run) for run in isolate_punctuation(split_whitespace([aligned]))]


# ---- alignment


def align(text: str) -> Aligned:
    """Give each character its own index as origin."""
    return [(character, index) for index, character in enumerate(text)]


def as_text(aligned: Aligned) -> str:
    """Drop the origins."""
    return "".join(character for character, _ in aligned)


def span(aligned: Aligned) -> tuple[int, int]:
    """Return where a non-empty piece lies in the original, in characters.

    It starts where the original of its first character starts and ends where the original of its
    last character ends; what was dropped at its edges is left out.
    """
    return aligned[0][1], aligned[-1][1] + 1


def word_at(aligned: Aligned) -> Word:
    """Return the text of a word and its span."""
    return as_text(aligned), span(aligned)


# ---- the steps of the normalizer


def clean(aligned: Aligned) -> Aligned:
    """Drop controls, NUL and U+FFFD; turn each whitespace character into a space."""
    kept = ((c, origin) for c, origin in aligned if not is_dropped(c))
    return [(" " if is_whitespace(c) else c, origin) for c, origin in kept]


def space_out_cjk(aligned: Aligned) -> Aligned:
    """Put a space on each side of every CJK ideograph."""
    return [
        (character, origin) for c, origin in aligned for character in (f" {c} " if is_cjk(c) else c)
    ]


def strip_accents(aligned: Aligned) -> Aligned:
    """Decompose canonically (NFD) and drop the nonspacing marks.

    >>> as_text(strip_accents(align("Å\\u0323é")))
    'Ae'
    """
    return [(c, origin) for c, origin in decompose(aligned) if unicodedata.category(c) != "Mn"]


def decompose(aligned: Aligned) -> Aligned:
    """Decompose each character, then put runs of combining marks into canonical order (NFD)."""
    parts = [(part, origin) for c, origin in aligned for part in unicodedata.normalize("NFD", c)]
    ordered: Aligned = []
    for run, _ in split_by(parts, lambda c: unicodedata.combining(c) > 0):
        ordered += sorted(run, key=lambda item: unicodedata.combining(item[0]))
    return ordered


def lowercase(aligned: Aligned) -> Aligned:
    """Lower each character by itself: no final sigma, and `İ` becomes two characters."""
    return [(lower, origin) for c, origin in aligned for lower in c.lower()]


# ---- the steps of the pre-tokenizer


def split_whitespace(runs: list[Aligned]) -> list[Aligned]:
    """Cut at whitespace, which is lost."""
    return [part for run in runs for part, is_space in split_by(run, is_whitespace) if not is_space]


def isolate_punctuation(runs: list[Aligned]) -> list[Aligned]:
    """Make every punctuation character a word of its own."""
    return list(_isolated(runs))


def _isolated(runs: list[Aligned]) -> Iterator[Aligned]:
    for run in runs:
        for part, is_mark in split_by(run, is_punctuation):
            yield from [[item] for item in part] if is_mark else [part]


def split_by(aligned: Aligned, belongs: Callable[[str], bool]) -> list[tuple[Aligned, bool]]:
    """Cut into maximal runs of characters that do or do not belong to a class."""
    groups = groupby(aligned, key=lambda item: belongs(item[0]))
    return [(list(run), inside) for inside, run in groups]


# ---- character classes


def is_dropped(c: str) -> bool:
    """Tell whether cleaning removes a character: NUL, U+FFFD, control, format, private use."""
    if c in "\t\n\r":
        return False
    return c in "\0\ufffd" or unicodedata.category(c) in ("Cc", "Cf", "Co")


def is_whitespace(c: str) -> bool:
    """Tell whether a character has the Unicode property White_Space."""
    return c in WHITESPACE


def is_punctuation(c: str) -> bool:
    """Tell whether a character is ASCII punctuation or symbol, or of a category P."""
    if c < "\x80":
        return "!" <= c <= "~" and not c.isalnum()
    return unicodedata.category(c).startswith("P")


def is_cjk(c: str) -> bool:
    """Tell whether a character lies in the ideograph blocks that BERT spaces out."""
    return any(low <= ord(c) <= high for low, high in CJK_RANGES)
