"""SentencePiece models are learned as in the reference: words, allowed pieces, merges."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework._internal._core import LearningLog
from piecework.reference import sentencepiece_training as reference
from piecework.reference import unigram_pruning
from piecework.reference.unigram_training import around_symbols
from piecework.train import Pruning, SentencePieceTrainer
from piecework.train.trainer import traits_of
from piecework.train.trainers.sentencepiece_settings import SENTENCEPIECE_TYPES
from tests.laws.counting import compared, compares_some

# Several scripts, ASCII and full-width digits, an inherited script, the long vowel, spaces.
CHARACTERS = "aab b1２я漢か\u0301ー.  "
TEXTS = st.lists(st.text(CHARACTERS, max_size=24), min_size=1, max_size=8)
FLAGS = ("split_by_unicode_script", "split_by_number", "split_digits", "split_by_whitespace")
FLAGS += ("allow_whitespace_only_pieces", "treat_whitespace_as_suffix")
SHAPES = st.fixed_dictionaries(
    {flag: st.booleans() for flag in FLAGS} | {"max_sentencepiece_length": st.integers(1, 6)}
)


def trainer_of(shape: dict[str, Any], **settings: Any) -> SentencePieceTrainer:
    """Return a trainer whose only normalization is ▁ for spaces."""
    plain = {
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "character_coverage": 1.0,
        "hard_vocab_limit": False,
    }
    return SentencePieceTrainer(**{**plain, "vocab_size": 60, **shape, **settings})


def normalized(text: str, shape: dict[str, Any]) -> str:
    if not text:
        return ""
    marked = text.replace(" ", "▁")
    return f"{marked}▁" if shape["treat_whitespace_as_suffix"] else f"▁{marked}"


def words_of(texts: list[str], shape: dict[str, Any]) -> Counter[str]:
    sentences = [normalized(text, shape) for text in texts]
    return Counter(
        word for text in sentences for word in reference.words(text, reference.Shape(**shape))
    )


def learned(trainer: SentencePieceTrainer, texts: list[str]) -> list[str]:
    counts = pw.count_texts(texts, preset=trainer.pipeline, sentences=trainer.sentences)
    return [piece for piece, _ in trainer.learn_pieces(counts).pieces]


@given(TEXTS, SHAPES)
def test_words_equal_the_reference(texts: list[str], shape: dict[str, Any]) -> None:
    trainer = trainer_of(shape)
    counts = pw.count_texts(texts, preset=trainer.pipeline)
    assert dict(counts) == dict(words_of(texts, shape))


@given(TEXTS, SHAPES)
@settings(max_examples=300)
def test_bpe_merges_equal_the_reference(texts: list[str], shape: dict[str, Any]) -> None:
    words = words_of(texts, shape)
    assume(words)
    pieces = learned(trainer_of(shape, model_type="bpe"), texts)
    alphabet = set("".join(words))
    room = 60 - 3 - len(alphabet)
    joins = reference.bpe(words, room, reference.Shape(**shape))
    assert pieces[: -len(alphabet)] == joins
    assert set(pieces[-len(alphabet) :]) == alphabet


@given(TEXTS, SHAPES, st.sampled_from(["unigram", "bpe"]), st.sampled_from(["", "a", "b1"]))
@settings(max_examples=300)
def test_no_learned_piece_breaks_the_rules(
    texts: list[str], shape: dict[str, Any], kind: str, delimiter: str
) -> None:
    assume(words_of(texts, shape))
    settings: dict[str, Any] = {
        "user_defined_symbols": ("bя",),
        "pretokenization_delimiter": delimiter,
    }
    try:
        pieces = learned(trainer_of(shape, model_type=kind, **settings), texts)
    except pw.errors.TrainingError:
        assume(False)
    assert len(set(pieces)) == len(pieces)
    longer = [piece for piece in pieces if len(piece) > 1]
    rules = reference.Shape(**shape)
    assert [piece for piece in longer if not reference.allows(piece, rules)] == []
    assert [piece for piece in longer if "bя" in piece or (delimiter and delimiter in piece)] == []


@st.composite
def pruning_trainers(draw: st.DrawFn) -> SentencePieceTrainer:
    """Draw a trainer that prunes, with symbols and every rule for pieces."""
    learner = Pruning(
        balance=draw(st.sampled_from([0.0, 0.0, 2.0])),
        max_use_cost=draw(st.sampled_from([None, None, 0.3])),
        seed_vocab_size=draw(st.none() | st.integers(40, 200)),
    )
    return trainer_of(
        draw(SHAPES),
        vocab_size=draw(st.integers(14, 40)),
        hard_vocab_limit=None,
        user_defined_symbols=draw(st.sampled_from([(), ("bя",), ("a", "b1")])),
        num_sub_iterations=draw(st.integers(1, 3)),
        learner=learner,
    )


@pytest.mark.slow
@compares_some
@given(TEXTS, pruning_trainers())
@settings(max_examples=300)
def test_pieces_by_pruning_equal_the_reference(
    texts: list[str], trainer: SentencePieceTrainer
) -> None:
    shape = {name: getattr(trainer, name) for name in (*FLAGS, "max_sentencepiece_length")}
    words = words_of(texts, shape)
    assume(words)
    symbols = [piece.text for piece in trainer.meta_pieces.values()]
    assert trainer.learner is not None
    how = unigram_pruning.PrunedSettings(
        vocab_size=trainer.vocab_size,
        special_tokens=symbols,
        character_coverage=1.0,
        max_piece_length=trainer.max_sentencepiece_length,
        num_sub_iterations=trainer.num_sub_iterations,
        **vars(trainer.learner),
    )
    parts = around_symbols(sorted(words.items()), symbols)
    rules = reference.Shape(**shape)
    try:
        pieces = unigram_pruning.learn(parts, how, lambda piece: reference.allows(piece, rules))
    except pw.errors.TrainingError:
        assume(False)
    counts = pw.count_texts(texts, preset=trainer.pipeline)
    expected = [(piece, float(np.float32(score))) for piece, score in pieces[len(symbols) :]]
    assert list(trainer.learn_pieces(counts).pieces) == expected
    compared()


@compares_some
@given(TEXTS, pruning_trainers(), st.data())
def test_pruning_continues_after_any_choice(
    texts: list[str], trainer: SentencePieceTrainer, data: st.DataObject
) -> None:
    counts, log = pw.count_texts(texts, preset=trainer.pipeline), LearningLog()
    # With another limit, a size that is too large is learned in a second run.
    trainer = replace(trainer, hard_vocab_limit=False)
    try:
        expected = trainer._run(counts, 1, progress=None, log=log)
    except (pw.errors.TrainingError, pw.errors.CorpusError):
        assume(False)
    choices = log.choices()
    continued = LearningLog(choices=choices[: data.draw(st.integers(0, len(choices)))])
    again = trainer._run(counts, 2, progress=None, log=continued)
    assert (again.pieces, again.steps) == (expected.pieces, expected.steps)
    assert continued.choices().tolist() == choices.tolist()
    compared()


@pytest.mark.slow
@pytest.mark.parametrize(
    "trainer",
    [
        *(SentencePieceTrainer(kind, 60, False) for kind in SENTENCEPIECE_TYPES),  # type: ignore[arg-type]
        SentencePieceTrainer("unigram", 60, False, learner=Pruning()),
    ],
    ids=lambda trainer: traits_of(trainer).detail,
)
@given(TEXTS)
def test_threads_change_nothing(trainer: SentencePieceTrainer, texts: list[str]) -> None:
    counts = [pw.count_texts(texts, preset=trainer.pipeline, num_threads=n) for n in (1, 3)]
    assume(len(counts[0]))
    one, three = (trainer.learn(of, num_threads=n) for of, n in zip(counts, (1, 3), strict=True))
    assert one == three


def test_the_reference_knows_every_setting_of_the_shape() -> None:
    known = {field.name for field in fields(SentencePieceTrainer)}
    assert {field.name for field in fields(reference.Shape)} <= known
