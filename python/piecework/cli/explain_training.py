"""The trace of a training run, for the arguments of `piecework explain --training`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import piecework as pw
from piecework.cli.options import LEARNER_OPTIONS, OnError, count_or_load, plan_of


def trace_corpus(
    corpus: Sequence[str],
    model: str | None,
    preset: str | None,
    given: Mapping[str, Any],
    reading: Mapping[str, Any],
    on_error: OnError,
    **how: Any,
) -> pw.analysis.TrainingTrace:
    """Train on a corpus of files; `how` selects steps."""
    plan = plan_of(model, preset, given)
    counts = count_or_load(
        corpus, plan.pipeline, sentences=plan.sentences, on_error=on_error, **reading
    )
    return pw.analysis.explain_training(counts, plan.trainer, **how)


def trace_example(
    name: str, model: str | None, preset: str | None, given: Mapping[str, Any], **how: Any
) -> pw.analysis.TrainingTrace:
    """Train on a built-in example with its settings; given ones replace them."""
    example = pw.analysis.training_example(name)
    trainer: pw.train.Trainer = example.trainer
    counts = example.counts
    if model is not None or preset is not None or given:
        settings = {**_settings(example.trainer, model, given), **given}
        plan = plan_of(model, preset or _preset(model, example.preset), settings)
        trainer = plan.trainer
        if example.texts:
            counts = pw.count_texts(example.texts, preset=plan.pipeline, sentences=plan.sentences)
    return pw.analysis.explain_training(counts, trainer, **how)


def _settings(
    trainer: pw.WordPieceTrainer, model: str | None, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the settings of an example that a model of this kind takes and that were not replaced."""
    found: dict[str, Any] = {"vocab_size": trainer.vocab_size}
    if model in (None, "wordpiece", "bpe", "byte-bpe"):
        found["min_frequency"] = trainer.min_frequency
    if model in (None, "wordpiece"):
        found["special_tokens"] = trainer.special_tokens
        if not LEARNER_OPTIONS & given.keys():
            found["learner"] = trainer.learner
    return found


def _preset(model: str | None, wordpiece: str) -> str | None:
    return wordpiece if model in (None, "wordpiece") else None
