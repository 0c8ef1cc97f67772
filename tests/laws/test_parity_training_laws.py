"""Parity-aware BPE equals the reference for all settings, sources and parallel texts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import TrainingError
from piecework.reference import bpe_training
from piecework.reference import parity_training as reference
from piecework.train import BPETrainer, ByteBPETrainer, Counts, SourceCounts, count_texts
from tests.laws.counting import compared, compares_some
from tests.laws.test_bpe_training_laws import Words, train_settings, word_counts
from tests.laws.test_resumed_learning_laws import assert_it_continues

corpora = st.integers(2, 3).flatmap(
    lambda sources: st.tuples(
        st.lists(word_counts, min_size=sources, max_size=sources),
        st.just([]) | st.lists(word_counts, min_size=sources, max_size=sources),
    )
)

parity_settings = st.fixed_dictionaries(
    {
        "parity_unit": st.sampled_from(["bytes", "characters", "words"]),
        "parity_window": st.none() | st.integers(1, 12),
        "global_merges": st.sampled_from([0, 0, 1, 5]),
    }
)


def source_counts(sources: Sequence[Words], parallel: Sequence[Words] = ()) -> SourceCounts:
    """Return counts whose sources are named by their numbers, with positions in files of their own."""
    made: list[dict[str, Counts]] = [{}, {}]
    for group, texts in zip(made, (sources, parallel), strict=True):
        for number, words in enumerate(texts):
            positions = [(number << 40) + at for at in range(len(words))]
            group[str(number)] = Counts(*zip(*words, strict=True), positions)  # type: ignore[arg-type]
    return SourceCounts(made[0], parallel=made[1])


def with_unit(parity: dict[str, Any], parallel: Sequence[Words]) -> dict[str, Any]:
    """Return the settings without the unit if there are parallel texts."""
    return parity | {"parity_unit": None} if parallel else parity


def learned_by_core(
    sources: Sequence[Words],
    parallel: Sequence[Words],
    how: dict[str, Any],
    parity: dict[str, Any],
) -> Any:
    trainer = BPETrainer(**how, **with_unit(parity, parallel), parity=True, unk_token=None)
    try:
        learned = trainer.learn_vocabulary(source_counts(sources, parallel))
    except TrainingError as error:
        return error.place
    merges = [(merge.left, merge.right) for merge in learned.merges]
    compared()
    return list(learned.entries), merges, [merge.pair_count for merge in learned.merges]


def learned_by_reference(
    sources: Sequence[Words],
    parallel: Sequence[Words],
    how: dict[str, Any],
    parity: dict[str, Any],
) -> Any:
    chosen, turns = bpe_training.Settings(**how), reference.Parity(**with_unit(parity, parallel))
    try:
        learned = reference.learn(sources, chosen, turns, parallel)
    except TrainingError as error:
        return error.place
    return learned.vocab, learned.merges, learned.pair_counts


@compares_some
@given(corpus=corpora, how=train_settings, parity=parity_settings)
@settings(max_examples=400)
def test_the_core_learns_what_the_reference_learns(
    corpus: tuple[list[Words], list[Words]], how: dict[str, Any], parity: dict[str, Any]
) -> None:
    assert learned_by_core(*corpus, how, parity) == learned_by_reference(*corpus, how, parity)


byte_texts = st.lists(st.text("abcéž語", min_size=1, max_size=20), min_size=1, max_size=4)


@given(texts=st.lists(byte_texts, min_size=2, max_size=3), parity=parity_settings)
@settings(max_examples=100)
def test_byte_level_text_is_measured_in_the_units_of_its_text(
    texts: list[list[str]], parity: dict[str, Any]
) -> None:
    counts = SourceCounts(
        {str(number): count_texts(lines, preset="gpt2") for number, lines in enumerate(texts)}
    )
    trainer = ByteBPETrainer(vocab_size=290, min_frequency=1, parity=True, **parity)
    learned = trainer.learn_vocabulary(counts)
    known = {field.name for field in fields(bpe_training.Settings)}
    how = {name: value for name, value in vars(trainer.by_characters()).items() if name in known}
    expected = reference.learn(
        [list(one) for one in counts.sources.values()],
        bpe_training.Settings(**how),
        reference.Parity(**parity, byte_level=True),
    )
    assert [(merge.left, merge.right) for merge in learned.merges] == expected.merges


@given(corpus=corpora, how=train_settings, parity=parity_settings, data=st.data())
@settings(max_examples=100)
def test_a_run_interrupted_at_any_merge_continues_to_the_same_result(
    tmp_path_factory: pytest.TempPathFactory,
    corpus: tuple[list[Words], list[Words]],
    how: dict[str, Any],
    parity: dict[str, Any],
    data: st.DataObject,
) -> None:
    counts = source_counts(*corpus)
    trainer = BPETrainer(**how, **with_unit(parity, corpus[1]), parity=True, unk_token=None)
    try:
        expected = trainer.learn_vocabulary(counts)
    except TrainingError:
        return
    folder = tmp_path_factory.mktemp("checkpoint")
    assert_it_continues(folder, data, counts, trainer, expected)


@given(corpus=corpora, how=train_settings)
@settings(max_examples=100)
def test_merges_of_all_sources_first_equal_those_of_plain_training(
    corpus: tuple[list[Words], list[Words]], how: dict[str, Any]
) -> None:
    counts = source_counts(*corpus)
    both = []
    unit = None if counts.parallel else "words"
    for parity in ({}, {"parity": True, "global_merges": 1000, "parity_unit": unit}):
        trainer = BPETrainer(**how, **parity, unk_token=None)  # type: ignore[arg-type]
        try:
            learned = trainer.learn_vocabulary(counts)
        except TrainingError as error:
            both.append((error.place, ()))
        else:
            both.append((learned.entries, learned.merges))
    assert both[0] == both[1]


def test_the_learned_bytes_equal_those_of_every_sharding() -> None:
    texts = {
        "en": ["the hug of the pug", "a hug, a pug and a bun"] * 3,
        "cs": ["žluťoučký kůň", "příliš žluťoučký"] * 2,
        "ja": ["吾輩は猫である", "名前はまだ無い"],
    }
    whole = SourceCounts({name: count_texts(lines, preset="gpt2") for name, lines in texts.items()})
    for step in (2, 3):
        shards = [
            {
                name: count_texts(lines[part::step] or [" "], preset="gpt2", num_threads=1 + part)
                for name, lines in texts.items()
                if lines[part::step]
            }
            for part in range(step)
        ]
        merged = shards[0]
        for shard in shards[1:]:
            merged = {
                name: merged[name] + shard[name] if name in shard else merged[name]
                for name in merged
            }
        assert SourceCounts(merged) == whole
        assert learned_hash(SourceCounts(merged)) == learned_hash(whole)
    assert learned_hash(whole) == LEARNED_HASH


def learned_hash(counts: SourceCounts) -> str:
    trainer = ByteBPETrainer(
        vocab_size=300, parity=True, parity_unit="characters", parity_window=10
    )
    learned = pw.Tokenizer.train_from_counts(counts, trainer)
    return hashlib.sha256(learned.to_str().encode()).hexdigest()


LEARNED_HASH = "aa7d23e7075801e0e8eab107388156b01a256bd33ac62e0a75560b06371bdbf2"
