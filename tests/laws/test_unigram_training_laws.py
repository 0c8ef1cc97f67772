"""The Unigram learner equals the reference for all settings, scores to the last bit."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import TrainingError
from piecework.reference import unigram_training as reference
from piecework.reference.lattice import Lattice
from piecework.train import UnigramTrainer
from tests.laws.strategies import Words, word_counts

specials = st.sampled_from([("<unk>",), ("<unk>", "ab", "a"), ("<unk>", "abc", "é")])

train_settings = st.fixed_dictionaries(
    {
        "vocab_size": st.integers(4, 40),
        "special_tokens": specials,
        "user_defined_symbols": st.sampled_from([(), (), ("ab",), ("b", "bc", "aa")]),
        "character_coverage": st.sampled_from([1.0, 1.0, 0.9, 0.6]),
        "initial_alphabet": st.sampled_from([(), ("z", "a")]),
        "seed_vocab_size": st.sampled_from([None, 1_000_000, 12]),
        "count_exponent": st.sampled_from([1.0, 1.0, 0.8, 0.25]),
        "max_piece_length": st.sampled_from([16, 16, 5, 3, 2, 1]),
        "shrinking_factor": st.sampled_from([0.75, 0.5, 0.9]),
        "num_sub_iterations": st.integers(1, 3),
    }
)
thoroughly = settings(max_examples=500)


def counts_of(words: Words) -> pw.Counts:
    return pw.Counts([word for word, _ in words], [count for _, count in words])


def learned_by_core(words: Words, how: dict[str, Any], num_threads: int = 1) -> Any:
    try:
        learned = UnigramTrainer(**how).learn_pieces(counts_of(words), num_threads=num_threads)
    except TrainingError as error:
        return str(error)
    return list(learned.pieces)


def learned_by_reference(words: Words, how: dict[str, Any]) -> Any:
    try:
        return reference.learn(words, reference.Settings(**how))
    except TrainingError as error:
        return str(error)


def within_reach(words: Words, how: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with a vocabulary size that is large enough for the words."""
    refused = learned_by_core(words, how)
    if not isinstance(refused, str):
        return how
    found = re.search(r"at least (\d+)", refused)
    assert found is not None, refused
    return how | {"vocab_size": int(found[1])}


@pytest.mark.slow
@given(words=word_counts(), how=train_settings)
@thoroughly
def test_the_core_learns_what_the_reference_learns(words: Words, how: dict[str, Any]) -> None:
    assert learned_by_core(words, how) == learned_by_reference(words, how)
    how = within_reach(words, how)
    expected = learned_by_reference(words, how)
    assert learned_by_core(words, how) == expected
    assert len(expected) <= how["vocab_size"]
    if len(expected) < how["vocab_size"]:  # which is the largest vocabulary of these seeds
        seeds = how["seed_vocab_size"] or 16 * how["vocab_size"]
        largest = how | {"vocab_size": len(expected), "seed_vocab_size": seeds}
        assert learned_by_core(words, largest) == expected


@given(words=word_counts(), how=train_settings, num_threads=st.integers(2, 5))
@settings(max_examples=100)
def test_the_number_of_threads_changes_nothing(
    words: Words, how: dict[str, Any], num_threads: int
) -> None:
    assert learned_by_core(words, how, num_threads) == learned_by_core(words, how)


@given(words=word_counts(), how=train_settings, cut=st.integers(0, 15))
@settings(max_examples=100)
def test_merged_shards_give_the_same(words: Words, how: dict[str, Any], cut: int) -> None:
    shards = [shard for shard in (words[cut:], words[:cut], words[-1:]) if shard]
    whole: Counter[str] = sum((Counter(dict(shard)) for shard in shards), Counter())
    merged = counts_of(shards[0])
    for shard in shards[1:]:
        merged = merged.merge(counts_of(shard))
    trainer = UnigramTrainer(**within_reach(list(whole.items()), how))
    expected = trainer.learn(counts_of(list(whole.items())))
    assert trainer.learn(merged) == expected


@given(words=word_counts(), how=train_settings)
@settings(max_examples=100)
def test_steps_report_the_likelihood_of_the_reference(words: Words, how: dict[str, Any]) -> None:
    how |= {"character_coverage": 1.0, "user_defined_symbols": (), "special_tokens": ("<unk>",)}
    trainer = UnigramTrainer(**within_reach(words, how))
    first = trainer.learn_pieces(counts_of(words)).steps[0]
    seeds = reference.seeds(words, ["<unk>"], reference.Settings(**how))
    assert first.pieces == len(seeds)
    expected = reference.log_likelihood(words, seeds)
    assert math.isclose(first.log_likelihood, expected, rel_tol=1e-12, abs_tol=1e-9)


@given(words=word_counts())
@settings(max_examples=100)
def test_relative_expected_counts_never_lower_the_likelihood(words: Words) -> None:
    scores = reference.seeds(words, [], reference.Settings())
    before = reference.log_likelihood(words, scores)
    for _ in range(3):
        expected = reference.expect(words, scores)
        total = sum(expected.values())
        scores = {piece: math.log(n / total) for piece, n in expected.items() if n}
        after = reference.log_likelihood(words, scores)
        assert after >= before - 1e-6 * abs(before)
        before = after


@given(words=word_counts(), how=train_settings)
@settings(max_examples=100)
def test_encoding_takes_the_best_segmentation(words: Words, how: dict[str, Any]) -> None:
    how |= {"character_coverage": 1.0, "user_defined_symbols": (), "special_tokens": ("<unk>",)}
    model = UnigramTrainer(**within_reach(words, how)).learn(counts_of(words))
    tokenizer = pw.Tokenizer.from_spec(pw.TokenizerSpec(model))
    scores = dict(model.pieces)
    for word, _ in words:
        tokens = tokenizer.encode(word).tokens
        assert "".join(tokens) == word
        found = math.fsum(scores[token] for token in tokens)  # ties may differ in the last bit
        assert found == pytest.approx(Lattice(word, scores).best().score)
