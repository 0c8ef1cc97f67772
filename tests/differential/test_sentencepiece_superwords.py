"""Models with pieces that cross spaces have the same ids in `sentencepiece`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import piecework as pw
from piecework.train import SentencePieceTrainer
from tests.data import corpora_dir, missing
from tests.differential import peer
from tests.differential.test_sentencepiece import HARD_TEXTS

sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")

TEXTS = [
    "It was the best of times, it was the worst of times; it was the age of wisdom.",
    "One of the dogs is in the house. Two of the cats don't care: 12 of the 30 went.",
    "Byl to jeden z nejlepších časů. Byl to jeden z nejhorších časů.",
    "Это был один из лучших дней, это был один из худших дней.",
] * 6
SETTINGS = [
    {},
    {"byte_fallback": True, "character_coverage": 0.98},
    {"treat_whitespace_as_suffix": True},
    {"remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True},
    {"cross_punctuation": False, "user_defined_symbols": ("<x>", "▁of", "a▁b")},
    {"normalization_rule_name": "nmt_nfkc_cf", "add_dummy_prefix": False, "max_words": None},
]


def trained(number: int) -> pw.Tokenizer:
    trainer = SentencePieceTrainer(
        model_type="bpe",
        vocab_size=620,
        transition=0.5,
        hard_vocab_limit=False,
        **SETTINGS[number],  # type: ignore[arg-type]
    )
    return pw.Tokenizer.train_from_iterator(TEXTS, trainer)


def assert_same_ids(tok: pw.Tokenizer, path: Path, texts: list[str]) -> None:
    tok.save(path)
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(path))
    again = pw.Tokenizer.load(path)
    for ids, mine, loaded, text in zip(
        theirs.encode(texts), tok.encode_batch(texts), again.encode_batch(texts), texts, strict=True
    ):
        assert list(mine.ids) == ids, text
        assert list(loaded.ids) == ids, text


def drawn_texts(number: int) -> list[str]:
    draw = random.Random(7)
    parts = [word for text in TEXTS[:4] for word in text.split(" ")]
    parts += [
        "é",
        "e\u0301",
        "漢字",
        "\u0915\u093f",
        "12",
        "!!\u0301",
        "'s",
        "\n",
        "<x>",
        "a b",
        "▁",
        "of▁",
    ]
    return [
        "".join(draw.choice(parts) + draw.choice([" ", " ", " ", "", "  "]) for _ in range(12))
        for _ in range(number)
    ]


@pytest.mark.parametrize("number", range(len(SETTINGS)))
def test_code_points_and_drawn_texts_have_the_same_ids(tmp_path: Path, number: int) -> None:
    """Every code point with one of the models, or with each of them if everything is asked for."""
    tok = trained(number)
    assert any("▁" in piece.strip("▁") for piece in tok.get_vocab())
    points = peer.code_points(number, len(SETTINGS)).replace("\0", "")
    lines = [f"of the{c} the of{c}{c} of {c} the {c}of the" for c in points]
    drawn = drawn_texts(100_000 if peer.FULL else 10_000)
    assert_same_ids(tok, tmp_path / "m.model", [*TEXTS[:4], *HARD_TEXTS, *lines, *drawn])


@pytest.mark.slow
def test_novels_have_the_same_ids(tmp_path: Path) -> None:
    folder = corpora_dir()
    if folder is None:
        pytest.skip(missing("corpora"))
    novels = sorted(folder.glob("*.txt"))
    lines = [line for path in novels for line in path.read_text(encoding="utf-8").splitlines()]
    trainer = SentencePieceTrainer(model_type="bpe", vocab_size=8_000, transition=0.75)
    tok = pw.Tokenizer.train_from_iterator(lines, trainer)
    assert_same_ids(tok, tmp_path / "m.model", lines)
