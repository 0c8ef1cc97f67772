"""The pruning learner: equal to the reference, and independent of threads and of the order of words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from piecework.errors import TrainingError
from tests.engines import CORE, REFERENCE, Outcome
from tests.laws.counting import compared, compares_some
from tests.laws.strategies import Words, pruning_settings, word_counts

patiently = settings(suppress_health_check=[HealthCheck.too_slow], max_examples=25)


def outcome_or_error(learn: Any, *arguments: Any, **options: Any) -> Outcome | str:
    try:
        outcome: Outcome = learn(*arguments, **options)
    except TrainingError as error:
        return str(error)
    compared()
    return outcome


def words_with_prefixes(prefix: str) -> st.SearchStrategy[Words]:
    """Draw words of which some begin with the continuation prefix, or are it."""
    word = st.tuples(st.sampled_from(["", prefix]), st.text("ab#_", max_size=5)).map("".join)
    words = st.lists(word.filter(bool), min_size=1, max_size=8, unique=True)
    return words.flatmap(
        lambda words: st.tuples(*(st.tuples(st.just(w), st.integers(1, 9)) for w in words)).map(
            list
        )
    )


@pytest.mark.slow
@compares_some
@given(words=word_counts(), how=pruning_settings())
@patiently
def test_the_core_prunes_as_the_reference_does(words: Words, how: dict[str, Any]) -> None:
    expected = outcome_or_error(REFERENCE.learn, words, how)
    assert outcome_or_error(CORE.learn, words, how) == expected


@pytest.mark.slow
@compares_some
@given(data=st.data(), how=pruning_settings())
@patiently
def test_words_that_begin_with_the_prefix_are_pruned_alike(
    data: st.DataObject, how: dict[str, Any]
) -> None:
    words = data.draw(words_with_prefixes(how["continuing_subword_prefix"]))
    expected = outcome_or_error(REFERENCE.learn, words, how)
    assert outcome_or_error(CORE.learn, words, how) == expected


@given(words=word_counts(), how=pruning_settings(), num_threads=st.integers(2, 9), data=st.data())
@settings(max_examples=100)
def test_threads_and_the_order_of_words_change_nothing(
    words: Words, how: dict[str, Any], num_threads: int, data: st.DataObject
) -> None:
    # Without positions, the words seen first are the first ones of the counts.
    assume(how["alphabet_order"] != "first-seen")
    shuffled = data.draw(st.permutations(words))
    one = outcome_or_error(CORE.learn, words, how, num_threads=1)
    assert outcome_or_error(CORE.learn, shuffled, how, num_threads=num_threads) == one


@given(words=word_counts(), how=pruning_settings())
@settings(max_examples=100)
def test_the_size_is_met_unless_substrings_run_out(words: Words, how: dict[str, Any]) -> None:
    outcome = outcome_or_error(CORE.learn, words, how)
    if isinstance(outcome, Outcome):
        assert len(set(outcome.vocab)) == len(outcome.vocab) <= how["vocab_size"]
        assert outcome.stopped_early == (len(outcome.vocab) < how["vocab_size"])
        assert outcome.merges == []
