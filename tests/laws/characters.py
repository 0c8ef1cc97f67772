"""The characters that the laws draw: those for which core and reference have equal Unicode tables.

The tables of the core are fixed; the reference uses those of the running Python. A character that one
of them does not know, or whose category changed, fails a law although the code is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import piecework as pw
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
BLOCK = 64


class Characters:
    """The characters, found on first use: this takes seconds, which no import should."""

    @cached_property
    def disagreeing(self) -> frozenset[str]:
        """The characters that core and reference split differently between two letters."""
        blocks = (CODE_POINTS[at : at + BLOCK] for at in range(0, len(CODE_POINTS), BLOCK))
        return frozenset(c for block in blocks for c in self._disagreeing_in([*map(chr, block)]))

    @cached_property
    def agreed(self) -> str:
        """The characters that laws may draw."""
        return "".join(c for c in map(chr, CODE_POINTS) if c not in self.disagreeing)

    def agreed_in(self, *ranges: tuple[int, int]) -> str:
        """Return the characters of some ranges that laws may draw; ranges include both ends."""
        return "".join(c for c in self.agreed if any(low <= ord(c) <= high for low, high in ranges))

    def _disagreeing_in(self, block: list[str]) -> Iterator[str]:
        """Split a block at once, and character by character only if the words of the block differ."""
        words = [f"x{character}y" for character in block]
        if self._differ(" ".join(words)):
            yield from (c for c, word in zip(block, words, strict=True) if self._differ(word))

    def _differ(self, text: str) -> bool:
        return any(
            [(word, *place) for word, place in tokenizer.pre_tokenize(text)]
            != REFERENCE.words(spec, text)
            for spec, tokenizer in self._tokenizers
        )

    @cached_property
    def _tokenizers(self) -> list[tuple[TokenizerSpec, pw.Tokenizer]]:
        return [(spec, CORE.tokenizer(spec)) for spec in SPECS]


CHARACTERS = Characters()
