"""A trace shows what the trainer did: the figures of published examples, and the same steps on any corpus."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.analysis import explain_training, training_example
from piecework.analysis.displayed import as_text
from piecework.analysis.training.steps import (
    SplitChange,
    TrainingEstimate,
    TrainingMerge,
    TrainingPruning,
    TrainingRemoval,
)
from piecework.analysis.training.trace import TrainingTrace
from piecework.errors import ArgumentError, CorpusError, TrainingError
from piecework.train.plan import Plan
from tests.analysis import reference_steps
from tests.laws.strategies import Words, pruning_settings, train_settings, word_counts

patiently = settings(suppress_health_check=[HealthCheck.too_slow], max_examples=40)

# The vocabulary that the course prints.
PRINTED = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] ##a ##b ##c ##d ##e ##f ##g ##h ##i ##k ##l ##m ##n ##o ##p ##r ##s "
    "##t ##u ##v ##w ##y ##z , . C F H T a b c g h i s t u w y ab ##fu Fa Fac ##ct ##ful ##full ##fully "
    "Th ch ##hm cha chap chapt ##thm Hu Hug Hugg sh th is ##thms ##za ##zat ##ut"
).split()


def trace_of(name: str, steps: str = "all", top: int = 100) -> TrainingTrace:
    example = training_example(name)
    return explain_training(example.counts, example.trainer, steps=steps, top=top)


def merges_of(trace: TrainingTrace) -> list[TrainingMerge]:
    return [step for step in trace.steps if isinstance(step, TrainingMerge)]


# ---- published figures


def test_wordpiece_steps_on_five_words_equal_the_course() -> None:
    trace = trace_of("hugs")
    assert trace.alphabet == ("##g", "##n", "##s", "##u", "b", "h", "p")
    assert trace.splits[4] == (("h", "##u", "##g", "##s"), 5)
    first, second, third, fourth = merges_of(trace)
    assert (first.winner.left, first.winner.right) == ("##g", "##s")
    assert first.winner.score == Fraction(1, 20)
    assert {pair.score for pair in first.candidates[1:]} == {Fraction(1, 36)}
    assert trace.vocab_after(0)[1:] == ("##g", "##n", "##s", "##u", "b", "h", "p")
    assert trace.vocab_after(1)[1:] == ("##g", "##n", "##s", "##u", "b", "h", "p", "##gs")
    assert (second.winner.token, second.tied, second.pairs) == ("hu", 6, 6)
    assert "occurs first" in second.reason
    assert second.changes == (
        SplitChange(10, ("h", "##u", "##g"), ("hu", "##g")),
        SplitChange(5, ("h", "##u", "##gs"), ("hu", "##gs")),
    )
    assert (third.winner.token, third.winner.score) == ("hugs", Fraction(1, 15))
    # The text says 1/15 for hu ##g, and 1/21 for all the others.
    others = {pair.token: str(pair.score) for pair in third.candidates[1:]}
    assert others == {
        "pu": "1/21",
        "##un": "1/21",
        "bu": "1/21",
        "hug": "2/45",
        "##ug": "1/63",
    }
    assert third.note is not None
    assert "2/45" in third.note
    assert (fourth.winner.token, fourth.winner.score) == ("hug", Fraction(1, 15))
    assert first.note is None


def test_the_splits_after_each_merge_of_the_course() -> None:
    trace = trace_of("hugs")
    assert trace.splits_after(0) == trace.splits
    assert trace.splits_after(1)[4] == (("h", "##u", "##gs"), 5)
    assert [" ".join(symbols) for symbols, _ in trace.splits_after(3)] == [
        "hu ##g",
        "p ##u ##g",
        "p ##u ##n",
        "b ##u ##n",
        "hugs",
    ]


@pytest.mark.parametrize("number", [-1, 3, 5])
def test_splits_need_all_merges_before_them(number: int) -> None:
    trace = trace_of("hugs", steps="1,3-4")
    with pytest.raises(
        ArgumentError, match=f"number: {number}: the merges up to it must all be in steps, such as"
    ):
        trace.splits_after(number)


def test_the_first_pairs_are_in_the_order_of_the_corpus() -> None:
    [first] = merges_of(trace_of("course", steps="1", top=6))
    shown = [(pair.left, pair.right, float(pair.score)) for pair in first.first_pairs]
    # The six scores that the course prints, in its order.
    assert shown == [
        ("T", "##h", 0.125),
        ("##h", "##i", 0.03409090909090909),
        ("##i", "##s", 0.02727272727272727),
        ("i", "##s", 0.1),
        ("t", "##h", 0.03571428571428571),
        ("##h", "##e", 0.011904761904761904),
    ]
    assert first.pairs > len(first.first_pairs) == len(first.candidates)


def test_bytes_by_value_are_listed_as_in_the_vocabulary() -> None:
    trainer = pw.ByteBPETrainer(258, special_tokens=(), alphabet_order="byte-values")
    trace = explain_training(pw.count_texts(["hug hug"], preset="gpt2"), trainer)
    assert trace.alphabet == trace.vocab[:256]
    assert trace.alphabet[:3] == ("Ā", "ā", "Ă")


@pytest.mark.parametrize("learner", pw.train.LEARNERS)
def test_the_alphabet_can_have_word_starts_first_as_the_course_prints_it(learner: str) -> None:
    example = training_example("hugs")
    trainer = pw.WordPieceTrainer(
        11,
        pw.train.LEARNERS[learner](),
        min_frequency=1,
        special_tokens=(),
        alphabet_order="word-starts-first",
        alphabet_forms="seen",
    )
    trace = explain_training(example.counts, trainer)
    assert trace.vocab[:7] == ("b", "h", "p", "##g", "##n", "##s", "##u")
    assert trace.alphabet in ((), trace.vocab[:7])


def test_the_vocabulary_of_the_course_with_word_starts_first() -> None:
    example = training_example("course")
    trainer = replace(example.trainer, alphabet_order="word-starts-first")
    trace = explain_training(example.counts, trainer, steps="all")
    start = ", . C F H T a b c g h i s t u w y".split()
    assert trace.alphabet[: len(start)] == tuple(start)
    assert sorted(trace.alphabet) == sorted(PRINTED[5:45])
    assert list(trace.vocab[45:]) == PRINTED[45:]


def test_wordpiece_steps_on_four_sentences_equal_the_course() -> None:
    trace = trace_of("course")
    assert dict(trace.words)["This"] == 3
    assert (len(trace.words), sum(count for _, count in trace.words)) == (30, 36)
    assert list(trace.alphabet) == sorted(trace.alphabet) == PRINTED[5:45]
    assert list(trace.vocab) == PRINTED
    first = merges_of(trace)[0]
    scores = {(pair.left, pair.right): float(pair.score) for pair in first.candidates}
    printed = {
        ("T", "##h"): 0.125,
        ("##h", "##i"): 0.03409090909090909,
        ("##i", "##s"): 0.02727272727272727,
        ("i", "##s"): 0.1,
        ("t", "##h"): 0.03571428571428571,
        ("##h", "##e"): 0.011904761904761904,
    }
    assert {pair: scores[pair] for pair in printed} == printed
    assert (first.winner.left, first.winner.right, float(first.winner.score)) == ("a", "##b", 0.2)
    assert ("ab", "##o", "##u", "##t") in [change.after for change in first.changes]
    assert trace.step_count == len(trace.steps) == 25


def test_the_merges_of_the_bpe_chapter() -> None:
    counts = training_example("hugs").counts
    trace = explain_training(counts, pw.BPETrainer(11, special_tokens=("<unk>",)), steps="all")
    steps = merges_of(trace)
    winners = [(step.winner.left, step.winner.right, step.winner.count) for step in steps]
    assert winners == [("u", "g", 20), ("u", "n", 16), ("h", "ug", 15)]
    assert trace.vocab == ("<unk>", "b", "g", "h", "n", "p", "s", "u", "ug", "un", "hug")
    assert steps[0].changes[-1] == SplitChange(5, ("h", "u", "g", "s"), ("h", "ug", "s"))


# ---- the steps are those of the trainer


def counts_of(words: Words) -> pw.Counts:
    positions = list(range(len(words)))
    return pw.Counts([word for word, _ in words], [count for _, count in words], positions)


def traced(words: Words, trainer: Any) -> TrainingTrace | None:
    """Return a trace of all steps, None where the trainer rejects the size."""
    try:
        return explain_training(counts_of(words), trainer, steps="all", top=3)
    except TrainingError:
        return None


@pytest.mark.parametrize("score", ["pmi", "likelihood", "frequency"])
@given(data=st.data(), words=word_counts())
@patiently
def test_every_wordpiece_merge_is_the_trainers(
    score: str, data: st.DataObject, words: Words
) -> None:
    trainer = pw.WordPieceTrainer(**data.draw(train_settings(score)))
    trace = traced(words, trainer)
    if trace is None:
        return
    learned = trainer.learn_vocabulary(counts_of(words))
    assert trace.vocab == learned.entries
    assert len(trace.steps) == trace.step_count == len(learned.merges)
    symbols = dict(enumerate(split for split, _ in trace.splits))
    for step, merge in zip(merges_of(trace), learned.merges, strict=True):
        won = step.winner
        shown = (won.left, won.right, won.token, won.count, float(won.score))
        assert shown == (merge.left, merge.right, merge.token, merge.pair_count, merge.score)
        assert merge.token in trace.vocab_after(step.number)
        assert step.candidates[0] == won
        assert step.changed_words <= len(symbols)
        assert len(step.first_pairs) == len(step.candidates)
    assert len(trace.splits_after(trace.step_count)) == len(symbols)


@given(
    words=word_counts(),
    size=st.integers(8, 30),
    ties=st.sampled_from(["lowest-ids", "greatest-strings", "first-seen"]),
)
@patiently
def test_every_bpe_merge_is_the_trainers(words: Words, size: int, ties: str) -> None:
    trainer = pw.BPETrainer(size, ties=ties, min_frequency=1)
    trace = traced(words, trainer)
    if trace is not None:
        learned = trainer.learn_vocabulary(counts_of(words))
        shown = [
            (step.winner.left, step.winner.right, step.winner.count) for step in merges_of(trace)
        ]
        assert shown == [(m.left, m.right, m.pair_count) for m in learned.merges]


@given(data=st.data(), words=word_counts())
@settings(parent=patiently, max_examples=15)
def test_removals_lead_to_the_trainers_vocabulary(data: st.DataObject, words: Words) -> None:
    trainer = pw.WordPieceTrainer(**data.draw(pruning_settings()))
    trace = traced(words, trainer)
    if trace is None:
        return
    left = {entry for entry, _ in trace.seeds}
    for step in trace.steps:
        assert isinstance(step, TrainingRemoval)
        left |= {step.put_back.entry} if step.put_back else set()
        left.remove(step.removed.entry)
        assert step.removed == step.candidates[0]
    base = {*trace.special_tokens, *trace.alphabet}
    assert left | base == set(trace.vocab)


@given(words=word_counts(), size=st.integers(4, 30))
@patiently
def test_estimates_and_prunings_lead_to_the_trainers_pieces(words: Words, size: int) -> None:
    trainer = pw.UnigramTrainer(size, special_tokens=("<unk>",))
    trace = traced(words, trainer)
    if trace is None:
        return
    learned = trainer.learn_pieces(counts_of(words))
    assert tuple(zip(trace.vocab, trace.scores, strict=True)) == learned.pieces
    estimates = [step for step in trace.steps if isinstance(step, TrainingEstimate)]
    assert [(one.pieces, one.log_likelihood) for one in estimates] == [
        (step.pieces, step.log_likelihood) for step in learned.steps
    ]
    for step in trace.steps:
        if isinstance(step, TrainingPruning):
            losses = [one.loss for one in step.removed if one.loss is not None]
            assert losses == sorted(losses)


# ---- the steps are those of the reference


def without_reason(steps: Iterable[Any]) -> list[Any]:
    """Return merges without the sentences that the reference does not have."""
    return [replace(step, reason="", note=None) for step in steps]


@pytest.mark.parametrize("score", ["pmi", "likelihood", "frequency"])
@given(data=st.data(), words=word_counts())
@settings(parent=patiently, max_examples=25)
def test_merges_equal_those_of_the_reference(score: str, data: st.DataObject, words: Words) -> None:
    trainer = pw.WordPieceTrainer(**data.draw(train_settings(score)))
    trace = traced(words, trainer)
    if trace is not None:
        expected = reference_steps.merges_of(counts_of(words), trainer, 3)
        assert without_reason(trace.steps) == expected


@given(
    words=word_counts(),
    size=st.integers(8, 30),
    ties=st.sampled_from(["lowest-ids", "greatest-strings", "first-seen"]),
)
@settings(parent=patiently, max_examples=25)
def test_bpe_merges_equal_those_of_the_reference(words: Words, size: int, ties: str) -> None:
    trainer = pw.BPETrainer(size, ties=ties, min_frequency=1)
    trace = traced(words, trainer)
    if trace is not None:
        expected = reference_steps.merges_of(counts_of(words), trainer, 3)
        assert without_reason(trace.steps) == expected


@pytest.mark.parametrize("size", [14, 18, 24])
def test_sentencepiece_merges_equal_those_of_the_reference(size: int) -> None:
    trainer = pw.SentencePieceTrainer("bpe", size, hard_vocab_limit=False)
    counts = pw.count_texts(["hug pug pun bun hugs hug pugs"] * 3, preset=trainer.pipeline)
    trace = explain_training(counts, trainer, steps="all", top=4)
    expected = reference_steps.merges_of(counts, trainer, 4)
    assert without_reason(trace.steps) == expected
    assert len(expected) > 1
    assert all(step.winner.token == trace.vocab[step.vocab_size - 1] for step in expected)


@given(data=st.data(), words=word_counts())
@settings(parent=patiently, max_examples=15)
def test_removals_equal_those_of_the_reference(data: st.DataObject, words: Words) -> None:
    trainer = pw.WordPieceTrainer(**data.draw(pruning_settings()))
    trace = traced(words, trainer)
    if trace is not None:
        assert list(trace.steps) == reference_steps.removals_of(counts_of(words), trainer, 3)


def test_exchanges_equal_those_of_the_reference() -> None:
    counts = pw.count_texts(["widest lower blower show"], preset="bert-uncased")
    trainer = pw.WordPieceTrainer(24, min_frequency=1, special_tokens=("[UNK]",))
    trace = explain_training(counts, trainer, steps="all", top=5)
    expected = reference_steps.removals_of(counts, trainer, 5)
    assert list(trace.steps) == expected
    assert any(step.put_back for step in expected)


@given(words=word_counts(), size=st.integers(8, 40), least=st.integers(1, 3))
@settings(parent=patiently, max_examples=25)
def test_thresholds_equal_those_of_the_reference(words: Words, size: int, least: int) -> None:
    trainer = pw.WordPieceTrainer(
        size, pw.train.TopDown(), min_frequency=least, special_tokens=("[UNK]",)
    )
    trace = traced(words, trainer)
    if trace is not None:
        assert list(trace.steps) == reference_steps.thresholds_of(counts_of(words), trainer, 3)


@given(words=word_counts(), size=st.integers(4, 30), prunes=st.booleans())
@settings(parent=patiently, max_examples=25)
def test_unigram_steps_equal_those_of_the_reference(words: Words, size: int, prunes: bool) -> None:
    learner = pw.train.Pruning() if prunes else None
    trainer = pw.UnigramTrainer(size, special_tokens=("<unk>",), learner=learner)
    trace = traced(words, trainer)
    if trace is not None:
        expected = [*reference_steps.unigram_steps_of(counts_of(words), trainer, 10**6)]
        found = [
            replace(step, log_likelihood=0.0) if isinstance(step, TrainingEstimate) else step
            for step in explain_training(counts_of(words), trainer, steps="all", top=10**6).steps
        ]
        assert found == expected


@pytest.mark.parametrize(
    "trainer",
    [pw.WordLevelTrainer(), pw.CharTrainer(), pw.ByteBPETrainer(270, min_frequency=1)],
    ids=["word", "char", "byte-bpe"],
)
def test_other_trainers_have_a_trace(trainer: Any) -> None:
    trace = explain_training(["hug pug hug", "hugs"], trainer, steps="all")
    assert "hug" in str(trace)
    assert trace.vocab == tuple(trainer.learn(_counts(trainer)).vocab)


def _counts(trainer: Any) -> pw.Counts:
    plan = Plan.of(trainer)
    return pw.count_texts(["hug pug hug", "hugs"], preset=plan.pipeline)


@pytest.mark.parametrize(
    ("model_type", "kind"),
    [("unigram", TrainingEstimate), ("bpe", TrainingMerge), ("word", None), ("char", None)],
)
def test_sentencepiece_has_pieces_and_scores(model_type: Any, kind: Any) -> None:
    trainer = pw.SentencePieceTrainer(model_type, 14, hard_vocab_limit=False)
    texts = ["hug pug pun bun hugs"] * 3
    trace = explain_training(texts, trainer, steps="all")
    assert "hug" in str(trace)
    assert bool(trace.steps) == (kind is not None)
    assert all(isinstance(step, kind) for step in trace.steps[:1])
    learned = trainer.learn(pw.count_texts(texts, preset=trainer.pipeline)).pieces
    assert [(piece.text, piece.score) for piece in learned] == [
        *zip(trace.vocab, trace.scores, strict=True)
    ]


# ---- choosing steps


@pytest.mark.parametrize(
    ("steps", "numbers"),
    [("3,5-8", [3, 5, 6, 7, 8]), ("24-", [24, 25]), ([2, 4], [2, 4]), (" 1 - 2 ", [1, 2])],
)
def test_chosen_steps_equal_those_of_the_whole_trace(steps: Any, numbers: list[int]) -> None:
    example = training_example("course")
    chosen = explain_training(example.counts, example.trainer, steps=steps, top=100)
    every = trace_of("course")
    assert list(chosen.steps) == [every.steps[number - 1] for number in numbers]
    assert chosen.step_count == 25


@pytest.mark.parametrize("steps", ["", "0", "3-1", "x", "1,,2", "-", [0], [True], 3, "9" * 40])
def test_wrong_steps_are_rejected(steps: Any) -> None:
    example = training_example("hugs")
    with pytest.raises(
        ArgumentError, match='^steps: must be step numbers from 1, such as "3.*, not .*'
    ):
        explain_training(example.counts, example.trainer, steps=steps)


def test_steps_beyond_the_last_are_rejected() -> None:
    with pytest.raises(ArgumentError, match="steps: must be at most 25.*, not 26-"):
        trace_of("course", "26-")


# ---- bad input


def test_an_empty_corpus_is_rejected() -> None:
    with pytest.raises(CorpusError, match="no words"):
        explain_training([], pw.WordPieceTrainer(learner=pw.train.Merges("pmi")))


def test_a_string_is_not_a_corpus() -> None:
    with pytest.raises(ArgumentError, match="corpus: must be Counts, or a list.*, not str"):
        explain_training("hug", pw.WordLevelTrainer())


@pytest.mark.parametrize(
    "trainer",
    [pw.WordPieceTrainer(60), pw.UnigramTrainer(60), pw.BPETrainer(60)],
    ids=lambda t: t.kind,
)
def test_a_corpus_that_is_too_large_is_rejected(trainer: Any) -> None:
    words = [f"word{number}" for number in range(250_000)]
    with pytest.raises(
        ArgumentError, match="corpus: has distinct words of .* characters; a trace takes at most"
    ):
        explain_training(pw.Counts(words, [1] * len(words)), trainer)


def test_a_corpus_of_many_words_is_followed_quickly_between_steps() -> None:
    words = [f"w{number}" for number in range(3000)]
    trainer = pw.BPETrainer(300, min_frequency=1)
    trace = explain_training(pw.Counts(words, [1] * len(words)), trainer, steps="280-")
    assert trace.steps[0].number == 280


# ---- text, JSON, HTML


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", ["hugs", "course"])
def test_text_fits_the_width(name: str, width: int) -> None:
    shown = as_text(trace_of(name).blocks(), width).lstrip("\n")
    assert max(map(len, shown.splitlines())) <= width
    assert shown.startswith("training: WordPiece by merges")


@pytest.mark.parametrize(
    "trainer",
    [pw.WordPieceTrainer(min_frequency=1), pw.UnigramTrainer(1_000)],
)
def test_a_message_says_that_there_is_nothing_to_prune(trainer: Any) -> None:
    trace = pw.analysis.explain_training(["low low lower newest widest"], trainer)
    seeds = len(trace.seeds)
    said = f"nothing to prune: {seeds} seeds fit into a vocabulary of {trainer.vocab_size:,}; try a"
    assert trace.note is not None
    assert trace.note.startswith(said)
    assert said in " ".join(str(trace).split())
    smaller = replace(trainer, vocab_size=int(trace.note.split()[-1]))
    assert pw.analysis.explain_training(["low low lower newest widest"], smaller).note is None


def test_a_vocabulary_that_all_seeds_fill_exactly_needs_no_pruning() -> None:
    counts = pw.Counts(["hug", "hugs"], [2, 1])
    trainer = pw.WordPieceTrainer(15, min_frequency=1, special_tokens=("[UNK]",))
    trace = pw.analysis.explain_training(counts, trainer)
    assert (trace.step_count, trace.stopped_early) == (0, None)
    assert (
        trace.note
        == "nothing to prune: 6 seeds fit into a vocabulary of 15; try a vocabulary of 12"
    )
    fewer = pw.analysis.explain_training(counts, replace(trainer, vocab_size=14))
    assert (fewer.step_count, fewer.note) == (1, None)


def test_data_is_json() -> None:
    counts = training_example("hugs").counts
    for trainer in (
        training_example("hugs").trainer,
        pw.WordPieceTrainer(17, pw.train.Pruning(), special_tokens=("[UNK]",)),
        pw.UnigramTrainer(9, special_tokens=("<unk>",)),
    ):
        data = json.dumps(explain_training(counts, trainer, steps="all").to_dict(), allow_nan=False)
        assert json.loads(data)["vocab"]
    data = trace_of("hugs").to_dict()
    first = data["steps"][0]
    assert (first["kind"], first["winner"]["score_fraction"]) == ("TrainingMerge", "1/20")
    assert data["vocab"][: first["vocab_size"]][-1] == "##gs"


HOSTILE = ["<script>alert(1)</script>", '"><img/src=x>', "&lt;b&gt;", "\x1b[31m", "</style>"]


def test_hostile_words_are_escaped() -> None:
    counts = pw.Counts(HOSTILE, [9, 8, 7, 6, 5])
    for trainer in (
        pw.BPETrainer(60, min_frequency=1),
        pw.WordPieceTrainer(80, pw.train.Pruning(), min_frequency=1),
        pw.UnigramTrainer(40),
        pw.WordLevelTrainer(),
    ):
        trace = explain_training(counts, trainer, steps="all")
        html = trace._repr_html_()
        assert "<script" not in html
        assert "<img" not in html
        assert html.count("</style>") == 1
        assert "\x1b" not in html + str(trace)


# ---- the lattice of a word


@pytest.mark.parametrize("name", ["hugs", "course"])
def test_probabilities_of_words_add_up_to_the_expected_counts(name: str) -> None:
    counts = training_example(name).counts
    trainer = pw.UnigramTrainer(40 if name == "course" else 12, special_tokens=("<unk>",))
    sums: dict[tuple[int, str], float] = {}
    shown: dict[tuple[int, str], float] = {}
    for word, count in list(counts):
        trace = explain_training(counts, trainer, steps="all", top=10**6, word=word)
        for step in trace.steps:
            assert isinstance(step, (TrainingEstimate, TrainingPruning))
            assert step.lattice is not None
            assert step.lattice.word == word
            if isinstance(step, TrainingPruning):
                continue
            edges = step.lattice.lattice.edges
            for edge, probability in zip(edges, step.lattice.probabilities, strict=True):
                key = (step.number, edge.piece)
                sums[key] = sums.get(key, 0) + count * probability
            shown = {(step.number, one.piece): one.expected for one in step.estimates} | shown
    assert shown == pytest.approx({key: sums.get(key, 0) for key in shown}, abs=1e-3)


def test_the_last_lattice_has_the_final_pieces() -> None:
    counts = training_example("hugs").counts
    trainer = pw.UnigramTrainer(10, special_tokens=("<unk>",))
    trace = explain_training(counts, trainer, word="hugs")
    assert trace.lattice is not None
    final = dict(zip(trace.vocab, trace.scores, strict=True))
    assert {edge.piece: edge.score for edge in trace.lattice.lattice.edges} == {
        piece: score for piece, score in final.items() if piece in "hugs"
    }
    assert "lattice of hugs" in str(trace)
    assert json.loads(json.dumps(trace.to_dict()))["lattice"]["word"] == "hugs"
    assert explain_training(counts, trainer).lattice is None


def test_a_word_that_has_no_lattice_is_an_error() -> None:
    counts = training_example("hugs").counts
    with pytest.raises(ArgumentError, match="word: must be a word of the corpus.*, not 'hog'"):
        explain_training(counts, pw.UnigramTrainer(12), word="hog")
    with pytest.raises(ArgumentError, match="word: needs a Unigram learner, not BPETrainer"):
        explain_training(counts, pw.BPETrainer(12), word="hugs")


@pytest.mark.parametrize(
    "trainer",
    [
        pw.UnigramTrainer(11, learner=pw.train.Pruning(balance=1.0)),
        pw.UnigramTrainer(12, learner=pw.train.Pruning(segmentation="shortest")),
        pw.ByteUnigramTrainer(262, learner=pw.train.Pruning()),
        pw.ByteUnigramTrainer(262),
    ],
    ids=str,
)
def test_unigram_by_pruning_and_over_bytes_has_steps_that_lead_to_its_pieces(trainer: Any) -> None:
    preset = "gpt2" if trainer.kind.startswith("byte") else "whitespace"
    counts = pw.count_texts(["hug hugs pug pun bun hug"] * 3, preset=preset)
    trace = explain_training(
        counts, trainer, steps="all", word="pug" if preset == "whitespace" else "Ġpug"
    )
    learned = trainer.learn_pieces(counts).pieces
    assert trace.vocab == tuple(piece for piece, _ in learned)
    assert trace.scores == tuple(score for _, score in learned)
    assert trace.lattice is not None
    assert max(trace.lattice.probabilities) > 0.5
    if trainer.learner is not None:
        assert len(trace.steps) == trainer.num_sub_iterations
