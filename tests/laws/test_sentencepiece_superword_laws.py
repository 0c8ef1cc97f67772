"""Superwords of SentencePiece: sequences of words, what is learned from them, and what a text gives."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import TrainingError
from piecework.reference import sentencepiece_training
from piecework.reference import superwords as reference
from piecework.reference.sentencepiece_training import Shape
from piecework.reference.superwords import Superwords
from piecework.train import SentencePieceTrainer
from piecework.train.checkpoints import LearningCheckpoint
from tests.laws.counting import compared, compares_some
from tests.laws.interruptions import continues_after_any_merge
from tests.laws.test_sentencepiece_training_laws import normalized, trainer_of

PARTS = ["of", "the", "a", "Bo", "b,", "é", "e\u0301", "'s", ",", ".", "!!", "-", "—"]
RARE = ["1", "b2", "２", "½", "漢か", "я", "ー", "  ", "\u0903", "<x>", "<x>a"]
TEXTS = st.lists(st.sampled_from([*PARTS, *PARTS, *RARE]), max_size=16).flatmap(
    lambda parts: st.lists(
        st.sampled_from([" ", " ", " ", ""]), min_size=len(parts), max_size=len(parts)
    ).map(lambda spaces: "".join(map("".join, zip(parts, spaces, strict=True))))
)
CORPORA = st.lists(
    TEXTS | st.lists(st.sampled_from(["a", "of", "the", "b,"]), max_size=12).map(" ".join),
    min_size=1,
    max_size=6,
)
FLAGS = ("split_by_unicode_script", "split_by_number", "split_digits")
FLAGS += ("allow_whitespace_only_pieces", "treat_whitespace_as_suffix")
SHAPES = st.fixed_dictionaries(
    {flag: st.booleans() for flag in FLAGS}
    | {"max_sentencepiece_length": st.sampled_from([3, 6, 16])}
)
LIMITS = st.fixed_dictionaries(
    {"max_words": st.sampled_from([None, 1, 2, 4]), "cross_punctuation": st.booleans()}
)
SIZE = 90


def superword_trainer(shape: dict[str, Any], transition: float, **how: Any) -> SentencePieceTrainer:
    settings = {"model_type": "bpe", "vocab_size": SIZE, "transition": transition, **how}
    return trainer_of(shape, **settings)


def counted(trainer: SentencePieceTrainer, texts: list[str], **how: Any) -> pw.Counts:
    return pw.count_texts(texts, preset=trainer.pipeline, sentences=trainer.sentences, **how)


def sequences_of(texts: list[str], shape: dict[str, Any]) -> Counter[str]:
    sentences = [normalized(text, shape) for text in texts]
    return Counter(part for text in sentences for part in reference.sequences(text, Shape(**shape)))


def trained(corpus: list[str], shape: dict[str, Any], **how: Any) -> pw.Tokenizer:
    """Train with a few pieces of single words and all pieces of sequences."""
    trainer = superword_trainer(shape, 0.1, **{"vocab_size": 160, **how})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pw.Tokenizer.train_from_counts(counted(trainer, corpus), trainer)


@given(CORPORA, SHAPES)
def test_sequences_equal_the_reference(texts: list[str], shape: dict[str, Any]) -> None:
    assert dict(counted(superword_trainer(shape, 20), texts)) == dict(sequences_of(texts, shape))


@given(CORPORA, SHAPES)
def test_sequences_have_the_words_of_the_text_and_those_of_letters_are_parts(
    texts: list[str], shape: dict[str, Any]
) -> None:
    trainer = superword_trainer(shape, 20, cross_punctuation=False)
    counts = counted(trainer, texts)
    assume(len(counts))
    words, letters = (pw.Counts._of(raw, None) for raw in trainer._words_and_sequences(counts))  # type: ignore[arg-type]
    assert dict(words) == dict(counted(trainer_of(shape), texts))
    expected: Counter[str] = Counter()
    for text, number in counts:
        for part in reference.sequences(text, Shape(**shape), cross_punctuation=False):
            expected[part] += number
    assert dict(letters) == dict(expected)


@compares_some
@given(CORPORA, SHAPES, LIMITS, st.integers(0, 25) | st.sampled_from([0.05, 0.4, 0.8, 0.999]))
@settings(max_examples=200)
def test_the_core_learns_what_the_reference_learns(
    texts: list[str], shape: dict[str, Any], limits: dict[str, Any], given_first: float
) -> None:
    sequences = sequences_of(texts, shape)
    assume(sequences)
    alphabet = set("".join(sequences))
    room = SIZE - 3 - len(alphabet)
    is_exact = isinstance(given_first, int)
    transition = 3 + len(alphabet) + given_first if is_exact else given_first
    trainer = superword_trainer(shape, transition, **limits)
    counts = counted(trainer, texts)
    first = given_first if is_exact else max(0, room - round((1 - given_first) * (SIZE - 3)))
    limited = Superwords(int(first), is_exact, **limits)
    try:
        expected = reference.learn_pieces(sequences, room, Shape(**shape), limited)
    except TrainingError:
        with pytest.raises(TrainingError, match="transition: must be at most"):
            trainer.learn_pieces(counts)
        return
    pieces = [piece for piece, _ in trainer.learn_pieces(counts).pieces]
    assert pieces[: len(expected)] == expected
    assert set(pieces[len(expected) :]) == alphabet
    compared()


@given(CORPORA, st.lists(TEXTS, max_size=4), SHAPES, LIMITS)
@settings(max_examples=150)
def test_a_text_has_the_tokens_of_its_sequences(
    corpus: list[str], texts: list[str], shape: dict[str, Any], limits: dict[str, Any]
) -> None:
    corpus = ["of the, of the of a", *corpus]
    tok = trained(corpus, shape, **limits, user_defined_symbols=("<x>",))
    for text in (*corpus, *texts):
        parts = reference.sequences(normalized(text, shape), Shape(**shape))
        assert "".join(parts) == normalized(text, shape)
        known = tok.spec.model.vocab
        apart = [token for part in parts for token in reference_tokens(part, tok)]
        found = tok.encode(text).tokens
        if all(c in known for c in normalized(text, shape)):
            assert found == apart


def reference_tokens(part: str, tok: pw.Tokenizer) -> list[str]:
    """Return the tokens of a part of a normalized text, by the reference."""
    model = tok.spec.model
    return [piece.token for piece in reference.sentencepiece_model.bpe(part, model)]  # type: ignore[arg-type]


@given(CORPORA, SHAPES, LIMITS)
@settings(max_examples=100)
def test_pieces_keep_the_rules(
    corpus: list[str], shape: dict[str, Any], limits: dict[str, Any]
) -> None:
    tok = trained(["of the, of the of a", *corpus], shape, **limits)
    rules = Shape(**shape)
    for piece in tok.spec.model.pieces[3:]:  # type: ignore[union-attr]
        if len(piece.text) == 1 or sentencepiece_training.allows(piece.text, rules):
            continue
        assert reference.allows(piece.text, rules, Superwords(0, **limits)), piece
        if not limits["cross_punctuation"] and "▁" in piece.text.strip("▁"):
            assert len(reference.sequences(piece.text, rules, cross_punctuation=False)) == 1


@compares_some
@given(CORPORA, SHAPES, st.data())
@settings(max_examples=100)
def test_a_run_interrupted_at_any_merge_continues_to_the_same_result(
    corpus: list[str], shape: dict[str, Any], data: st.DataObject
) -> None:
    transition = data.draw(st.sampled_from([0.1, 0.5, 0.9, 40]))
    trainer = superword_trainer(shape, transition)
    counts = counted(trainer, ["of the of the", *corpus])
    continues_after_any_merge(trainer, counts, data)


def test_a_checkpoint_continues_from_a_file(tmp_path: Path) -> None:
    trainer = superword_trainer({}, 0.5)
    counts = counted(trainer, ["of the of the cat of the dog in the end"] * 3)
    expected = trainer.learn_pieces(counts)
    run = LearningCheckpoint(tmp_path, counts, trainer)
    trainer._run(counts, 1, progress=None, log=run.log)
    run.write()
    assert LearningCheckpoint(tmp_path, counts, trainer).is_resumed
    assert trainer.learn_pieces(counts, checkpoint=tmp_path) == expected
    assert not list(tmp_path.iterdir())


@given(CORPORA, SHAPES, st.integers(1, 5), st.integers(1, 3))
@settings(max_examples=40)
def test_shards_and_threads_give_the_model_of_the_whole(
    corpus: list[str], shape: dict[str, Any], parts: int, num_threads: int
) -> None:
    texts = ["of the of the", *corpus]
    trainer = superword_trainer(shape, 0.5)
    shards = [counted(trainer, texts[at::parts], num_threads=num_threads) for at in range(parts)]
    whole = counted(trainer, texts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = (trainer.learn(counts) for counts in (whole, sum(shards)))
    assert one == other
