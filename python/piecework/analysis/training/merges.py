"""The merges of a WordPiece or BPE learner, replayed on the words with the scores of all pairs.

The trainer decides every merge; the reference computes the scores of the other pairs at that step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, fields
from itertools import islice
from typing import Any, TypeVar

from piecework._internal.step_selection import Selection
from piecework.analysis.training.steps import (
    PairScore,
    SplitChange,
    TrainingMerge,
    apply_merge,
    in_corpus_order,
)
from piecework.analysis.training.trace import TrainingTrace, check_small
from piecework.errors import ArgumentError, InternalError
from piecework.reference import bpe_training as bpe
from piecework.reference import wordpiece_training as wordpiece
from piecework.train import BPETrainer, ByteBPETrainer, Counts, LearnedVocabulary, WordPieceTrainer
from piecework.train.learned import Merge
from piecework.train.trainer import by_characters, traits_of

MAX_CHARACTERS = 2_000_000

Settings = TypeVar("Settings")


def trace_wordpiece(
    counts: Counts, trainer: WordPieceTrainer, wanted: Selection, top: int
) -> TrainingTrace:
    """Trace a WordPiece learner that merges pairs."""
    check_small(counts, MAX_CHARACTERS, "merges")
    learned = trainer.learn_vocabulary(counts)
    settings = settings_of(wordpiece.MergeSettings, trainer, counts)
    words = list(counts)
    splits = wordpiece.initial_splits(words, settings)
    alphabet = wordpiece.alphabet_entries(words, settings)

    def ranked(splits: list[tuple[list[str], int]], vocab: Sequence[str]) -> list[PairScore]:
        entries = wordpiece.entry_counts(splits)
        return [
            PairScore(
                m.left, m.right, m.merged, m.pair_count, entries[m.left], entries[m.right], m.score
            )
            for m in wordpiece.ranked_merges(splits, vocab, settings)
        ]

    ties = settings.ties or wordpiece.SCORES[settings.score].ties
    published = words if settings.score == "pmi" else []
    merges = _steps(learned, splits, ranked, ties, wanted, top, published)
    return TrainingTrace(
        learner=f"WordPiece by merges, score {settings.score!r}, ties {ties!r}",
        words=tuple(words),
        special_tokens=trainer.special_tokens,
        alphabet=tuple(alphabet),
        splits=tuple((tuple(symbols), count) for symbols, count in splits),
        steps=tuple(merges),
        step_count=len(learned.merges),
        vocab=learned.entries,
        stopped_early=learned.stopped_early,
    )


def trace_bpe(
    counts: Counts, trainer: BPETrainer | ByteBPETrainer, wanted: Selection, top: int
) -> TrainingTrace:
    """Trace a BPE learner."""
    if trainer.parity:
        problem = "has no steps to show; learn without it, or read the merges of `learn_vocabulary`"
        raise ArgumentError("parity", problem)
    check_small(counts, MAX_CHARACTERS, "merges")
    if trainer.transition is not None:
        problem = "cannot be traced: its two stages have different words; use preset o200k"
        raise ArgumentError("transition", problem)
    name, trainer = traits_of(trainer).title, by_characters(trainer)
    learned = trainer.learn_vocabulary(counts)
    settings = settings_of(bpe.Settings, trainer)
    words = list(counts)
    kept = bpe.alphabet(words, settings)
    splits = [(bpe.split(word, kept, settings), count) for word, count in words]

    def ranked(splits: list[tuple[list[str], int]], vocab: Sequence[str]) -> list[PairScore]:
        entries = wordpiece.entry_counts(splits)
        pairs = bpe.count_pairs(splits, settings)
        least = max(1, settings.min_frequency)
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
            if pairs[pair] >= least
        ]

    return TrainingTrace(
        learner=f"{name}, ties {trainer.ties!r}",
        words=tuple(words),
        special_tokens=trainer.special_tokens,
        alphabet=tuple(entry for entry in learned.entries if entry in kept),
        splits=tuple((tuple(symbols), count) for symbols, count in splits),
        steps=tuple(_steps(learned, splits, ranked, trainer.ties, wanted, top)),
        step_count=len(learned.merges),
        vocab=learned.entries,
        stopped_early=learned.stopped_early,
    )


def settings_of(kind: type[Settings], trainer: Any, counts: Counts | None = None) -> Settings:
    """Return the settings of the reference that a trainer and its learner have, WordPiece's for counts."""
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    given = asdict(trainer)
    if counts is not None:
        given["isolated_characters"] = counts._isolated_characters(
            "".join(trainer.initial_alphabet)
        )
    given = (given.pop("learner", None) or {}) | given
    return kind(**{name: value for name, value in given.items() if name in known})


