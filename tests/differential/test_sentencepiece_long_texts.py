"""Long texts are segmented as `sentencepiece` segments them: without a single space, and with scores
that grow large among characters that models do not know.

PIECEWORK_FULL=1 takes a megabyte of the first, ten times as many of the second, by every model.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.differential.test_sentencepiece import MODELS, both

pytest.importorskip("sentencepiece")

FULL = bool(os.environ.get("PIECEWORK_FULL"))
SIZE = 1_000_000 if FULL else 60_000
SOME = ("t5", "albert-v2", "mistral", "tensorflow-text")
TAKEN = [path for path in MODELS if FULL or path.parent.name in SOME]


def drawn(letters: str) -> str:
    return "".join(random.Random(3).choices(letters, k=SIZE))


TEXTS = {
    "one letter": "a" * SIZE,
    "two letters": "ab" * (SIZE // 2),
    "letters": drawn("abcdefghijklmnopqrstuvwxyz"),
    "likely letters": drawn("eeeeetttaaooinshr"),
    "digits": drawn("0123456789"),
    "Han": drawn("".join(map(chr, range(0x4E00, 0x9000)))),
    "kana": drawn("あいうえおかきくけこさしすせそのはがをにへとでもなるた"),
    "NUL": "\0" * SIZE,
    "marks": "a" + "\u0301" * SIZE,
    "dots": "." * SIZE,
}


@pytest.mark.skipif(not MODELS, reason="no published models here: see tests/data.py")
@pytest.mark.parametrize("path", TAKEN, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_long_texts_without_spaces_have_the_same_ids(path: Path) -> None:
    ours, theirs = both(path)
    for name, text in TEXTS.items():
        ids = ours.encode_batch([text])[0].ids
        assert ids == theirs.encode(text), name
        assert ours.decode(ids) == theirs.decode(ids), name


def mixed(size: int, seed: int) -> str:
    """Words of characters that few models know, of repeated letters, which make ties, and of common ones."""
    draw = random.Random(seed)

    def part() -> str:
        kind = draw.random()
        if kind < 0.35:
            return "".join(
                chr(draw.randrange(0x4E00, 0x9000)) for _ in range(draw.randrange(1, 12))
            )
        if kind < 0.6:
            return draw.choice("NOIEMaeon") * draw.randrange(2, 6)
        letters = "абвгдежиотекамлри" if kind < 0.8 else "etaoinshr"
        return "".join(draw.choices(letters, k=draw.randrange(1, 9)))

    words: list[str] = []
    while sum(map(len, words)) < size:
        words += ["".join(part() for _ in range(draw.randrange(1, 5))) for _ in range(100)]
    return " ".join(words)


@pytest.mark.slow
@pytest.mark.skipif(not MODELS, reason="no published models here: see tests/data.py")
@pytest.mark.parametrize("path", TAKEN, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_long_texts_of_unknown_characters_have_the_same_ids(path: Path) -> None:
    ours, theirs = both(path)
    texts = [mixed(30_000, seed) for seed in range(200 if FULL else 20)]
    assert ours.encode_batch(texts).to_lists() == theirs.encode(texts)
