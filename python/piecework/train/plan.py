"""What `Tokenizer.train` is to learn, made of what its caller says: a trainer, its words, its sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from piecework.errors import ArgumentError
from piecework.train.pipeline import Pipeline
from piecework.train.presets import PRESETS, Preset, preset_for
from piecework.train.sentencepiece_presets import (
    SENTENCEPIECE_PRESETS,
    SentencePiecePreset,
    sentencepiece_preset,
)
from piecework.train.sentences import Sentences
from piecework.train.trainers import (
    SENTENCEPIECE_TYPES,
    SentencePieceTrainer,
    Trainer,
    kind_of,
    trainer_for,
)


@dataclass(frozen=True)
class Plan:
    """What is learned, of which words of which sentences.

    >>> Plan.of(None, "word", None, {"vocab_size": 9}).trainer.vocab_size
    9

    `preset` is None where the trainer has a pipeline of its own and none was named; `tests` is how many
    sentences are kept in the model with their pieces.
    """

    trainer: Trainer
    preset: Preset | SentencePiecePreset | None
    pipeline: Pipeline
    sentences: Sentences
    tests: int = 0

    @classmethod
    def of(
        cls,
        trainer: Trainer | None,
        model: str | None,
        preset: str | Preset | SentencePiecePreset | None,
        settings: Mapping[str, Any],
    ) -> Plan:
        """Make a plan of a trainer, or of a kind of model with the settings of its trainer.

        Beside a preset of SentencePiece the kind is one of its types; "sentencepiece" is that of the preset.
        """
        model = model.lower() if isinstance(model, str) else model
        if isinstance(preset, str) and preset not in PRESETS.keys() | SENTENCEPIECE_PRESETS.keys():
            names = ", ".join(dict.fromkeys((*PRESETS, *SENTENCEPIECE_PRESETS)))
            raise ArgumentError("preset", repr(preset), f"one of {names}")
        if trainer is not None and (model is not None or settings):
            found = "model" if model is not None else next(iter(settings))
            raise ArgumentError(found, "a setting beside a trainer", "the trainer alone")
        if trainer is None and _is_of_sentencepiece(preset) and model in SENTENCEPIECE_TYPES:
            model, settings = "sentencepiece", {**settings, "model_type": model}
        kind = _kind(model, preset) if trainer is None else kind_of(trainer)
        if kind == "sentencepiece":
            return cls._of_sentencepiece(trainer, preset, settings)
        if _is_of_sentencepiece(preset):
            name = preset.name if isinstance(preset, SentencePiecePreset) else preset
            types = ", ".join(SENTENCEPIECE_TYPES)
            expected = f"no model or one of {types}, or a preset of pipelines: {', '.join(PRESETS)}"
            raise ArgumentError("preset", f"{name!r} beside the model {kind!r}", expected)
        assert not isinstance(preset, SentencePiecePreset)
        chosen = preset_for(kind, preset)
        made = trainer_for(kind, settings, chosen) if trainer is None else trainer
        return cls(made, chosen, chosen.pipeline, Sentences())

    @classmethod
    def _of_sentencepiece(
        cls,
        trainer: Trainer | None,
        preset: str | Preset | SentencePiecePreset | None,
        settings: Mapping[str, Any],
    ) -> Plan:
        if trainer is not None and preset is not None:
            expected = "None: a SentencePieceTrainer has settings for all of the pipeline"
            raise ArgumentError("preset", repr(preset), expected)
        usual = None if preset is None else sentencepiece_preset(preset)
        if trainer is None:
            given = settings if usual is None else usual.settings_with(settings)
            trainer = trainer_for("sentencepiece", given)
        assert isinstance(trainer, SentencePieceTrainer)
        tests = trainer.self_test_sample_size
        return cls(trainer, usual, trainer.pipeline, trainer.sentences, tests)


def _kind(model: str | None, preset: str | Preset | SentencePiecePreset | None) -> str:
    """Return the kind of model; the presets of SentencePiece are of its kind unless another is named."""
    if model is not None:
        return model
    return "sentencepiece" if _is_of_sentencepiece(preset) else "wordpiece"


def _is_of_sentencepiece(preset: str | Preset | SentencePiecePreset | None) -> bool:
    is_name = isinstance(preset, str) and preset in SENTENCEPIECE_PRESETS
    return is_name or isinstance(preset, SentencePiecePreset)
