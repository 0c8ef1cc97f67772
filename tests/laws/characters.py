"""The characters that the laws draw: those for which core and reference have equal Unicode tables.

The tables of the core are fixed; the reference uses those of the running Python. A character that one
of them does not know, or whose category changed, fails a law although the code is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from piecework.spec import BertNormalizer, BertPreTokenizer, TokenizerSpec, WordLevel
from tests.engines import CORE, REFERENCE

SPECS = [
    TokenizerSpec(WordLevel({"[UNK]": 0}), BertNormalizer(clean_text=clean, lowercase=lower), pre)
    for clean, lower, pre in [
        (True, True, BertPreTokenizer()),
        (True, False, BertPreTokenizer()),
        (False, False, BertPreTokenizer()),
    ]
]

# No code point between these ranges is assigned; the code points after them are for private use.
CODE_POINTS = (*range(0xD800), *range(0xE000, 0x34000), *range(0xE0000, 0xE1000))


@cache
def disagreeing() -> frozenset[str]:
    """Return the characters that core and reference split differently between two letters."""
    return frozenset(_disagreeing())


def _disagreeing() -> Iterator[str]:
    tokenizers = [(spec, CORE.tokenizer(spec)) for spec in SPECS]
    for character in map(chr, CODE_POINTS):
        text = f"x{character}y"
        for spec, tokenizer in tokenizers:
            words = [(word, *place) for word, place in tokenizer.pre_tokenize(text)]
            if words != REFERENCE.words(spec, text):
                yield character
                break


@cache
def agreed() -> str:
    """Return the characters that laws may draw."""
    return "".join(c for c in map(chr, CODE_POINTS) if c not in disagreeing())


def agreed_in(*ranges: tuple[int, int]) -> str:
    """Return the characters of some ranges that laws may draw; ranges include both ends."""
    return "".join(c for c in agreed() if any(low <= ord(c) <= high for low, high in ranges))
