"""The result of trainers that rank words or characters by count, and have no steps."""

from __future__ import annotations

from piecework.analysis.training.trace import TrainingTrace
from piecework.train import CharTrainer, Counts, WordTrainer


def trace_ranking(counts: Counts, trainer: WordTrainer | CharTrainer) -> TrainingTrace:
    """Return the vocabulary of a trainer that ranks words or characters by count."""
    unit = "words" if isinstance(trainer, WordTrainer) else "characters"
    return TrainingTrace(
        learner=f"the most frequent {unit}",
        words=tuple(counts.most_common()),
        special_tokens=trainer.special_tokens,
        alphabet=(),
        splits=(),
        seeds=(),
        steps=(),
        step_count=0,
        vocab=tuple(trainer.learn(counts).vocab),
    )
