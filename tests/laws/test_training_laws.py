"""The WordPiece learners equal the reference: every score, all settings, any number of threads."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import TrainingError, TrainingWarning
from piecework.train import LEARNERS, Merges
from piecework.train.learners import SCORES
from tests.differential import peer
from tests.engines import CORE, REFERENCE, Outcome
from tests.laws.counting import compared, compares_some
from tests.laws.strategies import Words, train_settings, word_counts

NAMES = [*SCORES, *(name for name in LEARNERS if name != Merges.name)]

patiently = settings(
    suppress_health_check=[HealthCheck.too_slow], max_examples=300 if peer.FULL else 120
)


def outcome_or_error(learn: Any, *arguments: Any, **options: Any) -> Outcome | str:
    try:
        outcome: Outcome = learn(*arguments, **options)
    except TrainingError as error:
        return str(error)
    compared()
    return outcome


@pytest.mark.slow
@pytest.mark.parametrize("learner", NAMES)
@compares_some
@given(data=st.data(), words=word_counts())
@patiently
def test_the_core_learns_what_the_reference_learns(
    learner: str, data: st.DataObject, words: Words
) -> None:
    how = data.draw(train_settings(learner))
    expected = outcome_or_error(REFERENCE.learn, words, how)
    assert outcome_or_error(CORE.learn, words, how) == expected


@pytest.mark.parametrize("learner", NAMES)
@given(data=st.data(), words=word_counts(), num_threads=st.integers(2, 9))
@settings(max_examples=50)
def test_the_number_of_threads_changes_nothing(
    learner: str, data: st.DataObject, words: Words, num_threads: int
) -> None:
    how = data.draw(train_settings(learner))
    one = outcome_or_error(CORE.learn, words, how, num_threads=1)
    assert outcome_or_error(CORE.learn, words, how, num_threads=num_threads) == one


MERGING: dict[str, Any] = {
    "bpe": pw.BPETrainer(min_frequency=1),
    "bpe-first-seen": pw.BPETrainer(min_frequency=1, ties="first-seen"),
    "sentencepiece": pw.SentencePieceTrainer(model_type="bpe", hard_vocab_limit=False),
    "unigram": pw.UnigramTrainer(),
    "superwords": pw.ByteBPETrainer(min_frequency=1, transition=0.9),
    **{score: pw.WordPieceTrainer(learner=Merges(score=score)) for score in SCORES},
}


@pytest.mark.parametrize("trainer", MERGING.values(), ids=MERGING)
@given(seed=st.integers(0, 2**32), letters=st.integers(2, 9), number=st.integers(6000, 9000))
@settings(max_examples=4, suppress_health_check=[HealthCheck.too_slow])
def test_one_two_three_and_eight_threads_learn_the_same_from_many_words(
    trainer: Any, seed: int, letters: int, number: int
) -> None:
    choose = random.Random(seed)
    words = {
        "".join(choose.choices("abcdefghi"[:letters], k=choose.randint(1, 14))): 1
        + choose.getrandbits(6)
        for _ in range(number)
    }
    if trainer.kind == "byte-bpe":
        of_three = zip(*[iter(words)] * 3, strict=False)
        counts = pw.count_texts([" ".join(three) for three in of_three], preset="o200k-superwords")
    else:
        counts = pw.Counts(list(words), list(words.values()), first=range(len(words)))
    trainer = replace(trainer, vocab_size=700)
    learn = getattr(trainer, "learn_vocabulary", trainer.learn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        one, *others = (learn(counts, num_threads=n) for n in (1, 2, 3, 8))
    assert others == [one] * 3


@pytest.mark.parametrize("learner", NAMES)
@given(data=st.data(), words=word_counts())
@settings(max_examples=50)
def test_the_vocabulary_never_exceeds_its_size_and_repeats_nothing(
    learner: str, data: st.DataObject, words: Words
) -> None:
    how = data.draw(train_settings(learner))
    outcome = outcome_or_error(CORE.learn, words, how)
    if isinstance(outcome, Outcome):
        assert len(set(outcome.vocab)) == len(outcome.vocab) <= how["vocab_size"]
        assert outcome.stopped_early == (len(outcome.vocab) < how["vocab_size"])


# ---- counts


@st.composite
def counts(draw: st.DrawFn) -> pw.Counts:
    words = draw(st.lists(st.text("ab", min_size=1, max_size=2), unique=True, max_size=6))
    number = st.integers(1, 2**40)
    sources = draw(st.sampled_from([(0, 1), (2, 3), (1, 4)]))
    position = st.builds(
        lambda source, byte: (source << 40) + byte, st.sampled_from(sources), number
    )
    first = draw(st.none() | st.just([draw(position) for _ in words]))
    return pw.Counts(words, [draw(number) for _ in words], first=first)


def sources_of(counts: pw.Counts) -> set[int]:
    """The sources of the first positions of counts that have them."""
    assert counts.first is not None
    return {first >> 40 for first in counts.first.tolist()}


@given(word_counts())
def test_a_sum_of_one_source_is_ordered_by_count_then_code_points(words: Words) -> None:
    given = pw.Counts([word for word, _ in words], [count for _, count in words])
    doubled = [(word, 2 * count) for word, count in words]
    assert list(given) == words
    assert list(given + given) == sorted(doubled, key=lambda item: (-item[1], item[0]))


@given(counts(), counts())
def test_merging_counts_is_commutative(a: pw.Counts, b: pw.Counts) -> None:
    assert a.merge(b) == b.merge(a)


@given(counts(), counts(), counts())
def test_merging_counts_is_associative(a: pw.Counts, b: pw.Counts, c: pw.Counts) -> None:
    assert a.merge(b).merge(c) == a.merge(b.merge(c))


@given(counts(), counts())
def test_merging_adds_counts_and_keeps_comparable_positions(a: pw.Counts, b: pw.Counts) -> None:
    merged = a.merge(b)
    assert dict(merged) == dict(Counter(dict(a)) + Counter(dict(b)))
    if a.first is None or b.first is None or sources_of(a) & sources_of(b):
        assert len(merged) == 0 or merged.first is None
        return
    places: dict[str, int] = {}
    for part in (a, b):
        assert part.first is not None
        for word, first in zip(part.words, part.first.tolist(), strict=True):
            places[word] = min(first, places.get(word, first))
    assert merged.first is not None
    assert dict(zip(merged.words, merged.first.tolist(), strict=True)) == places
    assert merged.words == sorted(merged.words, key=lambda word: (places[word], word))


@given(st.lists(st.text("ab .", max_size=12), max_size=6), st.integers(1, 5))
def test_counting_words_is_the_same_for_any_number_of_threads(
    texts: list[str], num_threads: int
) -> None:
    found = pw.count_texts(texts, preset="bert-cased", num_threads=num_threads)
    assert list(found) == REFERENCE.count_words(texts, "bert-cased")
