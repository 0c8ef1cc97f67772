"""Trainers: word counts in, a model out; one frozen dataclass for each kind of model.

To add a trainer, write its module here, a `Trainer` or a `PresetTrainer`, and add the class to `TRAINERS` and
to the lists in `train/__init__.py` and `piecework/__init__.py`. Checks, options, tables of the reference and
`train/settings.py` come from the fields (`train/setting_fields.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from piecework._internal import validation as checks
from piecework.attributes.names_of_other_libraries import unknown_setting
from piecework.errors import ArgumentError, InputTypeError
from piecework.train.learners import LEARNERS
from piecework.train.presets import Preset, has_sequences
from piecework.train.trainer import Trainer
from piecework.train.trainers.bpe import BPETrainer, ByteBPETrainer
from piecework.train.trainers.char import CharTrainer
from piecework.train.trainers.sentencepiece import SentencePieceTrainer
from piecework.train.trainers.superwords import DEFAULT_TRANSITION
from piecework.train.trainers.unigram import ByteUnigramTrainer, UnigramTrainer
from piecework.train.trainers.word import WordTrainer
from piecework.train.trainers.wordpiece import WordPieceTrainer

__all__ = [
    "TRAINERS",
    "BPETrainer",
    "ByteBPETrainer",
    "ByteUnigramTrainer",
    "CharTrainer",
    "SentencePieceTrainer",
    "UnigramTrainer",
    "WordPieceTrainer",
    "WordTrainer",
    "kind_of",
    "trainer_for",
]

TRAINERS: dict[str, type[Trainer]] = {
    trainer.kind: trainer
    for trainer in (
        WordPieceTrainer,
        BPETrainer,
        ByteBPETrainer,
        UnigramTrainer,
        ByteUnigramTrainer,
        SentencePieceTrainer,
        WordTrainer,
        CharTrainer,
    )
}


def trainer_for(model: str, settings: Mapping[str, Any], preset: Preset | None = None) -> Trainer:
    """Return the trainer of a kind of model with these settings; the preset supplies defaults.

    >>> trainer_for("word", {"vocab_size": 100}).vocab_size
    100

    Raises `ArgumentError` for an unknown model, an unknown setting (the message lists the known ones) or
    an invalid value.
    """
    checks.check_choice("model", model, TRAINERS)
    known = TRAINERS[model].setting_names()
    for name in settings:
        if name not in known:
            raise _unknown_setting(name, model)
    defaults = preset.tokens_for(known) if preset else {}
    if preset and has_sequences(preset) and "transition" in known:
        defaults |= {"transition": DEFAULT_TRANSITION}
    return TRAINERS[model](**{**defaults, **settings})


def _unknown_setting(name: str, model: str) -> InputTypeError:
    known = TRAINERS[model].setting_names()
    kinds = [repr(kind) for kind, trainer in TRAINERS.items() if name in trainer.setting_names()]
    have = "have" if len(kinds) > 1 else "has"
    hint = f"model{'s' * (len(kinds) > 1)} {' and '.join(kinds)} {have} this setting"
    if not kinds:
        learners = [kind for kind in LEARNERS.values() if name in _names_of(kind)]
        hint = f"learner={learners[0].__name__}({name}=...) has this setting" if learners else ""
    return unknown_setting(f"model {model!r}", name, known, hint)


def _names_of(learner: Any) -> set[str]:
    return {field.name for field in fields(learner)}


def kind_of(trainer: Trainer) -> str:
    """Return the name of the kind of model that a trainer learns.

    >>> kind_of(WordTrainer())
    'word'
    """
    if type(trainer) not in TRAINERS.values():
        problem = f"must be one of the trainers of this library, not {type(trainer).__name__}"
        raise ArgumentError("trainer", problem)
    return trainer.kind
