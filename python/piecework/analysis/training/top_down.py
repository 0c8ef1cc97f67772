"""The thresholds that the top-down learner tries: the reference repeats it and records each one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from piecework._internal.step_selection import Selection
from piecework.analysis.training.merges import settings_of
from piecework.analysis.training.steps import LengthCount, TrainingThreshold
from piecework.analysis.training.trace import TrainingTrace, check_same, check_small
from piecework.reference.wordpiece_top_down import TopDownLearner
from piecework.reference.wordpiece_training import Settings, alphabet_entries, length_of
from piecework.train import Counts, WordPieceTrainer

MAX_CHARACTERS = 20_000


def trace_top_down(
    counts: Counts, trainer: WordPieceTrainer, wanted: Selection, top: int
) -> TrainingTrace:
    """Trace the top-down learner."""
    check_small(counts, MAX_CHARACTERS, "the learner TopDown()")
    learned = trainer.learn_vocabulary(counts)
    settings = settings_of(Settings, trainer, counts)
    words = list(counts)
    learner = _RecordingLearner(words, settings, wanted, top)
    check_same(tuple(learner.learn().vocab), learned.entries, "the vocabulary")
    return TrainingTrace(
        learner="WordPiece from the top down",
        words=tuple(words),
        special_tokens=trainer.special_tokens,
        alphabet=tuple(alphabet_entries(words, settings)),
        steps=tuple(learner.steps),
        step_count=len(learner.tried),
        vocab=learned.entries,
        stopped_early=learned.stopped_early,
    )


class _RecordingLearner(TopDownLearner):
    """The learner of the reference, which records the thresholds it tries."""

    def __init__(
        self, words: Sequence[tuple[str, int]], settings: Settings, wanted: Selection, top: int
    ) -> None:
        super().__init__(words, settings)
        self.wanted, self.top = wanted, top
        self.tried: dict[int, list[str]] = {}
        self.steps: list[TrainingThreshold] = []
        self.substrings = super().substring_counts(None)

    def new_entries(self, vocab: Sequence[str], threshold: int) -> list[str]:
        """Return the entries of a threshold; record it when it is tried first."""
        if threshold not in self.tried:
            self.tried[threshold] = super().new_entries(vocab, threshold)
            if len(self.tried) in self.wanted:
                self.steps.append(self._step(vocab, threshold))
        # The learner asks twice for some thresholds, the second time with more entries in `vocab`.
        return [entry for entry in self.tried[threshold] if entry not in vocab]

    def _step(self, vocab: Sequence[str], threshold: int) -> TrainingThreshold:
        kept = self.kept_at(threshold)
        entries = self.tried[threshold]
        size = len(vocab) + len(entries)
        return TrainingThreshold(
            number=len(self.tried),
            threshold=threshold,
            vocab_size=size,
            fits=size <= self.settings.vocab_size,
            lengths=tuple(self._lengths(threshold, kept)),
            entries=tuple((entry, kept[entry]) for entry in entries[: self.top]),
            entry_count=len(entries),
        )

    def _lengths(self, threshold: int, kept: dict[str, int]) -> list[LengthCount]:
        prefix = self.settings.continuing_subword_prefix
        counts = self.substrings
        every = Counter(length_of(entry, prefix) for entry in counts)
        frequent = Counter(
            length_of(entry, prefix) for entry, count in counts.items() if count >= threshold
        )
        left = Counter(length_of(entry, prefix) for entry in kept)
        lengths = sorted((length for length in every if length > 1), reverse=True)
        return [LengthCount(n, every[n], frequent[n], left[n]) for n in lengths if frequent[n]]
