"""Resolve the arguments of `Tokenizer.train` to a plan: trainer, preset, pipeline, sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from piecework._internal.validation import check_type, unknown_choice
from piecework.errors import ArgumentError
from piecework.spec import TokenizerSpec
from piecework.train.learn import smallest_spec
from piecework.train.pipeline import Pipeline
from piecework.train.presets import PRESETS, Preset, named_preset, preset_of_pipeline
from piecework.train.sentencepiece_presets import (
    SENTENCEPIECE_PRESETS,
    SentencePiecePreset,
    sentencepiece_preset,
    sentencepiece_preset_of,
)
from piecework.train.sentences import Sentences
from piecework.train.trainer import Trainer
from piecework.train.trainers import SentencePieceTrainer, kind_of, trainer_for


@dataclass(frozen=True)
class Plan:
    """The trainer, and the pipeline and sentences to count for it.

    >>> Plan.of(None, "word", None, {"vocab_size": 9}).trainer.vocab_size
    9

    `preset` is None if the trainer has its own pipeline and no preset is named. `tests` is the number of
    sentences to store in the model as a self-test.
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
        *,
        counted: Pipeline | None = None,
    ) -> Plan:
        """Return the plan for a trainer, or for a kind of model and the settings of its trainer.

        Without `model`, the preset decides it: "gpt2" means byte-level BPE, most others WordPiece. With a
        SentencePiece preset, `model` is one of the SentencePiece types, and "sentencepiece" means the type of
        the preset. `counted` is the pipeline of counts, which replaces the default preset and, as the preset
        would, the default model. Raises `ArgumentError` for arguments in conflict, and for counts that the
        model does not support.
        """
        if trainer is not None:
            check_type("trainer", trainer, Trainer, "a trainer")
        model = model.lower() if isinstance(model, str) else model
        _check_preset_name(preset)
        if preset is None and counted is not None:
            model, preset = _model_and_preset_for(counted, trainer, model, settings)
        if trainer is not None and (model is not None or settings):
            found = "model" if model is not None else next(iter(settings))
            problem = "cannot be combined; pass settings or a trainer"
            raise ArgumentError(found, problem, also=["trainer"])
        is_sentencepiece = _is_sentencepiece_preset(preset)
        if trainer is None and is_sentencepiece and model in SentencePieceTrainer.TYPES:
            model, settings = "sentencepiece", {**settings, "model_type": model}
        kind = _kind(trainer, model, preset)
        if kind == "sentencepiece":
            return cls._for_sentencepiece(trainer, preset, settings)
        if is_sentencepiece:
            raise _preset_of_other_model(preset, kind)
        if trainer is None:
            named = None if preset is None else named_preset(preset)
            trainer = trainer_for(kind, settings, named)
        return cls._with(trainer, trainer.preset_for(preset, None))

    def smallest_spec(self) -> TokenizerSpec:
        """Return a specification as the trainer learns it, with the smallest vocabulary.

        >>> list(Plan.of(None, "word", None, {}).smallest_spec().model.vocab)
        ['[UNK]', 'a']

        A format that cannot store it cannot store the trained tokenizer.
        """
        return smallest_spec(self.trainer, self.preset)

    def roles_in(self, vocab: Mapping[str, int]) -> dict[str, str]:
        """Return the roles of the preset whose token a vocabulary has.

        >>> Plan.of(None, "byte-bpe", "qwen2", {}).roles_in({"<|endoftext|>": 0})
        {'eos_token': '<|endoftext|>', 'pad_token': '<|endoftext|>'}
        """
        roles = {} if self.preset is None else self.preset.roles
        return {role: token for role, token in roles.items() if token in vocab}

    @classmethod
    def _for_sentencepiece(
        cls,
        trainer: Trainer | None,
        preset: str | Preset | SentencePiecePreset | None,
        settings: Mapping[str, Any],
    ) -> Plan:
        if trainer is not None and preset is not None:
            raise ArgumentError(
                "preset",
                f"must be None, not {preset!r}: a SentencePieceTrainer has settings for the "
                "whole pipeline",
            )
        chosen = None if preset is None else sentencepiece_preset(preset)
        if trainer is None:
            merged = settings if chosen is None else chosen.settings_with(settings)
            if chosen is not None and "transition" not in settings:
                _check_type(merged, chosen)
            trainer = trainer_for("sentencepiece", merged)
        if chosen is not None:
            _check_words(trainer, chosen)
        return cls._with(trainer, chosen)

    @classmethod
    def _with(cls, trainer: Trainer, preset: Any) -> Plan:
        pipeline = trainer.pipeline_with(preset)
        return cls(trainer, preset, pipeline, trainer.sentences, trainer.self_tests)


