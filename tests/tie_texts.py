"""Texts on which segmentations of a Unigram model have equal scores but for rounding.

The same pieces in another order have the same exact sum: `▁4|00|0` and `▁4|0|00`. The order and the width of
the additions decide which one wins. Digits, repeated letters and syllables, and words of few letters make
such ties common; prose hardly ever has one.
"""

from __future__ import annotations

import random
from collections.abc import Callable

SYLLABLES = "ba na an to la ing in er re st le co ss th lo ve al on 0 00 000 10 99".split()
ALPHABETS = ["01", "09", "ab", "aeo", "th", "nas", "xyz", "0123", "0123456789", "ol", "st", "an0"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
OTHERS = ["é", "ー", "。", "の", "漢", "-", ".", "=", "_", "!", "*", "ha", "ß", "ő"]
JOINTS = ["", "", "", ",", ".", "-", "/", ":", "x", "é", "漢"]


def tie_texts(count: int, seed: int = 0) -> list[str]:
    """Return `count` texts of one to six words, the same for the same seed."""
    draw = random.Random(seed)
    return [
        " ".join(tie_word(draw) for _ in range(draw.choice((1, 1, 2, 3, 6)))) for _ in range(count)
    ]


def tie_word(draw: random.Random) -> str:
    """Return a word of one to three parts, each rich in ties."""
    parts = [draw.choice(PARTS)(draw) for _ in range(draw.choice((1, 1, 2, 3)))]
    return draw.choice(JOINTS).join(parts)


def digits(draw: random.Random) -> str:
    return str(draw.randrange(10 ** draw.randint(1, 14)))


def round_number(draw: random.Random) -> str:
    return str(draw.randint(1, 99)) + "0" * draw.randint(1, 12)


def grouped_number(draw: random.Random) -> str:
    return f"{draw.randrange(10 ** draw.randint(4, 12)):,}"


def repeated_letter(draw: random.Random) -> str:
    return draw.choice(LETTERS) * draw.randint(2, 14)


def repeated_syllable(draw: random.Random) -> str:
    return draw.choice(SYLLABLES) * draw.randint(2, 7)


def mixed_syllables(draw: random.Random) -> str:
    return "".join(draw.choices(SYLLABLES, k=draw.randint(2, 7)))


def few_letters(draw: random.Random) -> str:
    return "".join(draw.choices(draw.choice(ALPHABETS), k=draw.randint(2, 18)))


def repeated_other(draw: random.Random) -> str:
    return draw.choice(OTHERS) * draw.randint(2, 9)


def drawn_out_word(draw: random.Random) -> str:
    """A word of two letters that are held, as in `nooooo`."""
    return draw.choice(LETTERS) + draw.choice("aeiouhmrsz") * draw.randint(3, 16)


PARTS: list[Callable[[random.Random], str]] = [
    digits,
    round_number,
    grouped_number,
    repeated_letter,
    repeated_syllable,
    mixed_syllables,
    few_letters,
    repeated_other,
    drawn_out_word,
]
