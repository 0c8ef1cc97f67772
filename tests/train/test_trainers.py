"""What every trainer says of itself, and that nothing else asks for the type of a trainer."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import piecework as pw
from piecework._internal._core import learn_bpe
from piecework.errors import ArgumentError
from piecework.train import Pruning, count_texts
from piecework.train.learned import merging_trainer
from piecework.train.learners import LEARNERS, Learner
from piecework.train.trainer import Trainer, WordSizes, traits_of
from piecework.train.trainers import TRAINERS
from piecework.train.trainers.sentencepiece_settings import SENTENCEPIECE_TYPES

PACKAGE = Path(pw.__file__).parent
WORDPIECE = [pw.WordPieceTrainer(learner=learner()) for learner in LEARNERS.values()]
SENTENCEPIECE = [pw.SentencePieceTrainer(model_type=kind) for kind in SENTENCEPIECE_TYPES]
OTHERS = [kind() for name, kind in TRAINERS.items() if name not in ("wordpiece", "sentencepiece")]
WITH_LEARNER = (pw.UnigramTrainer, pw.ByteUnigramTrainer, pw.SentencePieceTrainer)
UNIGRAM = [kind(learner=Pruning()) for kind in WITH_LEARNER]
EVERY: list[Any] = [*WORDPIECE, *SENTENCEPIECE, *OTHERS, *UNIGRAM]

every_trainer = pytest.mark.parametrize(
    "trainer", EVERY, ids=lambda one: f"{one.kind} {traits_of(one).detail}"
)


@every_trainer
def test_the_smallest_model_equals_that_of_a_tokenizer_with_the_fixed_tokens(trainer: Any) -> None:
    spec = trainer._specification(trainer._smallest_model())
    assert {*traits_of(trainer).fixed_tokens} <= {*pw.Tokenizer.from_spec(spec).get_vocab()}
    assert trainer._pipeline_with(trainer._preset_for(None, None)) is not None


@every_trainer
def test_the_memory_grows_with_the_words(trainer: Any) -> None:
    sizes = WordSizes(*(np.array([10.0**3, 10.0**6, 10.0**9]) for _ in range(3)))
    small, medium, large = trainer._memory(sizes)
    assert 0 < small < medium < large


@every_trainer
def test_trainers_pickle_and_compare(trainer: Any) -> None:
    assert pickle.loads(pickle.dumps(trainer)) == trainer
    assert trainer._sized(8_765).vocab_size == 8_765


@every_trainer
def test_sizes_that_nest_are_learned_together_and_only_merges_are_logged(trainer: Any) -> None:
    traits = traits_of(trainer)
    if traits.merges_pairs:
        assert merging_trainer(trainer) is trainer
        assert traits.learns_together
    else:
        with pytest.raises(pw.errors.ArgumentError, match=f"the {trainer.kind} trainer"):
            merging_trainer(trainer)


def test_runs_continue_from_what_restores_them() -> None:
    found = {(one.kind, traits_of(one).detail): traits_of(one).resumption for one in EVERY}
    assert found == {
        **{
            ("wordpiece", name): "merges" if learner._merges_pairs else "choices"
            for name, learner in LEARNERS.items()
        },
        ("bpe", ""): "merges",
        ("byte-bpe", ""): "merges",
        ("unigram", ""): "round",
        ("byte-unigram", ""): "round",
        ("unigram", "pruning"): "choices",
        ("byte-unigram", "pruning"): "choices",
        ("sentencepiece", "unigram"): "round",
        ("sentencepiece", "unigram pruning"): "choices",
        ("sentencepiece", "bpe"): "merges",
        ("sentencepiece", "word"): None,
        ("sentencepiece", "char"): None,
        ("word", ""): None,
        ("char", ""): None,
    }


def test_ranking_says_that_it_has_no_checkpoint(tmp_path: Path) -> None:
    counts = pw.count_texts(["hug pug"], preset="whitespace")
    with pytest.warns(pw.errors.TrainingWarning, match="no checkpoint: a word run"):
        pw.WordLevelTrainer().learn(counts, checkpoint=tmp_path)


def test_trainers_implement_the_trainer_protocol() -> None:
    assert all(isinstance(trainer, Trainer) for trainer in EVERY)
    assert [kind.kind for kind in TRAINERS.values()] == [*TRAINERS]


@pytest.mark.parametrize("kind", LEARNERS.values())
def test_the_core_knows_each_learner_and_its_settings(kind: type[Learner]) -> None:
    counts = count_texts(["hug hugs bug bugs"])
    trainer = pw.WordPieceTrainer(vocab_size=12, learner=kind(), special_tokens=("[UNK]",))
    trainer.learn_vocabulary(counts)
    for wrong in ({"name": "other"}, {"other": 1}):
        with pytest.raises(ArgumentError, match=r"^settings: .* unknown (variant|field) `other`"):
            trainer._run(counts, 1, wrong, progress=None)


def test_the_core_names_a_missing_setting() -> None:
    counts = count_texts(["hug hugs bug bugs"])
    with pytest.raises(ArgumentError, match=r"^settings: .* missing field `vocab_size`"):
        learn_bpe(counts._raw, {}, progress=None)