def _kind(
    trainer: Trainer | None, model: str | None, preset: str | Preset | SentencePiecePreset | None
) -> str:
    """Return the kind of model of the trainer, the one that is named, or that of the preset."""
    if trainer is not None:
        return kind_of(trainer)
    if model is not None:
        return model
    if isinstance(preset, SentencePiecePreset) or _is_sentencepiece_preset(preset):
        return "sentencepiece"
    return model_of(preset)


def model_of(preset: str | Preset | None) -> str:
    """Return the model to train with a preset, if the caller names none.

    >>> model_of(None), model_of("gpt2"), model_of("metaspace")
    ('wordpiece', 'byte-bpe', 'bpe')
    """
    if preset is None:
        return "wordpiece"
    chosen = named_preset(preset)
    if chosen.pipeline.is_byte_level:
        return "byte-bpe"
    models = {"sentencepiece": "unigram", "metaspace": "bpe", "characters": "char"}
    return models.get(chosen.name, "wordpiece")


def _check_preset_name(preset: object) -> None:
    if isinstance(preset, str) and preset not in PRESETS.keys() | SENTENCEPIECE_PRESETS.keys():
        names = dict.fromkeys((*PRESETS, *SENTENCEPIECE_PRESETS))
        raise unknown_choice("preset", preset, names)


def _check_type(settings: Mapping[str, Any], preset: SentencePiecePreset) -> None:
    """Raise for a type of model that has no pieces that cross spaces, if a preset asks for them."""
    if settings.get("transition") is not None and settings.get("model_type") != "bpe":
        problem = (
            f"{preset.name!r} does not support model {settings.get('model_type')!r}: only "
            "BPE pieces cross spaces; use model 'bpe', or preset 'llama'"
        )
        raise ArgumentError("preset", problem)


def _check_words(trainer: Trainer, preset: SentencePiecePreset) -> None:
    """Raise if the symbols of a preset divide the words of a word model, which are then unknown."""
    symbols = set(trainer.fixed_tokens) & set(preset.settings.get("user_defined_symbols", ()))
    if trainer.detail == "word" and symbols:
        expected = "another model, or preset 't5' or 'llama'"
        problem = (
            f"{preset.name!r} does not support model 'word': its symbols divide "
            f"words; use {expected}"
        )
        raise ArgumentError("preset", problem)


def _is_sentencepiece_preset(preset: str | Preset | SentencePiecePreset | None) -> bool:
    is_name = isinstance(preset, str) and preset in SENTENCEPIECE_PRESETS
    return is_name or isinstance(preset, SentencePiecePreset)


def _preset_of_other_model(
    preset: str | Preset | SentencePiecePreset | None, kind: str
) -> ArgumentError:
    name = preset.name if isinstance(preset, SentencePiecePreset) else preset
    types = ", ".join(SentencePieceTrainer.TYPES)
    expected = f"no model or one of {types}, or another preset: {', '.join(PRESETS)}"
    return ArgumentError("preset", f"{name!r} does not support model {kind!r}; use {expected}")


def _model_and_preset_for(
    counted: Pipeline, trainer: Trainer | None, model: str | None, settings: Mapping[str, Any]
) -> tuple[str | None, Preset | SentencePiecePreset | None]:
    """Return the model and the preset for counts of a pipeline; None where the default is meant."""
    if trainer is not None:
        return model, None if trainer.has_own_pipeline else trainer.preset_for(None, counted)
    if model == "sentencepiece" and _counts_with(counted, settings):
        return model, None
    of_sentencepiece = sentencepiece_preset_of(counted)
    if of_sentencepiece is not None or model == "sentencepiece":
        return model, of_sentencepiece
    named = preset_of_pipeline(counted)
    if model is None:
        model = "byte-bpe" if counted.is_byte_level else model_of(named)
    return model, trainer_for(model, settings, named).preset_for(None, counted)


def _counts_with(counted: Pipeline, settings: Mapping[str, Any]) -> bool:
    """Return whether a `SentencePieceTrainer` with these settings counts with this pipeline."""
    trainer = trainer_for("sentencepiece", settings)
    return trainer.pipeline_with(None).agrees_with(counted)