def _steps(
    learned: LearnedVocabulary,
    splits: Sequence[tuple[list[str], int]],
    ranked: Callable[[list[tuple[list[str], int]], Sequence[str]], list[PairScore]],
    ties: str,
    wanted: Selection,
    top: int,
    words: Sequence[tuple[str, int]] = (),
) -> Iterator[TrainingMerge]:
    """Yield the wanted merges; the others are applied without scores."""
    words_with: defaultdict[str, set[int]] = defaultdict(set)
    for at, (symbols, _) in enumerate(splits):
        for symbol in symbols:
            words_with[symbol].add(at)
    now = list(splits)

    def apply(merge: Merge) -> list[SplitChange]:
        """Apply a merge to the words that contain its pair, and return the changes."""
        changes = []
        for at in sorted(words_with[merge.left] & words_with[merge.right]):
            before, count = now[at]
            after = apply_merge(before, merge)
            if len(after) < len(before):
                now[at] = (after, count)
                words_with[merge.token].add(at)
                changes.append(SplitChange(count, tuple(before), tuple(after)))
        return changes

    size = learned._first_size()
    known = set(learned.entries[:size])
    for number, merge in enumerate(learned.merges, 1):
        is_new = merge.token not in known
        known.add(merge.token)
        size += is_new
        if number not in wanted:
            apply(merge)
            continue
        pairs = ranked(now, learned.entries[: size - is_new])
        found = pairs[0] if pairs else None
        if found is None or (found.left, found.right) != (merge.left, merge.right):
            other = (
                f"{merge.left!r} {merge.right!r} as merge {number}, but another pair scores higher"
            )
            raise InternalError("trace", f"the trainer made {other}")
        first_pairs = tuple(islice(in_corpus_order(now, pairs), top))
        changes = apply(merge)
        yield TrainingMerge(
            number=number,
            winner=pairs[0],
            reason=_reason(pairs, ties),
            candidates=tuple(pairs[:top]),
            first_pairs=first_pairs,
            pairs=len(pairs),
            tied=_tied(pairs),
            changes=tuple(changes[:top]),
            changed_words=len(changes),
            vocab_size=size,
            is_new=is_new,
            note=_NOTES.get(number) if set(words) == _HUGS else None,
        )


def _tied(pairs: Sequence[PairScore]) -> int:
    """Return how many pairs have the score of the first one."""
    return sum(pair.score == pairs[0].score for pair in pairs)


def _reason(pairs: list[PairScore], ties: str) -> str:
    best, tied = pairs[0], _tied(pairs)
    if tied > 1:
        return f"{tied:,} pairs share the best score, {best.formula}; {_RULES[ties]}"
    if len(pairs) == 1:
        return f"the only pair left, with a score of {best.formula}"
    runner_up = pairs[1]
    second = f"{runner_up.left} {runner_up.right} is second with {runner_up.formula}"
    return f"the best score, {best.formula}; {second}"


_RULES = {
    "first-seen": 'the pair that occurs first in the corpus wins (ties="first-seen")',
    "smallest-strings": 'the pair that is first in code point order wins (ties="smallest-strings")',
    "greatest-strings": 'the pair that is last in code point order wins (ties="greatest-strings")',
    "lowest-ids": 'the pair with the lowest ids wins (ties="lowest-ids")',
}


# ---- published worked examples that print another result than their own formula gives


_HUGS = {("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)}
_NOTES = {
    3: "the published text merges hu ##g here, as a tie at 1/15. By its formula hu ##g scores "
    "10 / (15 x 15) = 2/45 at this step and hu ##gs 5 / (15 x 5) = 1/15, so hu ##gs comes first.",
    4: "the published text has hu ##g as its third merge; by its formula it is the fourth.",
}
