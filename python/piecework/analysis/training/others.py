"""The results of learners without a trace of their steps: words, characters and SentencePiece."""

from __future__ import annotations

from piecework.analysis.step_selection import Selection
from piecework.analysis.training.steps import TrainingEstimate
from piecework.analysis.training.trace import TrainingTrace
from piecework.train import CharTrainer, Counts, SentencePieceTrainer, WordTrainer


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


def trace_sentencepiece(
    counts: Counts, trainer: SentencePieceTrainer, wanted: Selection
) -> TrainingTrace:
    """Return the pieces of a SentencePiece trainer, and the log-likelihood of each EM iteration."""
    learned = trainer.learn_pieces(counts)
    per_round = trainer.num_sub_iterations
    steps = [
        TrainingEstimate(
            number=number,
            round=(number - 1) // per_round + 1,
            iteration=(number - 1) % per_round + 1,
            pieces=step.pieces,
            log_likelihood=step.log_likelihood,
            estimates=(),
            dropped=(),
        )
        for number, step in enumerate(learned.steps, 1)
    ]
    pieces = trainer.learn(counts).pieces
    return TrainingTrace(
        learner=f"SentencePiece, model type {trainer.model_type!r}",
        words=tuple(counts),
        special_tokens=tuple(piece.text for piece in trainer.meta_pieces.values()),
        alphabet=(),
        splits=(),
        seeds=(),
        steps=tuple(step for step in steps if step.number in wanted),
        step_count=len(steps),
        vocab=tuple(piece.text for piece in pieces),
        scores=tuple(piece.score for piece in pieces),
    )
