"""Unigram pieces by pruning equal the reference, on any number of threads and after any stop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework._internal._core import LearningLog
from piecework.errors import TrainingError
from piecework.reference import unigram_pruning as reference
from piecework.train import ByteUnigramTrainer, Pruning, UnigramTrainer
from piecework.train.trainer import by_characters
from tests.differential import peer
from tests.laws.counting import compared, compares_some
from tests.laws.strategies import Words, word_counts

patiently = settings(
    suppress_health_check=[HealthCheck.too_slow], max_examples=40 if peer.FULL else 20
)


@st.composite
def trainers(draw: st.DrawFn) -> UnigramTrainer:
    """Draw every setting that pieces by pruning depend on."""
    size = draw(st.integers(4, 40))
    learner = Pruning(
        balance=draw(st.sampled_from([0.0, 0.0, 0.5, 2.0])),
        max_use_cost=draw(st.sampled_from([None, None, 0.3, 1.5])),
        segmentation=draw(st.sampled_from(["greedy", "shortest"])),
    )
    return UnigramTrainer(
        vocab_size=size,
        special_tokens=draw(st.sampled_from([("<unk>",), ("<unk>", "ab", "a")])),
        user_defined_symbols=draw(st.sampled_from([(), (), ("ab",), ("b", "bc", "aa")])),
        character_coverage=draw(st.sampled_from([1.0, 1.0, 0.9, 0.6])),
        initial_alphabet=draw(st.sampled_from([(), ("z", "a")])),
        seed_vocab_size=draw(st.none() | st.integers(size, 8 * size)),
        max_piece_length=draw(st.sampled_from([16, 16, 5, 3, 2, 1])),
        num_sub_iterations=draw(st.integers(1, 3)),
        count_exponent=draw(st.sampled_from([1.0, 1.0, 0.8])),
        learner=learner,
    )


def counts_of(words: Words) -> pw.Counts:
    return pw.Counts([word for word, _ in words], [count for _, count in words])


def learned_by_core(words: Words, trainer: Any, num_threads: int = 1) -> Any:
    try:
        learned = trainer.learn_pieces(counts_of(words), num_threads=num_threads)
    except TrainingError as error:
        return str(error)
    compared()
    return list(learned.pieces)


def learned_by_reference(words: Words, trainer: UnigramTrainer) -> Any:
    given = {**vars(trainer.learner), **vars(trainer)}
    del given["learner"], given["unk_token"]
    try:
        return reference.learn(words, reference.PrunedSettings(**given))
    except TrainingError as error:
        return str(error)


@pytest.mark.slow
@compares_some
@given(words=word_counts(), trainer=trainers())
@patiently
def test_the_core_learns_what_the_reference_learns(words: Words, trainer: UnigramTrainer) -> None:
    assert learned_by_core(words, trainer) == learned_by_reference(words, trainer)


def test_a_special_token_takes_the_place_of_no_piece() -> None:
    words = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]
    for special in ("hug", "hu", "u"):
        trainer = UnigramTrainer(12, special_tokens=("<unk>", special), learner=Pruning())
        pieces = learned_by_core(words, trainer)
        assert pieces == learned_by_reference(words, trainer)
        assert len(pieces) == 12


@given(words=word_counts(), trainer=trainers(), num_threads=st.integers(2, 9), data=st.data())
@settings(max_examples=100)
def test_threads_and_the_order_of_words_change_nothing(
    words: Words, trainer: UnigramTrainer, num_threads: int, data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(words))
    one = learned_by_core(words, trainer)
    assert learned_by_core(shuffled, trainer, num_threads) == one


@given(words=word_counts(), trainer=trainers())
@settings(max_examples=100)
def test_the_size_is_met_unless_substrings_run_out(words: Words, trainer: UnigramTrainer) -> None:
    pieces = learned_by_core(words, trainer)
    if isinstance(pieces, str):
        assert pieces.startswith("vocab_size: must be at least ")
        return
    assert len(dict(pieces)) == len(pieces) <= trainer.vocab_size
    if len(pieces) < trainer.vocab_size:
        larger = replace(trainer, vocab_size=trainer.vocab_size + 5, seed_vocab_size=None)
        assert len(learned_by_core(words, larger)) == len(pieces)


@compares_some
@given(words=word_counts(), trainer=trainers(), data=st.data())
@settings(max_examples=100)
def test_a_run_interrupted_after_any_choice_continues_to_the_same_result(
    words: Words, trainer: UnigramTrainer, data: st.DataObject
) -> None:
    counts, log = counts_of(words), LearningLog()
    try:
        expected = trainer._run(counts, trainer.vocab_size, 1, progress=None, log=log)
    except TrainingError:
        return
    choices = log.choices()
    made = data.draw(st.integers(0, len(choices)))
    continued = LearningLog(choices=choices[:made])
    again = trainer._run(counts, trainer.vocab_size, 2, progress=None, log=continued)
    assert (again.pieces, again.steps) == (expected.pieces, expected.steps)
    assert continued.choices().tolist() == choices.tolist()
    compared()


@given(words=word_counts())
@settings(max_examples=30)
def test_pieces_of_bytes_are_those_over_the_byte_level_alphabet(words: Words) -> None:
    texts = [word for word, count in words for _ in range(min(count, 3))]
    counts = pw.count_texts(texts, preset="gpt2")
    trainer = ByteUnigramTrainer(vocab_size=262, learner=Pruning())
    assert trainer.learn_pieces(counts) == by_characters(trainer).learn_pieces(counts)
    found = learned_by_reference(list(counts), by_characters(trainer))
    assert list(trainer.learn_pieces(counts).pieces) == found
