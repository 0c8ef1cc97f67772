"""The steps of each learner as the plain trainers of `piecework.reference` make them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import piecework as pw
from piecework.analysis.training.steps import (
    EntryLoss,
    PairScore,
    PieceEstimate,
    PieceLoss,
    SplitChange,
    TrainingEstimate,
    TrainingMerge,
    TrainingPruning,
    TrainingRemoval,
    TrainingThreshold,
    apply_merge,
)
from piecework.reference import bpe_training as bpe
from piecework.reference import sentencepiece_training as sentencepiece
from piecework.reference import unigram_pruning, wordpiece_pruning
from piecework.reference import unigram_training as unigram
from piecework.reference import wordpiece_training as wordpiece
from piecework.reference.unigram_pruning import PrunedSettings
from piecework.reference.wordpiece_model import greedy
from piecework.reference.wordpiece_top_down import TopDownLearner
from piecework.reference.words import count_parts
from piecework.train.counts import isolated_characters
from piecework.train.trainer import by_characters

Settings = TypeVar("Settings")
Splits = list[tuple[list[str], int]]


def settings_of(kind: type[Settings], trainer: Any, counts: pw.Counts | None = None) -> Settings:
    """Return the settings of the reference that a trainer and its learner have, WordPiece's for counts."""
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    given = asdict(trainer)
    if counts is not None:
        initial = "".join(trainer.initial_alphabet)
        given["isolated_characters"] = isolated_characters(counts, initial)
    given = (given.pop("learner", None) or {}) | given
    return kind(**{name: value for name, value in given.items() if name in known})


# ---- merges


def merges_of(counts: pw.Counts, trainer: Any, top: int) -> list[TrainingMerge]:
    """Return the merges of a trainer; `reason` is left empty."""
    words = list(counts)
    if isinstance(trainer, pw.WordPieceTrainer):
        settings = settings_of(wordpiece.MergeSettings, trainer, counts)
        vocab = wordpiece.initial_vocabulary(words, settings)
        splits = wordpiece.initial_splits(words, settings)
        ranked = partial(_ranked_by_wordpiece, settings)
        above: float = wordpiece.SCORES[settings.score].above
    elif isinstance(trainer, pw.SentencePieceTrainer):
        vocab = [piece.text for piece in trainer.meta_pieces.values()]
        splits = [(list(word), count) for word, count in words]
        ranked, above = partial(_ranked_by_sentencepiece, len(vocab)), -math.inf
        characters = {c for word, _ in words for c in word}
        return _merges(splits, vocab, trainer.vocab_size - len(characters), ranked, above, top)
    else:
        of_bpe = settings_of(bpe.Settings, by_characters(trainer))
        kept = bpe.alphabet(words, of_bpe)
        splits = [(bpe.split(word, kept, of_bpe), count) for word, count in words]
        vocab = bpe.first_entries(kept, splits, of_bpe)
        ranked, above = partial(_ranked_by_bpe, of_bpe), -math.inf
    return _merges(splits, vocab, trainer.vocab_size, ranked, above, top)


def _merges(
    splits: Splits, vocab: list[str], size: int, ranked: Any, above: float, top: int
) -> list[TrainingMerge]:
    found: list[TrainingMerge] = []
    while len(vocab) < size:
        pairs = ranked(splits, vocab)
        if not pairs or not pairs[0].score > above:
            break
        best = pairs[0]
        after = [(apply_merge(symbols, best), count) for symbols, count in splits]
        changes = [
            SplitChange(count, tuple(old), tuple(new))
            for (old, count), (new, _) in zip(splits, after, strict=True)
            if old != new
        ]
        by_pair = {(pair.left, pair.right): pair for pair in pairs}
        seen = (pair for symbols, _ in splits for pair in pairwise(symbols))
        first = [by_pair[pair] for pair in dict.fromkeys(seen) if pair in by_pair]
        is_new = best.token not in vocab
        vocab += [best.token] * is_new
        splits = after
        step = TrainingMerge(
            number=len(found) + 1,
            winner=best,
            reason="",
            candidates=tuple(pairs[:top]),
            pairs=len(pairs),
            tied=sum(pair.score == best.score for pair in pairs),
            changes=tuple(changes[:top]),
            changed_words=len(changes),
            vocab_size=len(vocab),
            is_new=is_new,
            first_pairs=tuple(first[:top]),
        )
        found.append(step)
    return found


