"""The result of trainers that have no steps to show, such as those that rank words or characters by count."""

from __future__ import annotations

from piecework.analysis.training.trace import TrainingTrace
from piecework.train import Counts, Trainer


def trace_without_steps(counts: Counts, trainer: Trainer) -> TrainingTrace:
    """Return the vocabulary that a trainer learns."""
    unit = getattr(trainer, "unit", None)
    return TrainingTrace(
        learner=f"the most frequent {unit}" if unit else f"{trainer.title} {trainer.detail}",
        words=tuple(counts.most_common()),
        special_tokens=trainer.fixed_tokens,
        alphabet=(),
        splits=(),
        seeds=(),
        steps=(),
        step_count=0,
        vocab=tuple(trainer.learn(counts).vocab),
    )
