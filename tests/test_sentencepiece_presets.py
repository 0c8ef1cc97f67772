"""Presets of SentencePiece: the kind they train, how they frame, what can be said otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

import piecework as pw
from piecework.cli.app import run
from piecework.train import SENTENCEPIECE_PRESETS

TEXTS = ["The 1st café, 2025 (naïve) – 25 £.", "Quoted text – the end."] * 20


@pytest.mark.parametrize(
    ("name", "tokens", "of_a_pair"),
    [
        ("t5", ["▁Quoted", "▁text", "</s>"], [0, 0, 0, 0]),
        ("llama", ["<s>", "▁Quoted", "▁text"], [0, 0, 0, 0]),
        ("albert", ["[CLS]", "▁quoted", "▁text", "[SEP]"], [0, 0, 0, 1, 1]),
        ("xlnet", ["▁Quoted", "▁text", "<sep>", "<cls>"], [0, 0, 1, 1, 2]),
    ],
)
def test_a_name_alone_trains_a_framed_model(
    name: str, tokens: list[str], of_a_pair: list[int], tmp_path: Path
) -> None:
    tok = pw.Tokenizer.train_from_iterator(
        TEXTS, preset=name, vocab_size=330, hard_vocab_limit=False
    )
    assert tok.encode("Quoted text").tokens == tokens
    assert tok.encode("text", "text").type_ids == of_a_pair
    assert tok.spec.model.kind == SENTENCEPIECE_PRESETS[name].trainer().model_type  # type: ignore[union-attr]
    tok.save(tmp_path / "m.model")
    loaded = pw.Tokenizer.load(tmp_path / "m.model")
    unframed = tok.encode("Quoted text", add_special_tokens=False).ids
    assert loaded.encode("Quoted text").ids == unframed
    tok.save(tmp_path / "tokenizer.json")
    assert pw.Tokenizer.load(tmp_path / "tokenizer.json") == tok


def test_the_same_name_is_a_pipeline_for_other_models() -> None:
    tok = pw.Tokenizer.train_from_iterator(TEXTS, model="unigram", preset="t5", vocab_size=60)
    assert isinstance(tok.spec.model, pw.spec.Unigram)


def test_settings_go_before_those_of_the_preset() -> None:
    preset = SENTENCEPIECE_PRESETS["albert"]
    trainer = preset.trainer(pad_id=-1, unk_id=0, normalization_rule_name="identity")
    assert trainer.meta_pieces[0].text == "<unk>"
    assert trainer.normalizer.charsmap == b""


def test_a_trainer_takes_no_preset_beside_it() -> None:
    trainer = pw.train.SentencePieceTrainer(vocab_size=100)
    with pytest.raises(pw.PieceworkError, match="preset: found 't5', expected None"):
        pw.Tokenizer.train_from_iterator(TEXTS, trainer, preset="t5")


def test_an_unknown_preset_of_sentencepiece_is_refused() -> None:
    with pytest.raises(pw.PieceworkError, match="'gpt2', expected one of t5, llama, albert, xlnet"):
        pw.Tokenizer.train_from_iterator(TEXTS, model="sentencepiece", preset="gpt2")


def test_the_command_line_takes_the_kind_from_the_preset(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(TEXTS))
    path = tmp_path / "llama.model"
    options = ["train", str(corpus), "--preset", "llama", "--vocab-size", "300", "-o", str(path)]
    assert run(options) == 0
    model = pw.Tokenizer.load(path).spec.model
    assert (model.kind, model.byte_fallback) == ("bpe", True)  # type: ignore[union-attr]
    json = [
        "--model",
        "unigram",
        "--preset",
        "t5",
        "--vocab-size",
        "60",
        "-o",
        f"{tmp_path}/t.json",
    ]
    assert run(["train", str(corpus), *json]) == 0
    assert isinstance(pw.Tokenizer.load(tmp_path / "t.json").spec.model, pw.spec.Unigram)
