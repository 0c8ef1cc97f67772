"""What `Tokenizer.train` is to learn, made of what its caller says: a trainer, its words, its sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from piecework.errors import ArgumentError
from piecework.train.pipeline import Pipeline
from piecework.train.presets import Preset, preset_for
from piecework.train.sentences import Sentences
from piecework.train.trainers import SentencePieceTrainer, Trainer, kind_of, trainer_for


@dataclass(frozen=True)
class Plan:
    """What is learned, of which words of which sentences.

    >>> Plan.of(None, "word", None, {"vocab_size": 9}).trainer.vocab_size
    9

    `preset` is None where the trainer has a pipeline of its own; `tests` is how many sentences are kept in
    the model with their pieces.
    """

    trainer: Trainer
    preset: Preset | None
    pipeline: Pipeline
    sentences: Sentences
    tests: int = 0

    @classmethod
    def of(
        cls,
        trainer: Trainer | None,
        model: str | None,
        preset: str | Preset | None,
        settings: Mapping[str, Any],
    ) -> Plan:
        """Make a plan of a trainer, or of a kind of model with the settings of its trainer."""
        if trainer is not None and (model is not None or settings):
            found = "model" if model is not None else next(iter(settings))
            raise ArgumentError(found, "a setting beside a trainer", "the trainer alone")
        kind = (model or "wordpiece") if trainer is None else kind_of(trainer)
        chosen = None if kind == "sentencepiece" else preset_for(kind, preset)
        made = trainer_for(kind, settings, chosen) if trainer is None else trainer
        if isinstance(made, SentencePieceTrainer):
            _refuse_preset(preset)
            return cls(made, None, made.pipeline, made.sentences, made.self_test_sample_size)
        assert chosen is not None
        return cls(made, chosen, chosen.pipeline, Sentences())


def _refuse_preset(preset: str | Preset | None) -> None:
    if preset is not None:
        expected = "None: a SentencePieceTrainer has settings for all of the pipeline"
        raise ArgumentError("preset", repr(preset), expected)
