"""The variants that surveys and courses print: hard EM, ties by first occurrence, unsorted alphabets."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import ArgumentError, CorpusError, TrainingError
from piecework.reference import wordpiece_training
from tests.reference import survey_unigram
from tests.reference.test_courses import FOUR_SENTENCES, SPECIAL_TOKENS

TEXT = "hug pug pun bun hugs hug"
CHARACTERS = Counter(TEXT.replace(" ", "_"))
SEEDS = CHARACTERS | Counter({"ug": 4, "hug": 3, "un": 2, "pu": 2, "hugs": 1})
# What the trainer that the survey prints gives for these seeds.
SURVEY_SCORES = {
    "h": -2.646781,
    "u": -1.863448,
    "g": -2.313448,
    "_": -1.0968,
    "p": -2.180134,
    "n": -3.146781,
    "b": -3.180134,
    "s": -4.146781,
    "ug": -3.180134,
    "hug": -2.180134,
    "un": -2.180134,
}


# ---- Unigram by hard EM


def test_hard_em_gives_the_scores_of_the_printed_trainer() -> None:
    learned = survey_unigram.train(TEXT, SEEDS, set(CHARACTERS), 11)
    assert {piece: round(score, 6) for piece, score in learned.scores.items()} == SURVEY_SCORES
    pieces, score = survey_unigram.segment("hugs_pug", learned.scores)
    assert pieces == ["hug", "s", "_", "p", "ug"]
    assert score == pytest.approx(-12.783983106214965, abs=1e-9)


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        *((1, -0.5772156649015329), (10, 2.251752589066721), (11, 2.3517525890667215)),
        *((12, 2.4426616799758123), (20, 2.970523992242149), (1000, 6.907255195648812)),
    ],
)
def test_the_digamma_of_a_count_has_the_bits_of_the_imported_function(
    count: int, expected: float
) -> None:
    assert survey_unigram.digamma(count) == expected


def test_ties_between_segmentations_equal_those_of_the_printed_trainer() -> None:
    text = "hn hn hp hn nupg hp hn"
    characters = Counter(text.replace(" ", "_"))
    seeds = characters | Counter({"_h": 5, "hn": 4, "hn_": 3, "n_": 3, "_hn": 3})
    seeds |= Counter({"hn_h": 2, "n_h": 2, "_hn_": 2})
    learned = survey_unigram.train(text, seeds, set(characters), 8, max_rounds=9)
    assert {piece: round(score, 6) for piece, score in learned.scores.items()} == {
        **dict.fromkeys(["h", "n", "u", "g", "_h", "hn"], -3.180134),
        **{"_": -2.180134, "p": -1.680134},
    }


def test_hard_em_prunes_by_seed_counts_and_breaks_ties_by_position() -> None:
    learned = survey_unigram.train(TEXT, SEEDS, set(CHARACTERS), 12)
    assert set(SEEDS) - set(learned.scores) == {"hugs"}
    learned = survey_unigram.train(TEXT, SEEDS, set(CHARACTERS), 11)
    assert set(SEEDS) - set(learned.scores) == {"hugs", "pu"}


def test_hard_em_stops_by_delta_and_by_rounds() -> None:
    seeds = Counter({"a": 9, "b": 9}) | Counter({f"{'a' * n}b": n for n in range(1, 20)})
    text = "aaab aab ab aaaab b" * 3
    seeds["_"] = 12
    every = survey_unigram.train(text, seeds, "ab_", 5, delta=0.0, max_iterations=4)
    assert all(len(found) <= 5 for found in every.rounds)
    coarse = survey_unigram.train(text, seeds, "ab_", 5, delta=1e9, max_iterations=4)
    assert all(len(found) == 2 for found in coarse.rounds)
    one = survey_unigram.train(text, seeds, "ab_", 5, max_rounds=1)
    assert len(one.scores) == len(seeds) - int(0.2 * len(seeds)) > 5


def test_hard_em_rejects_unusable_input() -> None:
    with pytest.raises(ArgumentError, match="vocab_size: must be at most 2.*, not 3"):
        survey_unigram.train("ab", {"a": 1, "b": 1}, "ab", 3)
    with pytest.raises(TrainingError, match="at least 2"):
        survey_unigram.train("ab", {"a": 1, "b": 1}, "ab", 1, pruned_share=0.9)
    with pytest.raises(CorpusError, match="'c'"):
        survey_unigram.train("abc", {"a": 1, "b": 1}, "ab", 2)


# ---- the sampler beside it

few = st.dictionaries(st.text("ab", min_size=2, max_size=4), st.integers(-9, -1), max_size=6)


@given(few, st.text("ab", min_size=1, max_size=7), st.integers(1, 4), st.randoms())
def test_each_sampled_piece_is_among_the_best_last_pieces(
    scores: dict[str, int], text: str, nbest_size: int, rng: random.Random
) -> None:
    scores = {"a": -5, "b": -4, **scores}
    pieces = survey_unigram.sample(text, scores, nbest_size, rng.choice)
    assert "".join(pieces) == text
    ends = list(accumulate(map(len, pieces)))
    for piece, end in zip(pieces, ends, strict=True):
        # The definition: the best segmentation of the prefix before each possible last piece.
        totals = {
            text[start:end]: scores[text[start:end]]
            + survey_unigram.segment(text[:start], scores)[1]
            for start in range(end)
            if text[start:end] in scores
        }
        better = sum(total > totals[piece] for total in totals.values())
        assert better < nbest_size
    if nbest_size == 1:
        score = sum(scores[piece] for piece in pieces)
        assert score == survey_unigram.segment(text, scores)[1]


def test_the_sampler_chooses_uniformly_from_the_end() -> None:
    scores = {"h": -3.0, "u": -2.0, "g": -2.5, "ug": -3.0, "hug": -4.0}
    rng = random.Random(4)
    drawn = Counter(
        " ".join(survey_unigram.sample("hug", scores, 3, rng.choice)) for _ in range(3000)
    )
    # Each of the three last pieces "hug", "ug" and "g" has a third, though their scores differ.
    assert drawn.keys() == {"hug", "h ug", "h u g"}
    assert all(900 < count < 1100 for count in drawn.values())
    # With 2, "g" is not among the last pieces any more: only the best two of them remain.
    assert survey_unigram.best_last_pieces("hug", scores, 2)[3] == ["ug", "hug"]


def test_the_sampler_rejects_characters_that_no_piece_covers() -> None:
    with pytest.raises(CorpusError, match="'x'"):
        survey_unigram.sample("ax", {"a": -1.0}, 2)


# ---- ties and alphabets


def test_the_first_pair_of_equals_is_merged_first() -> None:
    counts = pw.Counts(["ba", "ab", "cb"], [2, 2, 2], first=[2, 3, 1])
    trainer = pw.BPETrainer(vocab_size=6, ties="first-seen", special_tokens=(), unk_token=None)
    assert trainer.learn(counts).merges == (("c", "b"), ("b", "a"), ("a", "b"))
    by_ids = pw.BPETrainer(vocab_size=6, special_tokens=(), unk_token=None)
    assert by_ids.learn(counts).merges == (("a", "b"), ("b", "a"), ("c", "b"))


def test_ties_count_occurrences_that_merges_create() -> None:
    # After "ab" is merged, (ab, c) and (d, e) occur twice each, and (ab, c) begins the first word.
    counts = pw.Counts(["abc", "de", "ab"], [2, 2, 1], first=[1, 2, 3])
    trainer = pw.BPETrainer(vocab_size=7, ties="first-seen", special_tokens=(), unk_token=None)
    assert trainer.learn(counts).merges == (("a", "b"), ("ab", "c"))


def test_the_alphabet_of_the_notebook_is_in_order_of_first_occurrence() -> None:
    counts = pw.count_texts(FOUR_SENTENCES, preset="bert-cased")
    trainer = pw.WordPieceTrainer(
        70, pw.train.Merges("pmi"), min_frequency=1, alphabet_forms="seen"
    )
    listed = list(replace(trainer, alphabet_order="first-seen").learn(counts).vocab)
    # The eleven entries that the notebook prints, after the special tokens of the book section.
    assert listed[:16] == [*SPECIAL_TOKENS, *"T ##h ##i ##s i t ##e H ##u ##g ##n".split()]
    by_code_points = list(trainer.learn(counts).vocab)
    assert sorted(listed[:45]) == sorted(by_code_points[:45])
    assert listed[45:] == by_code_points[45:]
    reference = wordpiece_training.MergeSettings(
        70, score="pmi", min_frequency=1, alphabet_order="first-seen", alphabet_forms="seen"
    )
    assert wordpiece_training.learn(list(counts), reference).vocab == listed


def test_a_given_alphabet_keeps_its_order() -> None:
    counts = pw.Counts(["abc", "cab"], [2, 2])
    trainer = pw.BPETrainer(
        vocab_size=4, initial_alphabet="cb", alphabet_order="given", special_tokens=("<unk>",)
    )
    assert list(trainer.learn(counts).vocab) == ["<unk>", "c", "b", "a"]


def test_bytes_are_numbered_by_value() -> None:
    counts = pw.count_texts(["hug hug"], preset="gpt2")
    trainer = pw.ByteBPETrainer(
        vocab_size=257, special_tokens=(), alphabet_order="byte-values", ties="first-seen"
    )
    model = trainer.learn(counts)
    assert [model.vocab[c] for c in "hugĠĀ"] == [*b"hug ", 0]


@pytest.mark.parametrize("name", ["ties", "alphabet_order"])
def test_first_seen_needs_first_positions(name: str) -> None:
    counts = pw.Counts(["ba"], [1]) + pw.Counts(["ba"], [1])
    with pytest.raises(
        ArgumentError, match=f'{name}: must be .*, not "first-seen" with counts that have no'
    ):
        pw.BPETrainer(vocab_size=9, **{name: "first-seen"}).learn(counts)
    named = {name: "first-seen"}
    trainer = pw.WordPieceTrainer(
        19, **({"learner": pw.train.Merges(**named)} if name == "ties" else named)
    )
    with pytest.raises(
        ArgumentError, match=f'{name}: must be .*, not "first-seen" with counts that have no'
    ):
        trainer.learn(counts)
