"""Ten divergences again, each from a thread about a real engine; they succeed the ten of `ten.py`.

They were written and committed by somebody who had not seen the generator of golden files, before any of
them was tried on one.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache

from piecework.reference import aligned, normalizers, patterns, post_processors
from piecework.reference.aligned import Aligned, Change, Form, align, as_text
from piecework.reference.encoding import Token, Windows
from piecework.spec import (
    BPE,
    NFC,
    NFD,
    NFKC,
    NFKD,
    BertNormalizer,
    Metaspace,
    Unigram,
    WordPiece,
)
from piecework.spec.byte_alphabet import CHARACTER_OF_BYTE

from .engine import Mutant, Patches, Row
from .mutants import (
    RANGES,
    Spec,
    drops_spaces,
    has_normalizer,
    has_pattern,
    map_added_tokens,
    map_model,
    pre_tokenizers_of,
    strips_accents,
    with_classes,
)
from .ten import is_byte_level

# ---- added tokens


def spaces_only_end_words(spec: Spec) -> str:
    """Return the argument if whitespace beside an added token is dropped, and nothing else depends on it.

    The rules of a charsmap replace a cluster of a space and a mark by a space, so the mark depends on it.
    """
    stages = pre_tokenizers_of(spec)
    is_dropped = any(drops_spaces(one) for one in stages[:1])
    has_first = any(isinstance(one, Metaspace) and one.prepend_scheme == "first" for one in stages)
    spaces = "".join(patterns.WHITESPACE)

    def normalized(text: str) -> str:
        return as_text(normalizers.normalize(align(text), spec.normalizer)).strip(spaces)

    is_apart = all(
        normalized("a" + c) == normalized("a")
        and normalized(c + "\u0301a") == normalized("\u0301a")
        for c in spaces
    )
    argument = "whitespace is dropped after the normalizer, and each word has the same prefix"
    return argument * (is_dropped and is_apart and not has_first)


# ---- normal forms


def decomposes(spec: Spec) -> bool:
    """Return whether a specification applies a normal form."""
    has_form = has_normalizer(NFC, NFD, NFKC, NFKD)(spec)
    return has_form or (has_normalizer(BertNormalizer)(spec) and strips_accents(spec))


def is_syllable(c: str | None) -> bool:
    """Return whether a character is a Hangul syllable."""
    return c is not None and "\uac00" <= c <= "\ud7a3"


def without_hangul(_: Spec) -> Patches:
    """Leave Hangul syllables and their parts as they are."""
    decomposed, composition = aligned.decomposed, aligned.composition

    def decompose(text: Aligned, form: Form) -> Iterator[Change]:
        for item in text:
            yield from [(item[0], 1)] if is_syllable(item[0]) else decomposed([item], form)

    def compose(first: str, second: str) -> str | None:
        whole = composition(first, second)
        return None if is_syllable(whole) else whole

    return {"aligned.decomposed": decompose, "aligned.composition": compose}


def no_hangul_is_known(spec: Spec) -> str:
    """Return the argument if syllables and their parts are unknown, however many there are."""
    jamo = map(chr, range(0x1100, 0x1200))
    return all_unknown(spec, [*jamo, *map(chr, range(0xAC00, 0xD7A4))])


def all_unknown(spec: Spec, characters: Iterable[str]) -> str:
    """Return the argument if no entry has one of some characters, and unknown ones become one token."""
    model = spec.model
    is_one_token = (isinstance(model, WordPiece) and model.unk == "word") or (
        isinstance(model, Unigram) and not model.byte_fallback
    )
    is_known = is_byte_level(spec) or set("".join(model.vocab)) & set(characters)
    argument = "in both forms the characters are unknown, and unknown neighbours are one token"
    return argument * (is_one_token and not is_known)


@cache
def excluded() -> dict[str, str]:
    """Return the characters that normal forms do not compose, by the two that they decompose to."""
    found = {}
    for c in map(chr, range(sys.maxunicode + 1)):
        codes = unicodedata.decomposition(c).split()
        if len(codes) != 2 or codes[0].startswith("<"):
            continue
        first, second = (chr(int(code, 16)) for code in codes)
        if unicodedata.combining(first) == 0 and unicodedata.normalize("NFC", c) != c:
            found[first + second] = c
    return found


def with_exclusions(_: Spec) -> Patches:
    """Compose every pair that a character decomposes to."""
    composition = aligned.composition

    def compose(first: str, second: str) -> str | None:
        return composition(first, second) or excluded().get(first + second)

    return {"aligned.composition": compose}


def no_exclusion_is_known(spec: Spec) -> str:
    """Return the argument if the characters that do not compose are unknown in both forms."""
    return all_unknown(spec, "".join(part for pair in excluded().items() for part in pair))


# ---- words and models


def with_byte_order_mark(name: str) -> str:
    """Return the members of a class; `s` has U+FEFF too."""
    return RANGES(name) + "\\ufeff" if name == "s" else RANGES(name)


def has_space(merge: tuple[str, str]) -> bool:
    """Return whether whitespace is in a symbol of a merge."""
    return any(patterns.is_whitespace(c) for c in "".join(merge))


def without_merges_of_spaces(spec: Spec) -> Spec:
    """Lose the merges that have whitespace in a symbol."""
    merges = tuple(merge for merge in spec.model.merges if not has_space(merge))
    return map_model(merges=merges)(spec)


def as_modified(text: str) -> str:
    """Write the bytes of Java's modified UTF-8: two for NUL, six for a pair of surrogates."""
    units = text.encode("utf-16-be", "surrogatepass")
    code_points = (int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2))
    written = (
        chr(code).encode("utf-8", "surrogatepass") if code else b"\xc0\x80" for code in code_points
    )
    return "".join(CHARACTER_OF_BYTE[byte] for byte in b"".join(written))


