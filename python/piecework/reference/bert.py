"""BERT's normalizer and pre-tokenizer: text in, words with their spans of the original text out.

Source: the BasicTokenizer of Devlin et al. 2019, with the character classes of `tokenizers` 0.23, or of the
original code (`cleaning="original"`).
Categories, decompositions and case come from the running Python's `unicodedata`. The compiled core has
its own tables, so characters of a newer Unicode version may differ; the laws skip them.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable

from piecework.reference.aligned import (
    Aligned,
    Word,
    as_text,
    map_characters,
    normal_form,
    split_by,
    word_at,
)
from piecework.reference.patterns import is_whitespace
from piecework.spec import BertNormalizer

# What `tokenizers` leaves out of the blocks of the original code.
ORIGINAL_CJK_RANGE = (0x2B820, 0x2B91F)
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


def normalize(aligned: Aligned, spec: BertNormalizer) -> Aligned:
    """Apply the steps of `spec` in BERT's order.

    >>> from piecework.reference.aligned import align, as_text
    >>> as_text(normalize(align("Héllo\\u200b  北京!"), BertNormalizer()))
    'hello   北  京 !'
    """
    is_original = spec.cleaning == "original"
    if spec.clean_text:
        aligned = clean(aligned, is_control if is_original else is_dropped)
    if spec.handle_chinese_chars:
        aligned = space_out_cjk(aligned, is_original_cjk if is_original else is_cjk)
    if spec.lowercase if spec.strip_accents is None else spec.strip_accents:
        aligned = strip_accents(aligned)
    if spec.lowercase:
        aligned = (lowercase_in_context if is_original else lowercase)(aligned)
    return aligned


def pre_tokenize(aligned: Aligned) -> list[Word]:
    """Split on whitespace and isolate punctuation.

    >>> from piecework.reference.aligned import align
    >>> pre_tokenize(align("It's 5 pm."))
    [('It', (0, 2)), ("'", (2, 3)), ('s', (3, 4)), ('5', (5, 6)), ('pm', (7, 9)), ('.', (9, 10))]
    """
    return [word_at(run) for run in isolate_punctuation(split_whitespace([aligned]))]


# ---- the steps of the normalizer


def clean(aligned: Aligned, drops: Callable[[str], bool]) -> Aligned:
    """Drop control characters, NUL and U+FFFD, as `drops` says; turn each whitespace character into a space.

    >>> from piecework.reference.aligned import align, as_text
    >>> as_text(clean(align("a\\x00\\tb\\ue000"), is_dropped)), as_text(clean(align("\\ue000"), is_control))
    ('a b', '\\ue000')
    """
    kept = [(c, source) for c, source in aligned if not drops(c)]
    return map_characters(kept, lambda c: " " if is_whitespace(c) else c)


def space_out_cjk(aligned: Aligned, is_ideograph: Callable[[str], bool]) -> Aligned:
    """Insert a space before and after every CJK ideograph.

    >>> from piecework.reference.aligned import align, as_text
    >>> as_text(space_out_cjk(align("a北b"), is_cjk))
    'a 北 b'
    """
    return map_characters(aligned, lambda c: f" {c} " if is_ideograph(c) else c)


def strip_accents(aligned: Aligned) -> Aligned:
    """Decompose canonically (NFD) and drop the nonspacing marks.

    >>> from piecework.reference.aligned import align, as_text
    >>> as_text(strip_accents(align("Å\\u0323é")))
    'Ae'
    """
    decomposed = normal_form(aligned, "NFD")
    return [(c, source) for c, source in decomposed if unicodedata.category(c) != "Mn"]


def lowercase(aligned: Aligned) -> Aligned:
    """Lowercase each character alone: no final sigma, and `İ` becomes two characters.

    >>> from piecework.reference.aligned import align
    >>> lowercase(align("İ"))
    [('i', (0, 1)), ('̇', (0, 1))]
    """
    return map_characters(aligned, str.lower)


def lowercase_in_context(aligned: Aligned) -> Aligned:
    """Lowercase as `str.lower` does with the whole text: Σ at the end of a word becomes ς.

    >>> from piecework.reference.aligned import align, as_text
    >>> as_text(lowercase_in_context(align("ΣΑΣ ΣΑ")))
    'σας σα'
    """
    text = as_text(aligned)
    lowered = text.lower()
    ends = itertools.accumulate(len(c.lower()) for c in text)
    starts = [0, *ends]
    return [
        (part, source)
        for (_, source), start, end in zip(aligned, starts, starts[1:], strict=False)
        for part in lowered[start:end]
    ]


# ---- the steps of the pre-tokenizer


def split_whitespace(runs: list[Aligned]) -> list[Aligned]:
    """Split at whitespace and drop it.

    >>> from piecework.reference.aligned import align, as_text
    >>> [as_text(run) for run in split_whitespace([align("a  b")])]
    ['a', 'b']
    """
    return [part for run in runs for part, is_space in split_by(run, is_whitespace) if not is_space]


def isolate_punctuation(runs: list[Aligned]) -> list[Aligned]:
    """Make every punctuation character a word of its own.

    >>> from piecework.reference.aligned import align, as_text
    >>> [as_text(run) for run in isolate_punctuation([align("a!?")])]
    ['a', '!', '?']
    """
    parts = (part for run in runs for part in split_by(run, is_punctuation))
    return [
        piece
        for part, is_mark in parts
        for piece in ([[item] for item in part] if is_mark else [part])
    ]


# ---- character classes


def is_dropped(c: str) -> bool:
    """Return whether cleaning drops a character: NUL, U+FFFD, control, format, private use.

    >>> is_dropped("\\x07"), is_dropped("\\n")
    (True, False)
    """
    if c in "\t\n\r":
        return False
    return c in "\0\ufffd" or unicodedata.category(c) in ("Cc", "Cf", "Co")


def is_control(c: str) -> bool:
    """Return whether the original code drops a character: NUL, U+FFFD, control, format.

    >>> is_control("\\x07"), is_control("\\ue000")
    (True, False)
    """
    return is_dropped(c) and unicodedata.category(c) != "Co"


def is_punctuation(c: str) -> bool:
    """Return whether a character is ASCII punctuation, an ASCII symbol or of category P.

    >>> is_punctuation("$"), is_punctuation("…"), is_punctuation("€")
    (True, True, False)
    """
    if c < "\x80":
        return "!" <= c <= "~" and not c.isalnum()
    return unicodedata.category(c).startswith("P")


def is_cjk(c: str) -> bool:
    """Return whether a character is in the ideograph blocks that BERT puts spaces around.

    >>> is_cjk("北"), is_cjk("か")
    (True, False)
    """
    return any(low <= ord(c) <= high for low, high in CJK_RANGES)


def is_original_cjk(c: str) -> bool:
    """Return whether the original code puts spaces around a character.

    >>> is_original_cjk("\U0002b820"), is_cjk("\U0002b820")
    (True, False)
    """
    return is_cjk(c) or ORIGINAL_CJK_RANGE[0] <= ord(c) <= ORIGINAL_CJK_RANGE[1]
