"""Files that were written when `likelihood` was the default score still load, and mean the same.

`earlier_files/wordpiece` was written by that version: a tokenizer in every format, word counts, trainers with
their settings, the checkpoint of an interrupted run, and what the trainers learned.
"""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.train import WordPieceTrainer, learn_spec
from piecework.train.checkpoints import LearningCheckpoint

FOLDER = Path(__file__).parent / "earlier_files" / "wordpiece"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text())
SETTINGS: list[dict[str, Any]] = json.loads((FOLDER / "settings.json").read_text())
LEARNERS = ["merges", "merges", "top-down", "pruning", "top-down", "merges"]


@pytest.fixture(scope="module")
def counts() -> pw.Counts:
    return pw.Counts.load(FOLDER / "counts.tsv")


@pytest.mark.parametrize(
    "name", ["tokenizer.json", "tokenizer.piecework", "tokenizer.pwc", "vocab.txt"]
)
def test_a_tokenizer_encodes_as_before(name: str) -> None:
    assert pw.Tokenizer.load(FOLDER / name).encode(EXPECTED["text"]).ids == EXPECTED["ids"]


def test_counts_are_the_same_in_both_formats(counts: pw.Counts) -> None:
    assert pw.Counts.load(FOLDER / "counts.parquet") == counts


@pytest.mark.parametrize("number", range(len(LEARNERS)))
def test_stored_settings_select_the_same_learner(number: int, counts: pw.Counts) -> None:
    trainer = WordPieceTrainer(**SETTINGS[number])
    assert trainer.learner == LEARNERS[number]
    assert list(trainer.learn(counts).vocab) == EXPECTED["vocabularies"][number]


@pytest.mark.parametrize("number", range(len(LEARNERS)))
def test_a_pickled_trainer_selects_the_same_learner(number: int, counts: pw.Counts) -> None:
    trainer = pickle.loads((FOLDER / "trainers.pickle").read_bytes())[number]
    assert trainer.learner == LEARNERS[number]
    assert trainer.learn(counts).vocab == WordPieceTrainer(**SETTINGS[number]).learn(counts).vocab


def test_a_checkpoint_is_continued_by_a_run_with_the_same_score(
    tmp_path: Path, counts: pw.Counts
) -> None:
    shutil.copy(FOLDER / "learning-wordpiece-80.bin", tmp_path)
    for trainer in (
        WordPieceTrainer(vocab_size=80, score="likelihood"),
        WordPieceTrainer(vocab_size=80, algorithm="merges"),
    ):
        assert LearningCheckpoint(tmp_path, counts, trainer).is_resumed
    spec = learn_spec(counts, trainer, checkpoint=tmp_path)
    assert list(spec.model.vocab) == EXPECTED["vocabularies"][0]


def test_a_checkpoint_of_merges_is_not_continued_by_pruning(
    tmp_path: Path, counts: pw.Counts
) -> None:
    shutil.copy(FOLDER / "learning-wordpiece-80.bin", tmp_path)
    with pytest.raises(pw.errors.ArgumentError, match="algorithm='merges'.*algorithm='pruning'"):
        learn_spec(counts, WordPieceTrainer(vocab_size=80), checkpoint=tmp_path)


def test_retraining_an_earlier_tokenizer_prunes_unless_a_score_is_named(counts: pw.Counts) -> None:
    texts = [word for word, count in counts for _ in range(count)]
    tokenizer = pw.Tokenizer.load(FOLDER / "tokenizer.json")
    size = len(EXPECTED["vocabularies"][0])
    merged = tokenizer.train_new_from_iterator(texts, vocab_size=size, score="likelihood")
    assert list(merged.get_vocab()) == EXPECTED["vocabularies"][0]
    pruned = tokenizer.train_new_from_iterator(texts, vocab_size=size)
    expected = tokenizer.train_new_from_iterator(texts, vocab_size=size, algorithm="pruning")
    assert pruned.get_vocab() == expected.get_vocab()
