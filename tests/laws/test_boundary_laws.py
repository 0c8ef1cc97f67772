"""Words with boundaries: learners learn from the parts, and no entry crosses a boundary."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import astuple
from functools import reduce
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import ArgumentError, TrainingError
from piecework.reference import boundaries as reference
from piecework.train import (
    LEARNERS,
    ByteUnigramTrainer,
    CharTrainer,
    Merges,
    Pruning,
    SentencePieceTrainer,
    Trainer,
    UnigramTrainer,
    WordPieceTrainer,
)
from piecework.train.learners import SCORES
from piecework.train.trainer import by_characters
from tests.engines import REFERENCE, Outcome
from tests.laws import test_bpe_training_laws, test_pruning_laws, test_resumed_learning_laws
from tests.laws.counting import compared, compares_some
from tests.laws.strategies import pruning_settings, train_settings

NAMES = [*SCORES, *(name for name in LEARNERS if name != Merges.name)]
Bounded = list[tuple[str, tuple[int, ...], int]]
MARKER = "ǀ"

patiently = settings(suppress_health_check=[HealthCheck.too_slow], max_examples=200)


def bounded_words(words: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[Bounded]:
    """Draw words with boundaries and counts; a word can occur again with other boundaries."""
    text = st.text("ab", min_size=1, max_size=7) | st.text("abcdé", min_size=1, max_size=6)
    return st.lists(
        (words or text).flatmap(
            lambda word: st.tuples(
                st.just(word),
                st.sets(st.integers(1, max(len(word) - 1, 1)), max_size=3).map(
                    lambda at: tuple(sorted(one for one in at if one < len(word)))
                ),
                st.integers(1, 30),
            )
        ),
        min_size=1,
        max_size=9,
        unique_by=lambda row: row[:2],
    )


def counts_of(rows: Bounded, **columns: Any) -> pw.Counts:
    words, boundaries, counts = zip(*rows, strict=True)
    first = columns.get("first", list(range(len(rows))))
    return pw.Counts._of_columns(words, counts, first, None, boundaries)


def learned_wordpiece(rows: Bounded, how: dict[str, Any], num_threads: int = 1) -> Outcome | str:
    try:
        learned = WordPieceTrainer(**how).learn_vocabulary(counts_of(rows), num_threads=num_threads)
    except TrainingError as error:
        return str(error)
    compared()
    merges = [astuple(merge) for merge in learned.merges]
    return Outcome(list(learned.entries), merges, learned.stopped_early is not None)


def expected_wordpiece(rows: Bounded, how: dict[str, Any]) -> Outcome | str:
    parts = reference.parts(rows, prefix=how["continuing_subword_prefix"])
    try:
        return REFERENCE.learn(parts, how)
    except TrainingError as error:
        return str(error)


@pytest.mark.slow
@pytest.mark.parametrize("learner", NAMES)
@compares_some
@given(data=st.data(), rows=bounded_words())
@patiently
def test_wordpiece_learns_what_the_reference_learns(
    learner: str, data: st.DataObject, rows: Bounded
) -> None:
    how = data.draw(train_settings(learner))
    assert learned_wordpiece(rows, how) == expected_wordpiece(rows, how)


@pytest.mark.slow
@compares_some
@given(data=st.data(), how=pruning_settings(), num_threads=st.integers(1, 3))
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60)
def test_words_and_parts_that_begin_with_the_prefix_are_pruned_as_in_the_reference(
    data: st.DataObject, how: dict[str, Any], num_threads: int
) -> None:
    prefix = how["continuing_subword_prefix"]
    letters = st.sampled_from([*"ab#_", prefix or "a"])
    words = st.lists(letters, min_size=1, max_size=6).map("".join)
    rows = data.draw(bounded_words(words))
    assert learned_wordpiece(rows, how, num_threads) == expected_wordpiece(rows, how)


@compares_some
@given(rows=bounded_words(), how=test_bpe_training_laws.train_settings)
@settings(max_examples=400)
def test_bpe_learns_what_the_reference_learns(rows: Bounded, how: dict[str, Any]) -> None:
    affixes = how["continuing_subword_prefix"], how["end_of_word_suffix"]
    parts = reference.parts(rows, prefix=affixes[0], suffix=affixes[1])
    expected = test_bpe_training_laws.learned_by_reference(parts, how)
    assert test_bpe_training_laws.learned_from(counts_of(rows), how) == expected


OTHERS: dict[str, Callable[[int], Trainer]] = {
    "unigram": lambda size: UnigramTrainer(size, character_coverage=1.0),
    "unigram by pruning": lambda size: UnigramTrainer(size, learner=Pruning()),
    "byte-unigram": lambda size: by_characters(ByteUnigramTrainer(size + 256)),
    "char": CharTrainer,
    "sentencepiece unigram": lambda size: SentencePieceTrainer(
        vocab_size=size, hard_vocab_limit=False
    ),
    "sentencepiece bpe": lambda size: SentencePieceTrainer(
        vocab_size=size, model_type="bpe", hard_vocab_limit=False
    ),
    "sentencepiece char": lambda size: SentencePieceTrainer(vocab_size=size, model_type="char"),
}


@pytest.mark.parametrize("name", OTHERS)
@given(rows=bounded_words(st.text("▁abcd", min_size=1, max_size=8)), size=st.integers(9, 40))
@settings(max_examples=100)
def test_models_without_affixes_learn_from_the_parts(name: str, rows: Bounded, size: int) -> None:
    trainer = OTHERS[name](size)
    parts, counts = zip(*reference.parts(rows), strict=True)
    assert outcome(trainer, counts_of(rows)) == outcome(
        trainer, pw.Counts([str(part) for part in parts], counts)
    )


def outcome(trainer: Trainer, counts: pw.Counts) -> Any:
    try:
        return trainer.learn(counts)
    except TrainingError as error:
        return str(error)


@pytest.mark.parametrize("learner", NAMES)
@given(data=st.data(), rows=bounded_words())
@settings(max_examples=60)
def test_boundaries_in_no_word_change_nothing(
    learner: str, data: st.DataObject, rows: Bounded
) -> None:
    how = data.draw(train_settings(learner))
    words = list({word: (word, (), count) for word, _, count in rows}.values())
    plain = [(word, count) for word, _, count in words]
    assert learned_wordpiece(words, how) == test_pruning_laws.outcome_or_error(
        test_pruning_laws.CORE.learn, plain, how
    )


@pytest.mark.parametrize("learner", ["pruning", "top-down", "likelihood"])
@given(data=st.data(), rows=bounded_words(), num_threads=st.integers(2, 5))
@settings(max_examples=50)
def test_threads_change_nothing(
    learner: str, data: st.DataObject, rows: Bounded, num_threads: int
) -> None:
    how = data.draw(train_settings(learner))
    assert learned_wordpiece(rows, how, num_threads) == learned_wordpiece(rows, how)


@pytest.mark.parametrize("score", test_resumed_learning_laws.MERGING)
@given(data=st.data(), rows=bounded_words())
@settings(max_examples=40)
def test_an_interrupted_run_continues(
    tmp_path_factory: pytest.TempPathFactory, score: str, data: st.DataObject, rows: Bounded
) -> None:
    how = data.draw(train_settings("frequency" if score == "bpe" else score))
    trainer = test_resumed_learning_laws.trainer_of(score, how)
    counts, folder = counts_of(rows), tmp_path_factory.mktemp("checkpoint")
    try:
        expected = trainer.learn_vocabulary(counts)
    except TrainingError:
        return
    test_resumed_learning_laws.assert_it_continues(folder, data, counts, trainer, expected)


@given(st.lists(bounded_words(), min_size=2, max_size=4), st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_the_sum_of_shards_does_not_depend_on_their_order(
    shards: list[Bounded], random: Any
) -> None:
    totals: dict[tuple[str, tuple[int, ...]], int] = {}
    for word, at, count in (row for shard in shards for row in shard):
        totals[word, at] = totals.get((word, at), 0) + count
    whole = counts_of([(*key, count) for key, count in totals.items()], first=None)
    random.shuffle(shards)
    summed = reduce(pw.Counts.merge, (counts_of(shard, first=None) for shard in shards))
    assert summed == whole
    trainer = WordPieceTrainer(60, min_frequency=1)
    assert trainer.learn(summed) == trainer.learn(whole)


@given(bounded_words(), st.booleans())
def test_counts_with_boundaries_pickle_and_save(
    tmp_path_factory: Any, rows: Bounded, has_positions: bool
) -> None:
    counts = counts_of(rows, first=list(range(len(rows))) if has_positions else None)
    assert pickle.loads(pickle.dumps(counts)) == counts
    for suffix in ("tsv", "parquet"):
        path = tmp_path_factory.mktemp("counts") / f"counts.{suffix}"
        counts.save(path)
        loaded = pw.Counts.load(path)
        assert loaded == counts
        assert loaded._digest() == counts._digest()
        assert (loaded.first is None) == (counts.first is None)


@given(bounded_words(st.text("abcd", min_size=1, max_size=7)))
def test_a_marker_in_the_text_gives_the_same_boundaries(rows: Bounded) -> None:
    marked = [(MARKER.join(parts_of(word, at)), count) for word, at, count in rows]
    if not any(at for _, at, _ in rows):
        with pytest.raises(ArgumentError, match="boundary_marker"):
            pw.Counts(dict(marked)).with_boundary_marker(MARKER)
        return
    counts = pw.Counts(dict(marked)).with_boundary_marker(MARKER)
    assert counts == counts_of(rows)
    assert counts.words == [word for word, _, _ in rows]


def parts_of(word: str, boundaries: tuple[int, ...]) -> list[str]:
    return [word[start:end] for start, end in pairwise((0, *boundaries, len(word)))]


@pytest.mark.parametrize("learner", ["pruning", "likelihood", "frequency"])
@given(
    st.dictionaries(
        st.text("abcd", min_size=2, max_size=6), st.integers(1, 20), min_size=1, max_size=8
    )
)
@settings(max_examples=60)
def test_every_learned_entry_lies_within_a_part(learner: str, words: dict[str, int]) -> None:
    rows = [(word, (len(word) // 2,), count) for word, count in words.items()]
    chosen = Merges(learner) if learner in SCORES else LEARNERS[learner]()
    trainer = WordPieceTrainer(60, min_frequency=1, learner=chosen)
    heads = {row[0][: row[1][0]] for row in rows}
    tails = {row[0][row[1][0] :] for row in rows}
    for entry in set(trainer.learn(counts_of(rows)).vocab) - set(trainer.special_tokens):
        body = entry.removeprefix("##")
        if len(body) > 1:
            inside = (head.find(body, 1) > 0 for head in heads)
            found = any(body in tail for tail in tails) or any(inside)
            assert found if body != entry else any(head.startswith(entry) for head in heads)
