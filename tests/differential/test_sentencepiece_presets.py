"""Presets train with what the published models say that they were trained with."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.compat.sentencepiece import SentencePieceProcessor
from piecework.train import NormalizationRules
from piecework.train.sentencepiece_presets import SENTENCEPIECE_PRESETS, preprocessing_rules
from tests import data
from tests.differential.wire import fields

# Llama's own file is not published freely; Mistral's says the same settings.
PUBLISHED = {
    "t5": ("t5/spiece.model", 3),
    "albert": ("albert-v2/spiece.model", 13),
    "xlnet": ("xlnet/spiece.model", 17),
    "llama": ("mistral/tokenizer.model.v1", 259),
}
TEXTS = [
    "The 1st café, 2025, (naïve) – 25 £.  Two  spaces\n",
    "``Quoted'' text – the end.",
    "Ｆｕｌｌ",
] * 20
# Numbers of the fields of the trainer and of the normalizer in a .model.
TRAINER = {
    "model_type": 3,
    "vocab_size": 4,
    "character_coverage": 10,
    "input_sentence_size": 11,
    "split_digits": 25,
    "allow_whitespace_only_pieces": 26,
    "control_symbols": 30,
    "user_defined_symbols": 31,
    "byte_fallback": 35,
    "unk_id": 40,
    "bos_id": 41,
    "eos_id": 42,
    "pad_id": 43,
}
DEFAULTS: dict[str, list[Any]] = {
    "split_digits": [0],
    "allow_whitespace_only_pieces": [0],
    "byte_fallback": [0],
    "unk_id": [0],
    "bos_id": [1],
    "eos_id": [2],
    "pad_id": [2**64 - 1],
}


def published(name: str) -> Path:
    return data.need(f"vocab/{PUBLISHED[name][0]}")


@cache
def small(name: str) -> pw.Tokenizer:
    trainer = SENTENCEPIECE_PRESETS[name].trainer(vocab_size=330, hard_vocab_limit=False)
    return pw.Tokenizer.train_from_iterator(TEXTS, trainer)


def part(model: bytes, number: int) -> list[tuple[int, Any]]:
    return [field for key, value in fields(model) if key == number for field in fields(value)]


@pytest.mark.parametrize("name", PUBLISHED)
def test_settings_equal_those_of_the_published_file(name: str) -> None:
    trainer = SENTENCEPIECE_PRESETS[name].trainer()
    kinds = {"unigram": 1, "bpe": 2}
    theirs = part(published(name).read_bytes(), 2)
    for setting, number in TRAINER.items():
        said = [value for key, value in theirs if key == number] or DEFAULTS.get(setting, [])
        own = getattr(trainer, setting)
        if setting == "model_type":
            own = kinds[own]
        listed = [text.encode() for text in own] if isinstance(own, tuple) else [own]
        expected = [
            value - 2**64 if isinstance(value, int) and value > 2**63 else value for value in said
        ]
        assert (
            listed == pytest.approx(expected)
            if setting == "character_coverage"
            else listed == expected
        ), setting


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_first_pieces_equal_those_of_the_published_file(name: str, tmp_path: Path) -> None:
    count = PUBLISHED[name][1]
    theirs = pw.Tokenizer.load(published(name)).spec.model.pieces[:count]  # type: ignore[union-attr]
    small(name).save(tmp_path / "m.model")
    ours = pw.Tokenizer.load(tmp_path / "m.model").spec.model.pieces[:count]  # type: ignore[union-attr]
    assert [(piece.text, piece.type) for piece in ours] == [(one.text, one.type) for one in theirs]


@pytest.mark.parametrize("name", PUBLISHED)
def test_texts_are_normalized_as_by_the_published_model(name: str, tmp_path: Path) -> None:
    """But for what was done to the texts of XLNet and ALBERT before."""
    small(name).save(tmp_path / "m.model")
    ours = SentencePieceProcessor(model_file=tmp_path / "m.model")
    theirs = SentencePieceProcessor(model_file=published(name))
    before = {"albert": str.lower}.get(name, str)
    for text in ("Two  spaces ", "Ｆｕｌｌ ① x", "25 a1", "\ttab\n"):
        assert ours.normalize(text) == theirs.normalize(before(text)), text


def test_albert_and_xlnet_drop_accents_and_double_quotes() -> None:
    assert small("albert").normalize("``É''  E\u0301 naïve") == '▁"e"▁e▁naive'
    assert small("xlnet").normalize("``É''  E\u0301 naïve") == '▁"E"▁E▁naive'


def test_preprocessing_rules_equal_normalizers_followed_by_rules() -> None:
    before = SENTENCEPIECE_PRESETS["albert"].preprocessing
    rules, after = preprocessing_rules(before), NormalizationRules.named("nmt_nfkc")
    vocab = pw.spec.Char({"[UNK]": 0})
    normalizer = pw.spec.SequenceNormalizer(before)
    first = pw.Tokenizer(vocab, normalizer=normalizer)
    for code in range(1, 0x110000):
        if not 0xD800 <= code < 0xE000:
            c = chr(code)
            assert rules.normalize(c) == after.normalize(first.normalize(c)), hex(code)
    for text in ("E\u0323\u0301", "각", "ｶﾞ", "İΣς", "\u1112\u1161\u11ab"):
        assert rules.normalize(text) == after.normalize(first.normalize(text)), text


def test_llama_spells_digits_spaces_and_bytes() -> None:
    tok = small("llama")
    assert tok.encode("2025").tokens[-4:] == ["2", "0", "2", "5"]
    assert tok.decode(tok.encode("  two  spaces  漢").ids) == "  two  spaces  漢"
