"""Random texts that show a divergence, to tell a survivor from a divergence that no text may show."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator, Sequence
from functools import partial

from piecework.reference.patterns import token_bytes
from piecework.spec import ByteLevel, TokenizerSpec

from .engine import Row
from .mutants import pre_tokenizers_of

# Characters of every kind that stages tell apart, and some texts that patterns know.
CHARACTERS = (
    "aZéßİſK\u212aΣσςЙйअकि각가\u1112\u1161\u11ab中㐀𠀀豈かがｶﾞﬁ①²½٣१Ⅷ５019"
    "\u0301\u0323\u0302\u0345\u05bf\u093e\u0e31\u20dd\u302e"
    " \t\n\r\u0085\u00a0\u2003\u3000\u200b\u200d\ufeff\u00ad\u0007"
    ".,!?'’\"-_/\\$€+<>|«。、😀\U0001f1e9▁Ġ"
)
PHRASES = (
    "'s",
    "'S",
    "'ſ",
    "'ll",
    "'LL",
    "  ",
    "    ",
    "\n\n",
    " \n",
    "aaa",
    "aaaa",
    "000",
    "...",
    "ΑΣ",
    "İI",
)
LONG = ("é" * 60, "a" * 101, "中" * 40, "й" * 99)
MOST_PARTS = 8
REPEATED = 0.1


def texts_for(spec: TokenizerSpec, seed: int) -> Iterator[str]:
    """Yield random texts of characters, phrases, added tokens and entries of a vocabulary."""
    draw = random.Random(seed)
    contents = [token.content for token in spec.added_tokens[:50]]
    others = (str.lower, str.upper, partial(unicodedata.normalize, "NFD"))
    added = [*contents, *(other(content) for other in others for content in contents)]
    is_bytes = any(isinstance(one, ByteLevel) for one in pre_tokenizers_of(spec))
    entries = [decoded(entry, is_bytes) for entry in spec.model.vocab]
    pools: list[Sequence[str]] = [CHARACTERS, CHARACTERS, CHARACTERS, PHRASES, entries]
    pools += [added] * bool(added)
    while True:
        if draw.random() < 0.02:
            yield draw.choice(LONG)
        parts = [draw.choice(draw.choice(pools)) for _ in range(draw.randint(1, MOST_PARTS))]
        times = [draw.randint(2, MOST_PARTS) if draw.random() < REPEATED else 1 for _ in parts]
        yield "".join(part * number for part, number in zip(parts, times, strict=True))


def decoded(entry: str, is_bytes: bool) -> str:
    """Return the text of an entry."""
    text = token_bytes(entry).decode(errors="ignore") if is_bytes else entry
    return text.replace("▁", " ").removeprefix("##").removesuffix("</w>")


def rows_for(spec: TokenizerSpec, seed: int, number: int) -> list[Row]:
    """Return rows of random texts: alone, in pairs, truncated, with special tokens as text."""
    draw, texts = random.Random(seed), texts_for(spec, seed)
    rows: list[Row] = []
    for _ in range(number):
        row = {"text": next(texts), "add_special_tokens": True, "parse_special": True}
        kind = draw.random()
        if kind < 0.1:
            row["pair"] = next(texts)
        elif kind < 0.2:
            row |= {"pair": next(texts), "truncation": {"max_length": draw.randint(6, 12)}}
        elif kind < 0.3:
            row["parse_special"] = False
        rows.append(row)
    return rows
