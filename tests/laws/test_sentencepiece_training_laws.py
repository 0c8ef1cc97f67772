"""SentencePiece models are learned as in the reference: words, allowed pieces, merges."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.reference import sentencepiece_training as reference
from piecework.train import SentencePieceTrainer

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


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["unigram", "bpe", "word", "char"])
@given(TEXTS)
def test_threads_change_nothing(kind: str, texts: list[str]) -> None:
    trainer = SentencePieceTrainer(model_type=kind, vocab_size=60, hard_vocab_limit=False)  # type: ignore[arg-type]
    counts = [pw.count_texts(texts, preset=trainer.pipeline, num_threads=n) for n in (1, 3)]
    assume(len(counts[0]))
    one, three = (trainer.learn(of, num_threads=n) for of, n in zip(counts, (1, 3), strict=True))
    assert one == three


def test_the_reference_knows_every_setting_of_the_shape() -> None:
    known = {field.name for field in fields(SentencePieceTrainer)}
    assert {field.name for field in fields(reference.Shape)} <= known
