"""Trainers: word counts in, a model with its vocabulary out; one frozen dataclass for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeAlias

from piecework._internal import validation as checks
from piecework.errors import ArgumentError
from piecework.train.presets import Preset
from piecework.train.trainers.bpe import BYTE_ALPHABET, TIES, BPETrainer, ByteBPETrainer
from piecework.train.trainers.char import CharTrainer
from piecework.train.trainers.common import Join, LearnedVocabulary
from piecework.train.trainers.sentencepiece import SentencePieceTrainer
from piecework.train.trainers.sentencepiece_settings import SENTENCEPIECE_TYPES
from piecework.train.trainers.unigram import LearnedPieces, LearningStep, UnigramTrainer
from piecework.train.trainers.word import WordTrainer
from piecework.train.trainers.wordpiece import SCORES, WORDPIECE_TIES, WordPieceTrainer

__all__ = [
    "BYTE_ALPHABET",
    "SCORES",
    "SENTENCEPIECE_TYPES",
    "TIES",
    "WORDPIECE_TIES",
    "BPETrainer",
    "ByteBPETrainer",
    "CharTrainer",
    "Join",
    "LearnedPieces",
    "LearnedVocabulary",
    "LearningStep",
    "PlainTrainer",
    "SentencePieceTrainer",
    "Trainer",
    "UnigramTrainer",
    "WordPieceTrainer",
    "WordTrainer",
    "kind_of",
    "trainer_for",
]

PlainTrainer: TypeAlias = (
    WordPieceTrainer | BPETrainer | ByteBPETrainer | UnigramTrainer | WordTrainer | CharTrainer
)
Trainer: TypeAlias = PlainTrainer | SentencePieceTrainer

TRAINERS: dict[str, type[Trainer]] = {
    "wordpiece": WordPieceTrainer,
    "bpe": BPETrainer,
    "byte-bpe": ByteBPETrainer,
    "unigram": UnigramTrainer,
    "sentencepiece": SentencePieceTrainer,
    "word": WordTrainer,
    "char": CharTrainer,
}


def trainer_for(model: str, settings: Mapping[str, Any], preset: Preset | None = None) -> Trainer:
    """Return the trainer of a model kind with the given settings, or else with those of the preset.

    >>> trainer_for("word", {"vocab_size": 100}).vocab_size
    100

    Raises `ArgumentError` for an unknown model, an unknown setting (listing those that there are) or
    an unusable value.
    """
    checks.check_choice("model", model, TRAINERS)
    known = [field.name for field in fields(TRAINERS[model])]
    for name in settings:
        if name not in known:
            expected = f"a setting of model {model!r}: {', '.join(known)}"
            raise ArgumentError(name, "an unknown setting", expected)
    usual = preset.tokens_for(known) if preset else {}
    return TRAINERS[model](**{**usual, **settings})


def kind_of(trainer: Trainer) -> str:
    """Return the name of the model kind that a trainer learns.

    >>> kind_of(WordTrainer())
    'word'
    """
    for kind, trained in TRAINERS.items():
        if type(trainer) is trained:
            return kind
    raise ArgumentError("trainer", type(trainer).__name__, "one of the trainers of this library")
