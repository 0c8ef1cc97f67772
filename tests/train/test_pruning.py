"""Learners of WordPiece: their values and errors, and pruning, which takes fewer tokens than merging."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework._internal.setting_fields import settings_of
from piecework.train import (
    Learner,
    Merges,
    Pruning,
    TopDown,
    WordPieceTrainer,
    count_texts,
    learn_spec,
    learn_specs,
)
from piecework.train.plan import trainer_for
from piecework.train.trainers import TRAINERS

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
    pruned = tokens_of(trained(counts, learner=Pruning()), counts)
    for learner in (Merges(), Merges("frequency"), TopDown()):
        assert pruned < tokens_of(trained(counts, learner=learner), counts)


@pytest.mark.parametrize("segmentation", ["greedy", "shortest"])
@pytest.mark.parametrize("settings", [{}, {"balance": 1.0}, {"max_use_cost": 1.5}])
def test_the_size_is_exact(counts: pw.Counts, segmentation: str, settings: dict[str, Any]) -> None:
    learner = Pruning(segmentation=segmentation, **settings)
    assert trained(counts, learner=learner).get_vocab_size() == 1000


@pytest.mark.parametrize(
    "learner",
    [
        Pruning(),
        Pruning(balance=1.0),
        Pruning(segmentation="shortest"),
        Pruning(segmentation="shortest", balance=1.0),
        TopDown(),
    ],
    ids=str,
)
def test_threads_change_nothing_where_each_has_words(learner: Learner) -> None:
    draw = random.Random(3)
    words = {"".join(draw.choices("abcde#", k=draw.randint(2, 9))) for _ in range(16_000)}
    counts = pw.Counts(sorted(words), [draw.randint(1, 9) for _ in words])
    trainer = WordPieceTrainer(vocab_size=300, learner=learner)
    one = trainer.learn_vocabulary(counts, num_threads=1)
    assert len(one.entries) == 300
    for num_threads in (2, 3):
        assert trainer.learn_vocabulary(counts, num_threads=num_threads) == one


def test_a_vocabulary_for_the_fewest_tokens_has_the_shortest_segmentation(
    counts: pw.Counts, tmp_path: Path
) -> None:
    tokenizer = trained(counts, learner=Pruning(segmentation="shortest"))
    assert tokenizer.spec.model.segmentation == "shortest"
    with pytest.raises(pw.errors.PortabilityError, match="other libraries"):
        tokenizer.save(tmp_path / "tokenizer.json")
    tokenizer.save(tmp_path / "tokenizer.piecework")
    assert pw.Tokenizer.load(tmp_path / "tokenizer.piecework").spec == tokenizer.spec


def test_retraining_keeps_the_segmentation_of_the_tokenizer(counts: pw.Counts) -> None:
    shortest = Pruning(segmentation="shortest")
    old = trained(counts, learner=shortest)
    new = old.train_new_from_iterator(WORDS, vocab_size=22)
    assert new.spec.model.segmentation == "shortest"
    assert new == old.train_new_from_iterator(WORDS, vocab_size=22, learner=shortest)
    merged = old.train_new_from_iterator(WORDS, vocab_size=22, learner=Merges())
    assert merged.spec.model.segmentation == "shortest"
    with pytest.raises(
        pw.errors.ArgumentError, match=r'learner: Pruning.* must have segmentation="shortest"'
    ):
        old.train_new_from_iterator(WORDS, vocab_size=22, learner=Pruning(balance=2.0))


def test_balance_and_cap_change_what_is_learned(counts: pw.Counts) -> None:
    plain = trained(counts)
    balanced = trained(counts, learner=Pruning(balance=2.0))
    assert tokens_of(plain, counts) < tokens_of(balanced, counts)
    capped = trained(counts, learner=Pruning(max_use_cost=1.0))
    assert plain.get_vocab() != capped.get_vocab()


def test_the_most_used_entries_come_first() -> None:
    tokenizer = pw.Tokenizer.train_from_iterator(WORDS, vocab_size=22)
    assert [tokenizer.id_to_token(id) for id in (19, 20, 21)] == ["hug", "pun", "pug"]


def test_words_longer_than_the_model_accepts_are_left_out() -> None:
    long = ["a" * 101] * 50
    tokenizer = pw.Tokenizer.train_from_iterator(WORDS + long, vocab_size=24)
    assert "aa" not in tokenizer.get_vocab()


def test_too_few_substrings_stop_early() -> None:
    with pytest.warns(pw.errors.TrainingWarning, match="no more substrings occur 2 times"):
        pw.Tokenizer.train_from_iterator(WORDS, vocab_size=1000)


def test_a_size_below_the_alphabet_is_an_error() -> None:
    with pytest.raises(pw.errors.TrainingError, match="at least 19"):
        pw.Tokenizer.train_from_iterator(WORDS, vocab_size=6)


def test_there_are_at_least_as_many_seeds_as_entries() -> None:
    message = "seed_vocab_size: must be an integer of at least 30000.*, not 29999"
    with pytest.raises(pw.errors.ArgumentError, match=message):
        WordPieceTrainer(learner=Pruning(seed_vocab_size=29_999))


LEARNERS = [
    *(kind() for kind in pw.train.LEARNERS.values()),
    Merges("pmi", "smallest-strings"),
    Pruning(2, 1.5, seed_vocab_size=40_000, segmentation="shortest"),
]


def test_learners_are_values() -> None:
    assert len({*LEARNERS, *LEARNERS}) == len(LEARNERS)
    for learner in LEARNERS:
        trainer = WordPieceTrainer(learner=learner)
        assert pickle.loads(pickle.dumps(learner)) == replace(learner) == learner
        assert pickle.loads(pickle.dumps(trainer)) == trainer
        assert eval(repr(learner), vars(pw.train)) == learner
    assert WordPieceTrainer() == WordPieceTrainer(learner=Pruning())
    with pytest.raises(FrozenInstanceError):
        Pruning().balance = 2.0


@pytest.mark.parametrize(
    "trainer",
    [kind for name, kind in TRAINERS.items() if "learner" not in settings_of(kind)],
)
@pytest.mark.parametrize("learner", [Merges(), "merges"])
def test_a_trainer_without_learners_names_its_settings(trainer: Any, learner: object) -> None:
    for call in (trainer, lambda **how: trainer_for(trainer.kind, how)):
        with pytest.raises(
            pw.errors.InputTypeError, match=r"is not a setting of .*, which has vocab_size, "
        ):
            call(learner=learner)


def test_several_sizes_share_the_seeds_of_the_largest(counts: pw.Counts) -> None:
    trainer = pw.WordPieceTrainer()
    specs = learn_specs(counts, trainer, [300, 1000])
    alone = learn_spec(
        counts, replace(trainer, vocab_size=300, learner=Pruning(seed_vocab_size=8000))
    )
    assert specs[300] == alone
    assert specs[1000] == learn_spec(counts, replace(trainer, vocab_size=1000))


def test_removals_end_with_the_learned_vocabulary(counts: pw.Counts) -> None:
    trainer = pw.WordPieceTrainer(vocab_size=500, learner=Pruning(seed_vocab_size=900))
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
    code, out, err = cli("explain-training", str(corpus), "--vocab-size", "22", "--json")
    assert code == 0, err
    steps = json.loads(out)["steps"]
    assert [(step["removed"]["entry"], step["removed"]["loss"]) for step in steps[-2:]] == [
        ("hugs", 5),
        ("bun", 8),
    ]


def test_the_command_trains_by_pruning(cli: Run, tmp_path: Path) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "vocab.txt"
    corpus.write_text("\n".join(WORDS))
    options = ["--balance", "0.5", "--max-use-cost", "3", "--vocab-size", "22"]
    code, _, err = cli("train", str(corpus), *options, "-o", str(out))
    assert code == 0, err
    assert len(out.read_text().split()) == 22
    code, _, err = cli(
        "train", str(corpus), "--balance", "2", "--score", "frequency", "-o", str(out)
    )
    assert (code, "--score: 'frequency' does not support --learner pruning; it needs" in err) == (
        2,
        True,
    ), err
    sizes = [
        "--vocab-size",
        "22,25",
        "--seed-vocab-size",
        "27",
        "--checkpoint",
        str(tmp_path / "state"),
    ]
    code, _, err = cli("train", str(corpus), *sizes, "-o", str(tmp_path / "v.txt"))
    assert (code, "separately" in err) == (0, False), err
    assert [len((tmp_path / f"v-{size}.txt").read_text().split()) for size in (22, 25)] == [22, 25]
