"""Superwords of SentencePiece in use: errors, the preset, saved files, and the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.errors import ArgumentError, TrainingError, TrainingWarning
from piecework.train import SENTENCEPIECE_PRESETS, SentencePieceTrainer
from tests.processes import run_command
from tests.train.test_superwords import TEXTS

NAME = "llama-superwords"
TRAINER = SentencePieceTrainer(model_type="bpe", vocab_size=150, transition=115)


@pytest.fixture(scope="module")
def tok() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(TEXTS, TRAINER)


def test_pieces_cross_spaces(tok: pw.Tokenizer) -> None:
    assert "▁of▁the" in tok.encode("one of the cats, in the house").tokens
    assert tok.decode(tok.encode("one of the dogs").ids) == "one of the dogs"


def test_the_model_says_that_its_pieces_cross_spaces(tok: pw.Tokenizer, tmp_path: Path) -> None:
    model = pytest.importorskip("sentencepiece.sentencepiece_model_pb2").ModelProto()
    tok.save(tmp_path / "m.model")
    model.ParseFromString((tmp_path / "m.model").read_bytes())
    assert not model.trainer_spec.split_by_whitespace
    assert model.trainer_spec.max_sentencepiece_length == 16


def test_counts_of_words_are_refused_with_what_to_count() -> None:
    words = replace(TRAINER, transition=None)
    counts = pw.count_texts(TEXTS, preset=words.pipeline)
    expected = "counts: have words of .* count again with preset=trainer.pipeline"
    with pytest.raises(ArgumentError, match=expected):
        TRAINER.learn(counts)
    with pytest.raises(ArgumentError, match="counts: have words of"):
        pw.Tokenizer.train_from_counts(counts, TRAINER)
    llama = pw.count_texts(TEXTS, preset="llama")
    with pytest.raises(ArgumentError, match=f"use counts made with preset '{NAME}'"):
        pw.Tokenizer.train_from_counts(llama, SENTENCEPIECE_PRESETS[NAME].trainer(vocab_size=400))


@pytest.mark.parametrize("model_type", ["unigram", "word", "char"])
def test_only_bpe_has_superwords(model_type: Any) -> None:
    with pytest.raises(
        ArgumentError, match=f"transition, model_type: needs .* 'bpe', not '{model_type}'"
    ):
        SentencePieceTrainer(model_type=model_type, transition=100)


def test_the_first_pieces_do_not_cross_spaces() -> None:
    with pytest.raises(ArgumentError, match="transition, split_by_whitespace: cannot be combined"):
        replace(TRAINER, split_by_whitespace=False)


@pytest.mark.parametrize("transition", [150, 500])
def test_a_transition_is_below_the_size(transition: int) -> None:
    with pytest.raises(ArgumentError, match="transition: must be less than 150, the vocab_size"):
        replace(TRAINER, transition=transition)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5, float("nan")])
def test_a_share_is_between_0_and_1(share: float) -> None:
    with pytest.raises(ArgumentError, match="or a share above 0 and below 1"):
        replace(TRAINER, transition=share)


def test_a_transition_out_of_reach_is_named_and_a_share_is_not() -> None:
    trainer = replace(TRAINER, vocab_size=4_000, transition=3_500)
    counts = pw.count_texts(TEXTS, preset=trainer.pipeline)
    with pytest.raises(
        TrainingError, match=r"^transition: must be at most \d+, the pieces that the"
    ):
        trainer.learn(counts)
    with pytest.raises(TrainingError, match="transition: must be at least"):
        replace(trainer, transition=9).learn(counts)
    with pytest.warns(TrainingWarning, match="the corpus has no more pieces"):
        model = replace(trainer, transition=0.9).learn(counts)
    assert "▁of▁the" in model.vocab


def test_a_trace_of_training_with_superwords_has_the_pieces() -> None:
    counts = pw.count_texts(TEXTS, preset=TRAINER.pipeline)
    assert pw.analysis.explain_training(counts, TRAINER).vocab == tuple(TRAINER.learn(counts).vocab)


def test_words_and_punctuation_are_limited() -> None:
    corpus = [text.replace("one of the", "One of the") for text in TEXTS]

    def longest(**how: Any) -> set[str]:
        trainer = replace(TRAINER, vocab_size=400, transition=110, hard_vocab_limit=False, **how)
        tok = pw.Tokenizer.train_from_iterator(corpus, trainer)
        return {piece for piece in tok.get_vocab() if "▁" in piece[1:]}

    assert any("," in piece for piece in longest())
    assert not any("," in piece for piece in longest(cross_punctuation=False))
    assert max(piece.strip("▁").count("▁") for piece in longest(max_words=2)) == 1
    assert not longest(max_words=1)
    assert not any(c.isdigit() for piece in longest() for c in piece)


def test_the_preset_counts_and_learns(tmp_path: Path) -> None:
    corpus, counts = tmp_path / "corpus.txt", tmp_path / "counts.tsv"
    corpus.write_text("\n".join(TEXTS), encoding="utf-8")
    run_command("count", corpus, "--preset", NAME, "-o", counts)
    more = ["--preset", NAME, "--vocab-size", "420", "-o"]
    run_command("train-sentencepiece", counts, *more, tmp_path / "a.model")
    run_command("train-sentencepiece", corpus, *more, tmp_path / "b.model")
    assert (tmp_path / "a.model").read_bytes() == (tmp_path / "b.model").read_bytes()
    tok = pw.Tokenizer.load(tmp_path / "a.model")
    assert "▁of▁the" in tok.get_vocab()
    again = pw.Tokenizer.train_from_counts(pw.Counts.load(counts), preset=NAME, vocab_size=420)
    assert again.get_vocab() == tok.get_vocab()


def test_the_command_line_takes_a_share_or_a_number(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(TEXTS), encoding="utf-8")
    for transition, name in (("115", "a"), ("0.5", "b")):
        given = ["--model-type", "bpe", "--vocab-size", "150", "--max-words", "2"]
        output = tmp_path / f"{name}.model"
        run_command("train-sentencepiece", corpus, *given, "--transition", transition, "-o", output)
        assert "▁of▁the" in pw.Tokenizer.load(output).get_vocab()
