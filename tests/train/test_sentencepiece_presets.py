"""Presets of SentencePiece: the kind they train, how they frame, what can be said otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
    tok.save(tmp_path / "tokenizer.piecework")
    assert pw.Tokenizer.load(tmp_path / "tokenizer.piecework") == tok


@pytest.mark.parametrize("kind", ["unigram", "bpe", "word", "char", "sentencepiece"])
def test_a_model_named_beside_the_preset_is_a_type_of_it(kind: str) -> None:
    settings: dict[str, Any] = {"vocab_size": 90, "hard_vocab_limit": False}
    by_kind = pw.Tokenizer.train_from_iterator(TEXTS, model=kind, preset="t5", **settings)
    type = "unigram" if kind == "sentencepiece" else kind
    assert by_kind.spec.model.kind == type  # type: ignore[union-attr]
    assert by_kind == pw.Tokenizer.train_from_iterator(
        TEXTS, preset="t5", model_type=type, **settings
    )


def test_other_models_take_pipelines_of_components_alone() -> None:
    for kind in ("wordpiece", "byte-bpe"):
        for preset in ("t5", SENTENCEPIECE_PRESETS["t5"]):
            with pytest.raises(
                pw.PieceworkError,
                match="preset: 't5' does not support model '.*'; use no model or one of unigram, bpe,",
            ):
                pw.Tokenizer.train_from_iterator(TEXTS, model=kind, preset=preset)
    with pytest.raises(
        pw.PieceworkError,
        match="special_tokens: is not a setting of model 'sentencepiece', which has model_type, vocab_size,",
    ):
        pw.Tokenizer.train_from_iterator(
            TEXTS, model="unigram", preset="t5", special_tokens=["<unk>"]
        )


def test_words_that_are_counted_for_a_preset_are_those_it_learns_from(tmp_path: Path) -> None:
    corpus, counts = tmp_path / "corpus.txt", tmp_path / "counts.tsv"
    corpus.write_text("\n".join(TEXTS))
    assert run(["count", str(corpus), "--preset", "t5", "-o", str(counts)]) == 0
    arguments = ["--preset", "t5", "--vocab-size", "60", "-o"]
    assert run(["train-sentencepiece", str(counts), *arguments, f"{tmp_path}/a.model"]) == 0
    assert run(["train-sentencepiece", str(corpus), *arguments, f"{tmp_path}/b.model"]) == 0
    assert (tmp_path / "a.model").read_bytes() == (tmp_path / "b.model").read_bytes()
    assert pw.count_files(corpus, preset="t5") == pw.Counts.load(counts)


def test_settings_override_those_of_the_preset() -> None:
    preset = SENTENCEPIECE_PRESETS["albert"]
    trainer = preset.trainer(pad_id=-1, unk_id=0, normalization_rule_name="identity")
    assert trainer.meta_pieces[0].text == "<unk>"
    assert trainer.normalizer.charsmap == b""


def test_a_trainer_takes_no_preset_beside_it() -> None:
    trainer = pw.train.SentencePieceTrainer(vocab_size=100)
    with pytest.raises(pw.PieceworkError, match="preset: must be None.*, not 't5'"):
        pw.Tokenizer.train_from_iterator(TEXTS, trainer, preset="t5")


def test_an_unknown_preset_of_sentencepiece_is_refused() -> None:
    with pytest.raises(
        pw.PieceworkError,
        match="preset: must be one of t5, llama, llama-superwords, albert, xlnet, not 'gpt2'",
    ):
        pw.Tokenizer.train_from_iterator(TEXTS, model="sentencepiece", preset="gpt2")


def test_the_command_line_takes_the_kind_from_the_preset(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(TEXTS))
    path = tmp_path / "llama.model"
    options = ["--preset", "llama", "--vocab-size", "300", "-o", str(path)]
    assert run(["train-sentencepiece", str(corpus), *options]) == 0
    model = pw.Tokenizer.load(path).spec.model
    assert (model.kind, model.byte_fallback) == ("bpe", True)  # type: ignore[union-attr]
    options = ["--model-type", "bpe", "--preset", "t5", "--vocab-size", "60", "-o"]
    assert run(["train-sentencepiece", str(corpus), *options, f"{tmp_path}/t.model"]) == 0
    assert pw.Tokenizer.load(tmp_path / "t.model").spec.model.kind == "bpe"  # type: ignore[union-attr]


def test_a_self_test_has_the_pieces_of_the_model_without_those_of_the_template() -> None:
    tok = pw.Tokenizer.train_from_iterator(
        ["hug pug", "hugs bug"] * 9, preset="llama", vocab_size=290, self_test_sample_size=2
    )
    assert isinstance(tok.spec.model, pw.spec.SentencePiece)
    assert len(tok.spec.model.self_test) == 2
    assert tok.encode("hug").tokens[0] == "<s>"
    for text, pieces in tok.spec.model.self_test:
        assert pieces.split(" ") == tok.encode(text, add_special_tokens=False).tokens
