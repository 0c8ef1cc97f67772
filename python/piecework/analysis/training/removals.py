"""The WordPiece learners that remove entries: the reference repeats them and records each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from piecework._internal.step_selection import Selection
from piecework.analysis.training.merges import settings_of
from piecework.analysis.training.steps import (
    EntryLoss,
    LengthCount,
    SplitChange,
    TrainingRemoval,
    TrainingThreshold,
)
from piecework.analysis.training.trace import TrainingTrace, check_same, check_small
from piecework.reference import wordpiece_pruning
from piecework.reference.wordpiece_top_down import TopDownLearner
from piecework.reference.wordpiece_training import (
    Settings,
    alphabet_entries,
    initial_vocabulary,
    length_of,
)
from piecework.train import Counts, WordPieceTrainer


def trace_pruning(
    counts: Counts, trainer: WordPieceTrainer, wanted: Selection, top: int
) -> TrainingTrace:
    """Trace the pruning learner."""
    check_small(counts, 3_000, "the learner Pruning()")
    learned = trainer.learn_removals(counts)
    settings = settings_of(wordpiece_pruning.PruningSettings, trainer, counts)
    words = list(counts)
    base = initial_vocabulary(words, settings)
    found = wordpiece_pruning.find_seeds(words, settings)
    seeds = {entry: count for entry, count in found.items() if entry not in base}
    pruner = RecordingPruner(wordpiece_pruning.usable_words(words, settings), settings, base, seeds)
    pruner.start_recording(wanted, top)
    if len(base) + len(seeds) > settings.vocab_size:
        pruner.prune(settings.vocab_size - len(base))
        pruner.put_back()
    traced = {*base, *pruner.removable()}
    check_same(traced, set(learned.entries), "the vocabulary")
    check_same(pruner.step_count, len(learned.removals), "the number of removals")
    for step in pruner.steps:
        back = None if step.put_back is None else step.put_back.entry
        removal = learned.removals[step.number - 1]
        traced_removal = (step.removed.entry, step.removed.loss, back)
        check_same(
            traced_removal,
            (removal.token, removal.loss, removal.put_back),
            f"removal {step.number}",
        )
    return TrainingTrace(
        learner=f"WordPiece by pruning, segmentation {settings.segmentation!r}",
        words=tuple(words),
        special_tokens=trainer.special_tokens,
        alphabet=tuple(alphabet_entries(words, settings)),
        seeds=tuple(seeds.items()),
        steps=tuple(pruner.steps),
        step_count=pruner.step_count,
        vocab=learned.entries,
        stopped_early=learned.stopped_early,
    )


@dataclass
class RecordingPruner(wordpiece_pruning.Pruner):
    """The pruner of the reference, which records what it removes."""

    steps: list[TrainingRemoval] = field(default_factory=list)
    step_count: int = 0

    def start_recording(self, wanted: Selection, top: int) -> None:
        """Record the wanted removals from now on, each with the `top` least losses."""
        self.wanted, self.top = wanted, top
        self.returned: tuple[EntryLoss, dict[str, list[str]]] | None = None
        self.losses: dict[str, int] = {}
        self.present = _RecordedEntries(self.present, self)

    # ---- the learner

    def segment(self, word: str, vocab: Iterable[str]) -> list[str]:
        """Return the tokens of a word."""
        if self.settings.segmentation != "greedy":
            return super().segment(word, vocab)
        prefix, known = self.settings.continuing_subword_prefix, vocab
        assert isinstance(known, set)
        tokens: list[str] = []
        start = 0
        while start < len(word):
            head = prefix if start else ""
            ends = range(len(word), start, -1)
            end = next(end for end in ends if head + word[start:end] in known)
            tokens.append(head + word[start:end])
            start = end
        return tokens

    def cheapest(self) -> tuple[str, int]:
        """Return the entry with the least loss, and its loss; keep all losses."""
        self.losses = {entry: self.loss(entry, self.present) for entry in self.removable()}
        entry = min(self.losses, key=lambda entry: (self.losses[entry], self.rank(entry)))
        return entry, self.losses[entry]

    # ---- the record

    def record_addition(self, entry: str) -> None:
        """Keep what an entry saves that returns."""
        before = self.present - {entry}
        saved = self.loss(entry, set(self.present))
        self.returned = (self._loss_of(entry, saved), self._segmented(before))

    def record_removal(self, entry: str) -> None:
        """Record a removal, or the swap that it completes; `entry` is not removed yet."""
        returned, self.returned = self.returned, None
        if returned is not None and returned[0].entry == entry:
            return
        self.step_count += 1
        if self.step_count not in self.wanted:
            return
        before = self._segmented(self.present) if returned is None else returned[1]
        after = self._segmented(self.present - {entry})
        counts = dict(self.words)
        changes = [
            SplitChange(counts[word], tuple(before[word]), tuple(after[word]))
            for word in before
            if before[word] != after[word]
        ]
        order = sorted(self.losses, key=lambda entry: (self.losses[entry], self.rank(entry)))
        size = len(self.base) + len(self.removable()) - 1
        step = TrainingRemoval(
            number=self.step_count,
            removed=self._loss_of(entry, self.losses[entry]),
            candidates=tuple(self._loss_of(one, self.losses[one]) for one in order[: self.top]),
            removable=len(order),
            tied=sum(loss == self.losses[entry] for loss in self.losses.values()),
            changes=tuple(changes[: self.top]),
            changed_words=len(changes),
            vocab_size=size,
            put_back=None if returned is None else returned[0],
        )
        self.steps.append(step)

    def _loss_of(self, entry: str, loss: int) -> EntryLoss:
        return EntryLoss(entry, self.seeds[entry], loss / wordpiece_pruning.ONE)

    def _segmented(self, vocab: set[str]) -> dict[str, list[str]]:
        known = set(vocab)
        return {word: self.segment(word, known) for word, _ in self.words}


class _RecordedEntries(set[str]):
    """The present entries; calls the pruner before it removes an entry and after it adds one."""

    def __init__(self, entries: Iterable[str], pruner: RecordingPruner) -> None:
        super().__init__(entries)
        self._pruner = pruner

    def add(self, entry: str) -> None:
        super().add(entry)
        self._pruner.record_addition(entry)

    def remove(self, entry: str) -> None:
        self._pruner.record_removal(entry)
        super().remove(entry)


def trace_top_down(
    counts: Counts, trainer: WordPieceTrainer, wanted: Selection, top: int
) -> TrainingTrace:
    """Trace the top-down learner."""
    check_small(counts, 20_000, "the learner TopDown()")
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
