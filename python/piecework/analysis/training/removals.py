"""The pruning learner of WordPiece: the reference repeats it and records each removal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from piecework._internal.step_selection import Selection
from piecework.analysis.training.merges import settings_of
from piecework.analysis.training.steps import EntryLoss, SplitChange, TrainingRemoval
from piecework.analysis.training.trace import TrainingTrace, check_same, check_small
from piecework.reference import wordpiece_pruning
from piecework.reference.wordpiece_training import alphabet_entries, initial_vocabulary
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
    usable = wordpiece_pruning.usable_words(words, settings)
    pruner = RecordingPruner(usable, settings, base, seeds, wanted, top)
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
    """The pruner of the reference, which records the wanted removals, each with the `top` least losses."""

    wanted: Selection
    top: int
    steps: list[TrainingRemoval] = field(default_factory=list)
    step_count: int = 0
    is_pruning: bool = False

    # ---- the learner

    def prune(self, wanted: int) -> None:
        """Remove the cheapest entry until `wanted` can still be removed."""
        self.is_pruning = True
        super().prune(wanted)
        self.is_pruning = False

    def swap_in(self, entry: str) -> bool:
        """Put an entry back if it saves more than the cheapest one; return whether that changed anything."""
        before = set(self.present)
        is_swapped = super().swap_in(entry)
        if is_swapped:
            [removed] = {*before, entry} - self.present
            saved = self.loss(entry, {*before, entry})
            self.record(removed, before, self._loss_of(entry, saved))
        return is_swapped

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
        if self.is_pruning:
            self.record(entry, set(self.present))
        return entry, self.losses[entry]

    # ---- the record

    def record(self, removed: str, before: set[str], put_back: EntryLoss | None = None) -> None:
        """Record a removal from the entries before it, or a swap."""
        self.step_count += 1
        if self.step_count not in self.wanted:
            return
        after = before - {removed} if put_back is None else {*before, put_back.entry} - {removed}
        changes = [
            SplitChange(count, tuple(old), tuple(new))
            for word, count in self.words
            if (old := self.segment(word, before)) != (new := self.segment(word, after))
        ]
        order = sorted(self.losses, key=lambda entry: (self.losses[entry], self.rank(entry)))
        step = TrainingRemoval(
            number=self.step_count,
            removed=self._loss_of(removed, self.losses[removed]),
            candidates=tuple(self._loss_of(one, self.losses[one]) for one in order[: self.top]),
            removable=len(order),
            tied=sum(loss == self.losses[removed] for loss in self.losses.values()),
            changes=tuple(changes[: self.top]),
            changed_words=len(changes),
            vocab_size=len(after),
            put_back=put_back,
        )
        self.steps.append(step)

    def _loss_of(self, entry: str, loss: int) -> EntryLoss:
        return EntryLoss(entry, self.seeds[entry], loss / wordpiece_pruning.ONE)