# ---- rows


def framed_with(spec: Spec, *others: Windows) -> list[str]:
    """Return the tokens of one token of text and other texts with the special tokens around them."""
    text = [[Token("", sequence_id=0)]]
    [window] = post_processors.post_process([text, *others], spec.post_processor)
    return [token.token for token in window]


def frames_empty_pair(spec: Spec) -> bool:
    """Return whether an empty second text brings special tokens of its own."""
    return framed_with(spec, [[]]) != framed_with(spec)


def without_empty_pair(row: Row) -> Row:
    """Take an empty second text for none."""
    return {key: value for key, value in row.items() if key != "pair" or value}


def odd_to_the_first(lengths: list[int], room: int) -> list[int]:
    """Shorten two texts to one length; the first keeps the odd token."""
    half = room // 2
    return [room - half, half] if min(lengths) > half else BALANCED(lengths, room)


BALANCED = post_processors.balanced


def padded_right(row: Row) -> Row:
    """Pad on the right, whatever the side."""
    padding = row.get("padding")
    return {**row, "padding": {**padding, "side": "right"}} if padding else row


TEN_MORE = (
    Mutant(
        "spaces-around-added-tokens",
        "Whitespace on both sides of every added token is dropped with it, as slow tokenizers did"
        " (transformers#7901, #16336, #19873).",
        lambda spec: bool(spec.added_tokens),
        map_added_tokens(lstrip=True, rstrip=True),
        equivalent=spaces_only_end_words,
    ),
    Mutant(
        "hangul-without-arithmetic",
        "Normal forms by the table of UnicodeData.txt, which lists no Hangul syllable (llama.cpp#6980,"
        " google-research/bert#228 asked for it).",
        decomposes,
        patches=without_hangul,
        equivalent=no_hangul_is_known,
    ),
    Mutant(
        "exclusions-composed",
        "Composition by the decompositions read backwards, without the list of exclusions: `ড` and its dot"
        " become `ড়` (ada-url/idna#89, llama.cpp#6980).",
        has_normalizer(NFC, NFKC),
        patches=with_exclusions,
        equivalent=no_exclusion_is_known,
    ),
    Mutant(
        "byte-order-mark-is-space",
        r"`\s` of JavaScript, which has U+FEFF (tokenizers.js#23).",
        has_pattern(r"\s"),
        patches=with_classes(with_byte_order_mark),
    ),
    Mutant(
        "merges-split-at-all-spaces",
        r"The line of a merge is split at `\s+`, so a merge of U+00A0 or U+3000 is lost"
        " (transformers.js#199).",
        lambda spec: isinstance(spec.model, BPE) and any(map(has_space, spec.model.merges)),
        without_merges_of_spaces,
    ),
    Mutant(
        "no-word-limit",
        "`max_input_chars_per_word` is not asked, so a long word has pieces (transformers.js#397).",
        lambda spec: isinstance(spec.model, WordPiece),
        map_model(max_input_chars_per_word=sys.maxsize),
    ),
    Mutant(
        "modified-utf-8",
        "Text crosses JNI by `GetStringUTFRegion`: a character beyond U+FFFF has six bytes"
        " (java-llama.cpp#72).",
        is_byte_level,
        patches=lambda _: {
            "pre_tokenizers.to_printable": as_modified,
            "normalizers.to_printable": as_modified,
        },
    ),
    Mutant(
        "empty-pair-is-none",
        "`if text_pair`: an empty second text brings no separator (transformers#37537).",
        frames_empty_pair,
        row=without_empty_pair,
    ),
    Mutant(
        "odd-token-to-the-first",
        "`longest_first` takes tokens from the second of two equal texts, as slow tokenizers do, so the"
        " first keeps the odd one (transformers#28263).",
        lambda _: True,
        patches=lambda _: {"post_processors.balanced": odd_to_the_first},
    ),
    Mutant(
        "padding-always-right",
        "The side of padding is accepted and ignored (transformers#2523, ComfyUI#10753).",
        lambda _: True,
        row=padded_right,
    ),
)
