"""The BPE learner equals the reference for all settings."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import TrainingError
from piecework.reference import bpe_model
from piecework.reference import bpe_training as reference
from piecework.train import BPETrainer, ByteBPETrainer
from piecework.train.trainer import by_characters
from piecework.train.trainers.bpe import BYTE_ALPHABET
from tests.laws.counting import compared, compares_some

Words = list[tuple[str, int]]

word_counts = st.dictionaries(
    st.one_of(st.text("ab", min_size=1, max_size=9), st.text("abcdé", min_size=1, max_size=7)),
    st.integers(1, 30),
    min_size=1,
    max_size=10,
).map(lambda counts: list(counts.items()))

train_settings = st.fixed_dictionaries(
    {
        "vocab_size": st.integers(1, 60),
        "min_frequency": st.integers(0, 5),
        "limit_alphabet": st.none() | st.integers(1, 5),
        "initial_alphabet": st.sampled_from([(), ("a",), ("y", "z")]),
        "special_tokens": st.sampled_from([(), ("<unk>",), ("ab", "<s>"), ("a", "abc")]),
        "continuing_subword_prefix": st.sampled_from(["", "", "##"]),
        "end_of_word_suffix": st.sampled_from(["", "", "</w>"]),
        "max_token_length": st.none() | st.integers(1, 6),
        "ties": st.sampled_from(["lowest-ids", "greatest-strings", "first-seen"]),
        "alphabet_order": st.sampled_from(["sorted", "sorted", "first-seen", "given"]),
    }
)


def learned_by_core(words: Words, how: dict[str, Any]) -> Any:
    return learned_from(pw.Counts(*zip(*words, strict=True), first=list(range(len(words)))), how)


def learned_from(counts: pw.Counts, how: dict[str, Any]) -> Any:
    try:
        learned = BPETrainer(**how, unk_token=None).learn_vocabulary(counts)
    except TrainingError as error:
        return error.place
    merges = [(merge.left, merge.right) for merge in learned.merges]
    compared()
    return list(learned.entries), merges, [merge.pair_count for merge in learned.merges]


def learned_by_reference(words: Words, how: dict[str, Any]) -> Any:
    try:
        learned = reference.learn(words, reference.Settings(**how))
    except TrainingError as error:
        return error.place
    return learned.vocab, learned.merges, learned.pair_counts


@compares_some
@given(words=word_counts, how=train_settings)
@settings(max_examples=600)
def test_the_core_learns_what_the_reference_learns(words: Words, how: dict[str, Any]) -> None:
    assert learned_by_core(words, how) == learned_by_reference(words, how)


@given(words=word_counts, how=train_settings)
@settings(max_examples=200)
def test_encoding_replays_the_merges_of_training(words: Words, how: dict[str, Any]) -> None:
    how = how | {"vocab_size": 60, "limit_alphabet": None, "special_tokens": ()}
    counts = pw.Counts(*zip(*words, strict=True), first=list(range(len(words))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BPETrainer(**how, unk_token=None).learn(counts)
    tokenizer = pw.Tokenizer.from_spec(pw.TokenizerSpec(model))
    for word, _ in words:
        expected = [piece.token for piece in bpe_model.encode_word(word, model)]
        assert tokenizer.encode(word).tokens == expected


@given(st.lists(st.text(max_size=12), min_size=1, max_size=5), st.integers(0, 40))
@settings(max_examples=100)
def test_a_byte_level_tokenizer_decodes_every_text_to_itself(texts: list[str], merges: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tokenizer = pw.Tokenizer.train_from_iterator(
            ["a text to learn from", *texts], model="byte-bpe", vocab_size=257 + merges
        )
    for text in texts:
        assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_byte_trainer_is_the_character_trainer_over_the_byte_alphabet() -> None:
    trainer = ByteBPETrainer(vocab_size=300, max_token_length=4, special_tokens=("<s>",))
    same = asdict(by_characters(trainer))
    assert {name: same[name] for name in asdict(trainer)} == asdict(trainer)
    assert same["initial_alphabet"] == BYTE_ALPHABET
    assert same["unk_token"] is None
