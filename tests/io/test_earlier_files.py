"""Files of an earlier version: tokenizers and counts load, trainers and checkpoints are refused by name.

`earlier_files/wordpiece` was written when learners were settings of the trainer: a tokenizer in every
format, word counts, trainers with their settings, the checkpoint of an interrupted run, and what the trainers
learned.
"""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.train import Merges, Pruning, TopDown, WordPieceTrainer, learn_spec

FOLDER = Path(__file__).parents[1] / "earlier_files" / "wordpiece"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text())
SETTINGS: list[dict[str, Any]] = json.loads((FOLDER / "settings.json").read_text())
LEARNERS = [Merges(), Merges("frequency"), TopDown(), Pruning(), TopDown(), Merges()]
FORMER = {"algorithm", "score", "ties", "segmentation", "balance", "use_cap"}


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
def test_learners_learn_as_the_settings_of_earlier_versions_did(
    number: int, counts: pw.Counts
) -> None:
    shared = {name: value for name, value in SETTINGS[number].items() if name not in FORMER}
    learner = LEARNERS[number]
    forms = "start-and-seen" if learner == Merges("frequency") else "seen"  # the former alphabets
    trainer = WordPieceTrainer(**shared, learner=learner, alphabet_forms=forms)
    assert list(trainer.learn(counts).vocab) == EXPECTED["vocabularies"][number]


@pytest.mark.parametrize("settings", SETTINGS)
def test_stored_settings_are_refused_and_name_the_learner(settings: dict[str, Any]) -> None:
    with pytest.raises(pw.errors.ArgumentError, match=r"^\w+=.* is written learner="):
        WordPieceTrainer(**settings)


def test_a_pickled_trainer_is_refused() -> None:
    with pytest.raises(
        pw.errors.FormatError,
        match="the pickled WordPieceTrainer has no .*learner: an earlier version wrote it",
    ):
        pickle.loads((FOLDER / "trainers.pickle").read_bytes())


def test_a_checkpoint_is_refused(tmp_path: Path, counts: pw.Counts) -> None:
    shutil.copy(FOLDER / "learning-wordpiece-80.bin", tmp_path)
    with pytest.raises(pw.errors.FormatError, match=r"no checkpoint of this version.*delete"):
        learn_spec(counts, WordPieceTrainer(80, Merges()), checkpoint=tmp_path)


def test_an_earlier_tokenizer_is_retrained_by_any_learner(counts: pw.Counts) -> None:
    texts = [word for word, count in counts for _ in range(count)]
    tokenizer = pw.Tokenizer.load(FOLDER / "tokenizer.json")
    size = len(EXPECTED["vocabularies"][0])
    merged = tokenizer.train_new_from_iterator(
        texts, vocab_size=size, learner=Merges(), alphabet_forms="seen"
    )
    assert list(merged.get_vocab()) == EXPECTED["vocabularies"][0]


def test_a_file_of_a_later_layout_is_refused(tmp_path: Path) -> None:
    data = (FOLDER / "tokenizer.piecework").read_bytes()
    later = tmp_path / "later.piecework"
    later.write_bytes(data.replace(b'{"piecework":1,', b'{"piecework":12,', 1))
    with pytest.raises(pw.errors.FormatError, match=r"a later version; update piecework$"):
        pw.Tokenizer.load(later)


def test_a_cache_of_another_version_is_refused(tmp_path: Path) -> None:
    data = (FOLDER / "tokenizer.pwc").read_bytes()
    other = tmp_path / "other.pwc"
    other.write_bytes(data.replace(pw.__version__.encode(), b"0.0.9", 1))
    with pytest.raises(pw.errors.FormatError, match=r"version: found 0\.0\.9, expected .*anew"):
        pw.Tokenizer.load(other)
