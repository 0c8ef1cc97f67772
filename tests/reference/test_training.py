"""The learners of the reference against their definitions and `tokenizers`."""

from __future__ import annotations

import json
import math
from collections import Counter

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from piecework.errors import TrainingError
from piecework.reference.wordpiece_model import greedy
from piecework.reference.wordpiece_top_down import learn_top_down
from piecework.reference.wordpiece_training import (
    MergeSettings,
    Settings,
    Split,
    apply_merge,
    candidate_merges,
    entry_counts,
    initial_splits,
    learn,
)
from piecework.spec import WordPiece

corpora = st.dictionaries(
    st.text("abc", min_size=1, max_size=8), st.integers(1, 9), min_size=1, max_size=8
).map(lambda counts: list(counts.items()))


def log_likelihood(splits: list[Split]) -> float:
    counts: Counter[str] = entry_counts(splits)
    total = sum(counts.values())
    return sum(count * math.log(count / total) for count in counts.values())


@given(corpora)
def test_likelihood_score_is_the_gain_in_log_likelihood(words: list[tuple[str, int]]) -> None:
    how = MergeSettings(score="likelihood", min_frequency=1)
    splits = initial_splits(words, how)
    for join in candidate_merges(splits, how):
        joined = [(apply_merge(entries, join), count) for entries, count in splits]
        gain = log_likelihood(joined) - log_likelihood(splits)
        assert join.score == pytest.approx(gain, abs=1e-6)


@given(corpora, st.integers(6, 30), st.integers(0, 4))
def test_frequency_without_a_prefix_is_the_byte_pair_encoding_of_tokenizers(
    words: list[tuple[str, int]], vocab_size: int, min_frequency: int
) -> None:
    model = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="[UNK]"))
    model.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=["[UNK]"],
        show_progress=False,
    )
    model.train_from_iterator([word for word, count in words for _ in range(count)], trainer)
    published = json.loads(model.to_str())["model"]
    learned = learn(
        words,
        MergeSettings(
            vocab_size=vocab_size,
            score="frequency",
            min_frequency=min_frequency,
            special_tokens=["[UNK]"],
            continuing_subword_prefix="",
        ),
    )
    assert [[join.left, join.right] for join in learned.merges] == published["merges"]
    assert {entry: number for number, entry in enumerate(learned.vocab)} == published["vocab"]


@given(corpora, st.integers(8, 30))
def test_top_down_splits_every_word_and_fills_the_vocabulary(
    words: list[tuple[str, int]], vocab_size: int
) -> None:
    how = Settings(vocab_size=vocab_size, min_frequency=1, special_tokens=[])
    learned = learn_top_down(words, how)
    assert (len(learned.vocab) == vocab_size) == (learned.stopped_early is None)
    model = WordPiece({entry: number for number, entry in enumerate(learned.vocab)})
    assert all(greedy(word, model) is not None for word, _ in words)


@given(corpora, st.sampled_from(["pmi", "likelihood", "frequency"]), st.integers(1, 4))
def test_no_token_is_longer_than_the_limit(
    words: list[tuple[str, int]], score: str, longest: int
) -> None:
    how = MergeSettings(score=score, min_frequency=1, special_tokens=[], max_token_length=longest)
    assert all(len(entry.removeprefix("##")) <= longest for entry in learn(words, how).vocab)


@pytest.mark.parametrize(("score", "pair_count"), [("pmi", 1), ("frequency", 6)])
def test_a_limited_alphabet_drops_words_and_with_frequency_only_characters(
    score: str, pair_count: int
) -> None:
    how = MergeSettings(score=score, limit_alphabet=2, min_frequency=1, special_tokens=[])
    joins = learn([("axb", 5), ("ab", 1)], how).merges
    assert [join.pair_count for join in joins] == [pair_count]


def test_a_vocabulary_too_small_for_its_alphabet_is_an_error_that_counts_it() -> None:
    with pytest.raises(TrainingError, match=r"must be at least 6 \(2 .* of 4\), not 5"):
        learn([("aba", 1)], MergeSettings(vocab_size=5, special_tokens=["[PAD]", "[UNK]"]))
