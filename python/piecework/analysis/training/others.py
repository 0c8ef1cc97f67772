"""The result of trainers and learners without a trace of their own, such as a ranking of words by count.

A new learner works without a trace; its steps are a file here and a row of `_TRACES`.
"""

from __future__ import annotations

from piecework.analysis.training.merges import settings_of
from piecework.analysis.training.trace import TrainingTrace
from piecework.reference.wordpiece_training import Settings, alphabet_entries
from piecework.train import Counts, Trainer


def trace_without_steps(counts: Counts, trainer: Trainer) -> TrainingTrace:
    """Return the vocabulary that a trainer learns, and the alphabet of WordPiece."""
    unit = getattr(trainer, "unit", None)
    return TrainingTrace(
        learner=f"the most frequent {unit}" if unit else f"{trainer.title} {trainer.detail}",
        words=tuple(counts.most_common()),
        special_tokens=trainer.fixed_tokens,
        alphabet=_alphabet(counts, trainer),
        steps=(),
        step_count=0,
        vocab=tuple(trainer.learn(counts).vocab),
    )


def _alphabet(counts: Counts, trainer: Trainer) -> tuple[str, ...]:
    """Return the entries of single characters that come before the learned ones."""
    if trainer.kind != "wordpiece":
        return ()
    return tuple(alphabet_entries(list(counts), settings_of(Settings, trainer, counts)))
