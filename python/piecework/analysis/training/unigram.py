"""The EM iterations and pruning rounds of the Unigram learner: the reference repeats the learner."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from piecework._internal.step_selection import Selection
from piecework.analysis.metrics import ratio
from piecework.analysis.training.merges import settings_of
from piecework.analysis.training.steps import (
    PieceEstimate,
    PieceLoss,
    TrainingEstimate,
    TrainingLattice,
    TrainingPruning,
)
from piecework.analysis.training.trace import TrainingTrace, check_same, check_small
from piecework.analysis.word_steps import MAX_CHARS, ScoredPieces
from piecework.errors import ArgumentError
from piecework.reference import unigram_pruning
from piecework.reference import unigram_training as reference
from piecework.reference.unigram_pruning import PrunedSettings
from piecework.train import ByteUnigramTrainer, Counts, UnigramTrainer
from piecework.train.learned import LearnedPieces
from piecework.train.trainer import by_characters, traits_of

MAX_CHARACTERS = 20_000
MAX_PRUNED_CHARACTERS = 3_000
_WORDS_NAMED = 3


def trace_unigram(
    counts: Counts,
    trainer: UnigramTrainer | ByteUnigramTrainer,
    wanted: Selection,
    top: int,
    word: str | None,
) -> TrainingTrace:
    """Trace the Unigram learner, and the lattice of one of its words."""
    traits = traits_of(trainer)
    name, trainer = f"{traits.title} {traits.detail}".rstrip(), by_characters(trainer)
    settings: reference.Settings
    if trainer.learner is None:
        check_small(counts, MAX_CHARACTERS, "the Unigram learner")
        settings = settings_of(reference.Settings, trainer)
    else:
        check_small(counts, MAX_PRUNED_CHARACTERS, f"the Unigram learner {trainer.learner}")
        settings = settings_of(PrunedSettings, trainer)
    learned = trainer.learn_pieces(counts)
    words = list(counts)
    _check_word(word, words)
    run = _Replay(words, settings, learned, word)
    steps = [step for step in run.steps(top) if step.number in wanted]
    check_same(run.chosen(), learned.pieces, "the pieces")
    return TrainingTrace(
        learner=name,
        words=tuple(words),
        special_tokens=trainer.special_tokens,
        alphabet=tuple(run.required),
        seeds=tuple(sorted(run.seeds.items(), key=lambda seed: (-seed[1], seed[0]))),
        steps=tuple(steps),
        step_count=run.step_count,
        vocab=tuple(entry for entry, _ in learned.pieces),
        scores=tuple(score for _, score in learned.pieces),
        lattice=word_lattice(word, dict(run.best_pieces())),
    )


def _check_word(word: str | None, words: Sequence[tuple[str, int]]) -> None:
    """Raise `ArgumentError` unless a word is one of the corpus that has a lattice."""
    if word is None:
        return
    if word not in {one for one, _ in words}:
        some = ", ".join(repr(one) for one, _ in words[:_WORDS_NAMED])
        raise ArgumentError("word", f"must be a word of the corpus, such as {some}, not {word!r}")
    if len(word) > MAX_CHARS:
        raise ArgumentError("word", f"has {len(word):,} characters; the limit is {MAX_CHARS}")


def word_lattice(word: str | None, scores: Mapping[str, float]) -> TrainingLattice | None:
    """Return the lattice of a word with the probability of each edge, None without a word.

    >>> found = word_lattice("aa", {"a": math.log(0.5), "aa": math.log(0.25)})
    >>> [(edge.piece, p) for edge, p in zip(found.lattice.edges, found.probabilities)]
    [('aa', 0.5), ('a', 0.5), ('a', 0.5)]
    """
    lattice = None if word is None else ScoredPieces(scores).lattice(word)
    if word is None or lattice is None:
        return None
    forward = [1.0] + [0.0] * len(word)
    backward = [0.0] * len(word) + [1.0]
    for edge in lattice.edges:
        forward[edge.end] += forward[edge.start] * math.exp(edge.score)
    for edge in reversed(lattice.edges):
        backward[edge.start] += backward[edge.end] * math.exp(edge.score)
    probabilities = tuple(
        ratio(forward[edge.start] * math.exp(edge.score) * backward[edge.end], forward[-1])
        for edge in lattice.edges
    )
    return TrainingLattice(word, lattice, probabilities)


class _Replay:
    """The learner of the reference, step by step."""

    def __init__(
        self,
        words: list[tuple[str, int]],
        settings: reference.Settings,
        learned: LearnedPieces,
        word: str | None,
    ) -> None:
        self.settings, self.learned, self.word = settings, learned, word
        self.segments, self.reserved, self.required = reference.segmented(words, settings)
        self.token_cost = 0.0
        if isinstance(settings, PrunedSettings):
            self.seeds = unigram_pruning.seeds(
                self.segments, self.reserved, self.required, settings
            )
            self.token_cost = unigram_pruning.token_cost(settings)
        else:
            self.seeds = reference.seeds(self.segments, self.reserved, settings)
        size = reference.size_within(
            settings.vocab_size, len(self.reserved), self.required, self.seeds
        )
        self.wanted = size - len(self.reserved)
        self.scores = self.seeds
        self.step_count = 0

    def steps(self, top: int) -> Iterator[TrainingEstimate | TrainingPruning]:
        """Yield every step."""
        target = int((len(self.reserved) + self.wanted) * reference.SURPLUS)
        estimates = iter(self.learned.steps)
        for round in range(1, len(self.learned.steps) + 1):
            for iteration in range(1, self.settings.num_sub_iterations + 1):
                found = next(estimates)
                check_same(len(self.scores), found.pieces, "the number of pieces")
                yield self._estimate(round, iteration, found.log_likelihood, top)
            if len(self.scores) <= target:
                return
            size = max(int(self.settings.shrinking_factor * len(self.scores)), target)
            yield self._prune(round, size, top)

    def chosen(self) -> tuple[tuple[str, float], ...]:
        """Return the reserved entries and the best pieces."""
        reserved = tuple((entry, 0.0) for entry in self.reserved)
        pieces = ((piece, score - self.token_cost) for piece, score in self.best_pieces())
        return (*reserved, *pieces)

    def best_pieces(self) -> list[tuple[str, float]]:
        """Return the best pieces with their scores."""
        return reference.choose(self.scores, self.required, self.wanted)

    def _estimate(
        self, round: int, iteration: int, log_likelihood: float, top: int
    ) -> TrainingEstimate:
        unit = reference.unit(self.segments)
        expected = reference.expect(self.segments, self.scores, self.settings.count_exponent)
        before, self.scores = self.scores, reference.maximize(expected, unit, self.wanted)
        order = sorted(expected, key=lambda piece: (-expected[piece], piece))
        self.step_count += 1
        return TrainingEstimate(
            number=self.step_count,
            round=round,
            iteration=iteration,
            pieces=len(before),
            log_likelihood=log_likelihood,
            estimates=tuple(
                PieceEstimate(piece, expected[piece] / unit, self.scores.get(piece))
                for piece in order[:top]
            ),
            dropped=tuple(piece for piece in order if piece not in self.scores),
            lattice=word_lattice(self.word, before),
        )

    def _prune(self, round: int, size: int, top: int) -> TrainingPruning:
        before, exponent = self.scores, self.settings.count_exponent
        self.scores = reference.prune(self.segments, before, size, self.wanted, exponent)
        counts = reference.best_uses(self.segments, before, exponent)
        total = math.fsum(counts.values())
        losses = {piece: reference.loss(piece, before, counts, total) for piece in before}
        order = sorted(before, key=lambda piece: (losses[piece], before[piece], piece))
        shown = [_piece_loss(piece, counts.get(piece, 0.0), losses[piece]) for piece in order]
        removed = [one for one in shown if one.piece not in self.scores]
        kept = [one for one in shown if one.piece in self.scores]
        self.step_count += 1
        return TrainingPruning(
            number=self.step_count,
            round=round,
            pieces=len(before),
            removed=tuple(removed[:top]),
            removed_count=len(removed),
            kept=tuple(kept[:top]),
            lattice=word_lattice(self.word, before),
        )


def _piece_loss(piece: str, uses: float, loss: float) -> PieceLoss:
    count = int(uses) if uses.is_integer() else uses
    if math.isfinite(loss):
        return PieceLoss(piece, count, loss, "")
    if loss > 0:
        return PieceLoss(piece, count, None, "a single character in use stays")
    reason = "its parts are likelier" if count else "in no best segmentation"
    return PieceLoss(piece, count, None, reason)