def _ranked_by_wordpiece(
    settings: wordpiece.MergeSettings, splits: Splits, vocab: Sequence[str]
) -> list[PairScore]:
    entries = wordpiece.entry_counts(splits)
    return [
        PairScore(
            m.left, m.right, m.merged, m.pair_count, entries[m.left], entries[m.right], m.score
        )
        for m in wordpiece.ranked_merges(splits, vocab, settings)
    ]


def _ranked_by_bpe(settings: bpe.Settings, splits: Splits, vocab: Sequence[str]) -> list[PairScore]:
    entries = wordpiece.entry_counts(splits)
    pairs = bpe.count_pairs(splits, settings)
    order = sorted(pairs, key=bpe.preference(pairs, vocab, settings), reverse=True)
    return [
        PairScore(
            *pair,
            bpe.merged(pair, settings),
            pairs[pair],
            entries[pair[0]],
            entries[pair[1]],
            pairs[pair],
        )
        for pair in order
        if pairs[pair] >= max(1, settings.min_frequency)
    ]


def _ranked_by_sentencepiece(symbols: int, splits: Splits, vocab: Sequence[str]) -> list[PairScore]:
    entries = wordpiece.entry_counts(splits)
    pairs = count_parts(splits, pairwise)
    known = {*vocab[symbols:], *(c for parts, _ in splits for part in parts for c in part)}
    allowed = [
        pair
        for pair in pairs
        if sentencepiece.allows("".join(pair), sentencepiece.Shape()) and "".join(pair) not in known
    ]
    order = sorted(
        allowed, key=lambda pair: (-pairs[pair], len("".join(pair)), "".join(pair), pair)
    )
    return [
        PairScore(
            left,
            right,
            left + right,
            pairs[left, right],
            entries[left],
            entries[right],
            pairs[left, right],
        )
        for left, right in order
    ]


# ---- pruning


def removals_of(counts: pw.Counts, trainer: pw.WordPieceTrainer, top: int) -> list[TrainingRemoval]:
    """Return the removals of the pruning learner."""
    settings = settings_of(wordpiece_pruning.PruningSettings, trainer, counts)
    words = list(counts)
    base = wordpiece.initial_vocabulary(words, settings)
    found = wordpiece_pruning.find_seeds(words, settings)
    seeds = {entry: count for entry, count in found.items() if entry not in base}
    usable = wordpiece_pruning.usable_words(words, settings)
    pruner = RecordingPruner(usable, settings, base, seeds, top)
    if len(base) + len(seeds) > settings.vocab_size:
        pruner.prune(settings.vocab_size - len(base))
        pruner.put_back()
    return pruner.steps


