"""Normalizers: text in, cleaned text out, every character with its span of the original.

Source: `spec/normalizers.py`. Spans follow `tokenizers` 0.23: an inserted character has the span of the
character before it; a character inserted at the beginning has the span of the first one.
"""

from __future__ import annotations

import unicodedata

from piecework.errors import StageError
from piecework.reference import bert, sentencepiece_stages
from piecework.reference.aligned import Aligned, Form, Span, as_text, map_characters, normal_form
from piecework.reference.charsmap import apply_charsmap
from piecework.reference.patterns import is_whitespace, matches, to_printable
from piecework.spec import (
    NFC,
    NFD,
    NFKC,
    NFKD,
    BertNormalizer,
    ByteLevelNormalizer,
    CustomNormalizer,
    Lowercase,
    Nmt,
    Normalizer,
    Pattern,
    Precompiled,
    Prepend,
    Replace,
    SentencePieceNormalizer,
    SequenceNormalizer,
    Strip,
    StripAccents,
)

FORMS: dict[type[Normalizer], Form] = {NFC: "NFC", NFD: "NFD", NFKC: "NFKC", NFKD: "NFKD"}
NMT_DROPPED = frozenset([*range(0x01, 0x09), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F])
NMT_SPACES = frozenset(
    [0x09, 0x0A, 0x0C, 0x0D, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD]
)


def normalize(text: Aligned, spec: Normalizer | None) -> Aligned:
    """Apply a normalizer; None returns the text unchanged.

    >>> from piecework.reference.aligned import align
    >>> normalize(align(" É"), SequenceNormalizer((Strip(), NFD(), StripAccents(), Lowercase())))
    [('e', (1, 2))]
    """
    if spec is None or not text:
        return text
    beginning = text[0][1][0]
    return normalize_after((beginning, beginning), text, spec)


def normalize_after(before: Span, text: Aligned, spec: Normalizer) -> Aligned:
    """Apply a normalizer; a character inserted before all others has the empty span `before`.

    >>> normalize_after((0, 0), [("a", (0, 1))], Replace("a", "bc"))
    [('b', (0, 1)), ('c', (0, 1))]
    """
    if isinstance(spec, SequenceNormalizer):
        for one in spec.normalizers:
            text = normalize_after(before, text, one)
        return text
    if isinstance(spec, Replace):
        return replace(before, text, spec.pattern, spec.content)
    if isinstance(spec, BertNormalizer):
        return bert.normalize(text, spec)
    if isinstance(spec, NFC | NFD | NFKC | NFKD):
        return normal_form(text, FORMS[type(spec)])
    if isinstance(spec, Prepend):
        return prepend(text, spec.prepend)
    if isinstance(spec, Strip):
        return strip(text, spec.left, spec.right)
    if isinstance(spec, Precompiled):
        return apply_charsmap(text, spec.charsmap)
    if isinstance(spec, SentencePieceNormalizer):
        return sentencepiece_stages.normalize(text, spec)
    if isinstance(spec, CustomNormalizer):
        problem = f"found {spec!r}, expected a normalizer of `piecework.spec` that is not custom"
        raise StageError("normalizer", problem)
    return map_characters(text, lambda c: map_character(c, spec))


# ---- one character at a time


def map_character(c: str, spec: Lowercase | StripAccents | Nmt | ByteLevelNormalizer) -> str:
    """Normalize one character, independently of its neighbours.

    >>> map_character("İ", Lowercase()), map_character("é", ByteLevelNormalizer())
    ('i̇', 'Ã©')
    """
    if isinstance(spec, Lowercase):
        return c.lower()
    if isinstance(spec, StripAccents):
        return "" if unicodedata.category(c).startswith("M") else c
    if isinstance(spec, Nmt):
        return nmt(c)
    return to_printable(c)


def nmt(c: str) -> str:
    """Drop a control character; turn whitespace and invisible characters into a space.

    >>> nmt("\x01"), nmt("\u200b"), nmt("a")
    ('', ' ', 'a')
    """
    if ord(c) in NMT_DROPPED:
        return ""
    return " " if ord(c) in NMT_SPACES else c


# ---- the whole text at once


def prepend(text: Aligned, content: str) -> Aligned:
    """Insert a text at the beginning, unless the text is empty.

    >>> prepend([("a", (0, 1))], "▁")
    [('▁', (0, 1)), ('a', (0, 1))]
    """
    return [(character, text[0][1]) for character in content if text] + text


def strip(text: Aligned, left: bool, right: bool) -> Aligned:
    """Remove whitespace at the ends.

    >>> strip([(" ", (0, 1)), ("a", (1, 2))], left=True, right=True)
    [('a', (1, 2))]
    """
    start, end = 0, len(text)
    while left and start < end and is_whitespace(text[start][0]):
        start += 1
    while right and start < end and is_whitespace(text[end - 1][0]):
        end -= 1
    return text[start:end]


def replace(before: Span, text: Aligned, pattern: Pattern, content: str) -> Aligned:
    """Replace every match; the new characters have the span of the last character of the match.

    >>> replace((0, 0), [("a", (0, 1)), ("b", (1, 2))], "ab", "x")
    [('x', (1, 2))]

    An empty match inserts, with the span of the character before it.
    """
    if not text:
        return text
    new: Aligned = []
    done = 0
    for start, end in matches(pattern, as_text(text)):
        source = text[end - 1][1] if end > 0 else before
        new += text[done:start] + [(character, source) for character in content]
        done = end
    return new + text[done:]
