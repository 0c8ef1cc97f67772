"""WordPiece by pruning: settings, errors, saving, and fewer tokens than merging."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.train import WordPieceTrainer, count_texts, learn_spec, learn_specs

Run = Callable[..., tuple[int, str, str]]
WORDS = ["hug"] * 10 + ["pug"] * 5 + ["pun"] * 12 + ["bun"] * 4 + ["hugs"] * 5


@pytest.fixture(scope="module")
def counts(english_corpus: Path) -> pw.Counts:
    """Words of English text."""
    return count_texts(english_corpus.read_text(encoding="utf-8").splitlines()[:3000])


def tokens_of(tokenizer: pw.Tokenizer, counts: pw.Counts) -> int:
    lengths = tokenizer.encode_batch(counts.words, add_special_tokens=False).lengths
    return int((lengths * counts.counts.astype("int64")).sum())


def trained(counts: pw.Counts, **settings: Any) -> pw.Tokenizer:
    return pw.Tokenizer.train_from_counts(counts, vocab_size=1000, **settings)


def test_pruning_takes_fewer_tokens_than_every_other_learner(counts: pw.Counts) -> None:
    pruned = tokens_of(trained(counts, algorithm="pruning"), counts)
    for score in ("likelihood", "frequency", "top-down"):
        assert pruned < tokens_of(trained(counts, score=score), counts)


@pytest.mark.parametrize("segmentation", ["greedy", "shortest"])
@pytest.mark.parametrize("settings", [{}, {"balance": 1.0}, {"use_cap": 1.5}])
def test_the_size_is_exact(counts: pw.Counts, segmentation: str, settings: dict[str, Any]) -> None:
    how = {"algorithm": "pruning", "segmentation": segmentation, **settings}
    assert trained(counts, **how).get_vocab_size() == 1000


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"balance": 1.0},
        {"segmentation": "shortest"},
        {"segmentation": "shortest", "balance": 1.0},
        {"algorithm": "top-down"},
    ],
)
def test_threads_change_nothing_where_each_has_words(settings: dict[str, Any]) -> None:
    draw = random.Random(3)
    words = {"".join(draw.choices("abcde#", k=draw.randint(2, 9))) for _ in range(16_000)}
    counts = pw.Counts(sorted(words), [draw.randint(1, 9) for _ in words])
    trainer = WordPieceTrainer(vocab_size=300, **settings)
    one = trainer.learn_vocabulary(counts, num_threads=1)
    assert len(one.entries) == 300
    for num_threads in (2, 3):
        assert trainer.learn_vocabulary(counts, num_threads=num_threads) == one


def test_a_vocabulary_for_the_fewest_tokens_is_used_so_and_says_so(
    counts: pw.Counts, tmp_path: Path
) -> None:
    tokenizer = trained(counts, algorithm="pruning", segmentation="shortest")
    assert tokenizer.spec.model.segmentation == "shortest"
    with pytest.raises(pw.errors.PortabilityError, match="other libraries"):
        tokenizer.save(tmp_path / "tokenizer.json")
    tokenizer.save(tmp_path / "tokenizer.piecework")
    assert pw.Tokenizer.load(tmp_path / "tokenizer.piecework").spec == tokenizer.spec


def test_retraining_keeps_the_segmentation_of_the_tokenizer(counts: pw.Counts) -> None:
    old = trained(counts, algorithm="pruning", segmentation="shortest")
    new = old.train_new_from_iterator(WORDS, vocab_size=15, algorithm="pruning")
    assert new.spec.model.segmentation == "shortest"
    with pytest.raises(pw.errors.ArgumentError, match="segmentation"):
        old.train_new_from_iterator(
            WORDS, vocab_size=15, algorithm="pruning", segmentation="greedy"
        )


def test_balance_and_cap_change_what_is_learned(counts: pw.Counts) -> None:
    plain = trained(counts, algorithm="pruning")
    balanced = trained(counts, algorithm="pruning", balance=2.0)
    assert tokens_of(plain, counts) < tokens_of(balanced, counts)
    capped = trained(counts, algorithm="pruning", use_cap=1.0)
    assert plain.get_vocab() != capped.get_vocab()


def test_the_most_used_entries_come_first() -> None:
    tokenizer = pw.Tokenizer.train_from_iterator(WORDS, algorithm="pruning", vocab_size=15)
    assert [tokenizer.id_to_token(id) for id in (12, 13, 14)] == ["hug", "pun", "pug"]


def test_words_longer_than_the_model_accepts_are_left_out() -> None:
    long = ["a" * 101] * 50
    tokenizer = pw.Tokenizer.train_from_iterator(WORDS + long, algorithm="pruning", vocab_size=17)
    assert "aa" not in tokenizer.get_vocab()


def test_too_few_substrings_stop_early() -> None:
    with pytest.warns(pw.errors.TrainingWarning, match="no more substrings occur 2 times"):
        pw.Tokenizer.train_from_iterator(WORDS, algorithm="pruning", vocab_size=1000)


def test_a_size_below_the_alphabet_is_an_error() -> None:
    with pytest.raises(pw.errors.TrainingError, match="at least 12"):
        pw.Tokenizer.train_from_iterator(WORDS, algorithm="pruning", vocab_size=6)


def test_top_down_has_two_names(counts: pw.Counts) -> None:
    by_score, by_algorithm = (
        trained(counts, score="top-down"),
        trained(counts, algorithm="top-down"),
    )
    assert by_score.get_vocab() == by_algorithm.get_vocab()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"algorithm": "prune"}, "algorithm: found 'prune', expected one of merges, pruning"),
        ({"algorithm": "pruning", "score": "pmi"}, "score: found 'pmi' with algorithm='pruning'"),
        ({"algorithm": "merges", "score": "top-down"}, "score: found 'top-down' with algorithm"),
        ({"algorithm": "pruning", "ties": "lowest-ids"}, "ties: found 'lowest-ids'"),
        (
            {"algorithm": "pruning", "balance": -1.0},
            "balance: found -1.0, expected a number from 0",
        ),
        ({"algorithm": "pruning", "balance": float("nan")}, "balance: found nan"),
        ({"algorithm": "pruning", "balance": "2"}, "balance: found str, expected a number"),
        ({"algorithm": "pruning", "use_cap": 0}, "use_cap: found 0, expected a number from 0.0001"),
        ({"algorithm": "pruning", "use_cap": True}, "use_cap: found bool, expected a number"),
        ({"algorithm": "pruning", "segmentation": "long"}, "segmentation: found 'long'"),
        (
            {"algorithm": "merges", "balance": 2.0},
            'balance: found 2.0 with algorithm="merges", expected 0.0, or algorithm="pruning"',
        ),
        (
            {"score": "frequency", "segmentation": "shortest"},
            "segmentation: found 'shortest' with score=\"frequency\"",
        ),
        (
            {"ties": "lowest-ids", "seed_size": 99_999},
            'seed_size: found 99999 with ties="lowest-ids"',
        ),
        ({"score": "top-down", "use_cap": 2.0}, 'use_cap: found 2.0 with score="top-down"'),
        ({"seed_size": 29_999}, "seed_size: found 29999, expected an integer of at least 30000"),
        ({"score": "top"}, "score: found 'top', expected one of likelihood"),
    ],
)
def test_an_unusable_setting_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(pw.errors.ArgumentError, match=re.escape(message)):
        pw.WordPieceTrainer(**settings)


@pytest.mark.parametrize(
    ("settings", "learner"),
    [
        ({}, "pruning"),
        ({"balance": 2.0}, "pruning"),
        ({"score": "likelihood"}, "merges"),
        ({"score": "pmi"}, "merges"),
        ({"ties": "first-seen"}, "merges"),
        ({"algorithm": "merges"}, "merges"),
        ({"score": "top-down"}, "top-down"),
    ],
)
def test_a_score_or_ties_select_merges_and_nothing_selects_pruning(
    settings: dict[str, Any], learner: str
) -> None:
    trainer = pw.WordPieceTrainer(**settings)
    assert trainer.learner == learner
    assert replace(trainer, algorithm=learner).learner == learner


def test_several_sizes_share_the_seeds_of_the_largest(counts: pw.Counts) -> None:
    trainer = pw.WordPieceTrainer()
    specs = learn_specs(counts, trainer, [300, 1000])
    alone = learn_spec(counts, replace(trainer, vocab_size=300, seed_size=8000))
    assert specs[300] == alone
    assert specs[1000] == learn_spec(counts, replace(trainer, vocab_size=1000))
    with pytest.raises(pw.errors.ArgumentError, match='sizes: found score="pmi"'):
        pw.WordPieceTrainer(score="pmi").learn_sizes(counts, [300, 1000])


def test_removals_end_with_the_learned_vocabulary(counts: pw.Counts) -> None:
    trainer = pw.WordPieceTrainer(vocab_size=500, seed_size=900)
    learned = trainer.learn_removals(counts)
    assert learned.entries == trainer.learn_vocabulary(counts).entries
    present = set(learned.entries)
    for removal in reversed(learned.removals):
        assert removal.token not in present
        present.add(removal.token)
        present.discard(removal.put_back or "")
    longest = [removal.loss for removal in learned.removals if removal.put_back is None]
    assert len(present) == 500 + len(longest)


def test_three_lines_of_text_give_whole_words() -> None:
    texts = ["the river runs to the sea", "the runner runs along the river", "rivers run"]
    with pytest.warns(pw.errors.TrainingWarning, match="no more substrings occur 2 times"):
        tokenizer = pw.Tokenizer.train_from_iterator(texts)
    assert tokenizer.encode("the river runs", add_special_tokens=False).tokens == [
        "the",
        "river",
        "runs",
    ]
    assert tokenizer.decode(tokenizer.encode("runners along the rivers").ids)


def test_explain_shows_removals_and_what_they_cost(cli: Run, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(WORDS))
    code, out, err = cli("explain", "--training", str(corpus), "--vocab-size", "15", "--json")
    assert code == 0, err
    steps = json.loads(out)["steps"]
    assert [(step["removed"]["entry"], step["removed"]["loss"]) for step in steps[-2:]] == [
        ("hugs", 5),
        ("bun", 8),
    ]


def test_the_command_trains_by_pruning(cli: Run, tmp_path: Path) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "vocab.txt"
    corpus.write_text("\n".join(WORDS))
    options = ["--balance", "0.5", "--use-cap", "3", "--vocab-size", "15"]
    code, _, err = cli("train", str(corpus), *options, "-o", str(out))
    assert code == 0, err
    assert len(out.read_text().split()) == 15
    code, _, err = cli(
        "train", str(corpus), "--balance", "2", "--score", "frequency", "-o", str(out)
    )
    assert (code, "--balance: found 2.0 with --score" in err) == (2, True), err
    sizes = ["--vocab-size", "15,18", "--seed-size", "20", "--checkpoint", str(tmp_path / "state")]
    code, _, err = cli("train", str(corpus), *sizes, "-o", str(tmp_path / "v.txt"))
    assert (code, "separately" in err) == (0, False), err
    assert [len((tmp_path / f"v-{size}.txt").read_text().split()) for size in (15, 18)] == [15, 18]