@dataclass
class RecordingPruner(wordpiece_pruning.Pruner):
    """The pruner of the reference, which records every removal."""

    top: int
    steps: list[TrainingRemoval] = field(default_factory=list)
    is_pruning: bool = False

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

    def cheapest(self) -> tuple[str, int]:
        """Return the entry with the least loss, and its loss; keep all losses."""
        self.losses = {entry: self.loss(entry, self.present) for entry in self.removable()}
        entry = min(self.losses, key=lambda entry: (self.losses[entry], self.rank(entry)))
        if self.is_pruning:
            self.record(entry, set(self.present))
        return entry, self.losses[entry]

    def record(self, removed: str, before: set[str], put_back: EntryLoss | None = None) -> None:
        """Record a removal from the entries before it, or a swap."""
        after = before - {removed} if put_back is None else {*before, put_back.entry} - {removed}
        changes = [
            SplitChange(count, tuple(old), tuple(new))
            for word, count in self.words
            if (old := self.segment(word, before)) != (new := self.segment(word, after))
        ]
        order = sorted(self.losses, key=lambda entry: (self.losses[entry], self.rank(entry)))
        step = TrainingRemoval(
            number=len(self.steps) + 1,
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


# ---- top-down


def thresholds_of(
    counts: pw.Counts, trainer: pw.WordPieceTrainer, top: int
) -> list[TrainingThreshold]:
    """Return the thresholds of the top-down learner."""
    settings = settings_of(wordpiece.Settings, trainer, counts)
    words = list(counts)
    learner = TopDownLearner(words, settings)
    base = wordpiece.initial_vocabulary(words, settings)
    low = learner.loosest
    high = max(max(learner.substring_counts(None).values(), default=0) + 1, low)
    steps: list[TrainingThreshold] = []
    while low < high:
        middle = (low + high) // 2
        kept = {entry: n for entry, n in learner.kept_at(middle).items() if entry not in base}
        ranked = sorted(kept.items(), key=lambda row: (-row[1], row[0]))
        size = len(base) + len(kept)
        prefix = settings.continuing_subword_prefix
        model = pw.spec.WordPiece(
            dict.fromkeys([*base, *kept], 0), continuing_subword_prefix=prefix
        )
        pieces = ((greedy(word, model), count) for word, count in words)
        splits = [(tuple(one.token for one in word), n) for word, n in pieces if word is not None]
        fits = size <= settings.vocab_size
        number = len(steps) + 1
        steps.append(
            TrainingThreshold(
                number,
                low,
                high,
                middle,
                fits,
                tuple(ranked[:top]),
                len(kept),
                size,
                tuple(splits[:top]),
            )
        )
        low, high = (low, middle) if fits else (middle + 1, high)
    return steps


# ---- Unigram


def unigram_steps_of(
    counts: pw.Counts, trainer: Any, top: int
) -> Iterator[TrainingEstimate | TrainingPruning]:
    """Yield the steps of the Unigram learner, without lattices and with a log-likelihood of 0."""
    trainer, words = by_characters(trainer), list(counts)
    settings = settings_of(PrunedSettings if trainer.learner else unigram.Settings, trainer)
    segments, reserved, required = unigram.segmented(words, settings)
    if isinstance(settings, PrunedSettings):
        scores = unigram_pruning.seeds(segments, reserved, required, settings)
    else:
        scores = unigram.seeds(segments, reserved, settings)
    size = unigram.size_within(settings.vocab_size, len(reserved), required, scores)
    wanted, target, number = size - len(reserved), int(size * unigram.SURPLUS), 0
    for round in range(1, 1000):
        for iteration in range(1, settings.num_sub_iterations + 1):
            number += 1
            unit, before = unigram.unit(segments), scores
            expected = unigram.expect(segments, before, settings.count_exponent)
            scores = unigram.maximize(expected, unit, wanted)
            order = sorted(expected, key=lambda piece: (-expected[piece], piece))
            estimates = tuple(
                PieceEstimate(piece, expected[piece] / unit, scores.get(piece))
                for piece in order[:top]
            )
            dropped = tuple(piece for piece in order if piece not in scores)
            yield TrainingEstimate(number, round, iteration, len(before), 0.0, estimates, dropped)
        if len(scores) <= target:
            return
        number += 1
        before, exponent = scores, settings.count_exponent
        most = max(int(settings.shrinking_factor * len(before)), target)
        scores = unigram.prune(segments, before, most, wanted, exponent)
        yield _pruning(
            number, round, before, scores, unigram.best_uses(segments, before, exponent), top
        )


def _pruning(
    number: int,
    round: int,
    before: dict[str, float],
    after: Iterable[str],
    uses: dict[str, float],
    top: int,
) -> TrainingPruning:
    total = math.fsum(uses.values())
    losses = {piece: unigram.loss(piece, before, uses, total) for piece in before}
    order = sorted(before, key=lambda piece: (losses[piece], before[piece], piece))
    shown = [_piece_loss(piece, uses.get(piece, 0.0), losses[piece]) for piece in order]
    removed = [one for one in shown if one.piece not in after]
    kept = [one for one in shown if one.piece in after]
    return TrainingPruning(
        number, round, len(before), tuple(removed[:top]), len(removed), tuple(kept[:top])
    )


def _piece_loss(piece: str, uses: float, loss: float) -> PieceLoss:
    count = int(uses) if uses.is_integer() else uses
    if math.isfinite(loss):
        return PieceLoss(piece, count, loss, "")
    if loss > 0:
        return PieceLoss(piece, count, None, "a single character in use stays")
    reason = "its parts are likelier" if count else "in no best segmentation"
    return PieceLoss(piece, count, None, reason)
