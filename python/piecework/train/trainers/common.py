"""Code that the trainers share: results, checks of settings, and vocabularies by rank."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from piecework._core import LearnedEntries
from piecework._internal import validation as checks
from piecework.errors import ArgumentError, CorpusError, TrainingError
from piecework.train.counts import Counts


@dataclass(frozen=True)
class Merge:
    """One step of a learner: the pair `left`, `right` becomes `token`.

    `pair_count` is the number of occurrences of the pair in the corpus, `score` its score.
    """

    left: str
    right: str
    token: str
    pair_count: int
    score: float


@dataclass(frozen=True)
class LearnedVocabulary:
    """The entries in the order of their ids, the merges in the order in which they were learned.

    >>> from piecework.train import BPETrainer, count_texts
    >>> trainer = BPETrainer(vocab_size=4, special_tokens=("<unk>",), min_frequency=1)
    >>> learned = trainer.learn_vocabulary(count_texts(["ab"], pipeline="whitespace"))
    >>> learned.entries, learned.merges[0].pair_count
    (('<unk>', 'a', 'b', 'ab'), 1)

    `stopped_early` is the reason why learning ended before `vocab_size`, None if it did not.
    """

    entries: tuple[str, ...]
    merges: tuple[Merge, ...]
    stopped_early: str | None

    @classmethod
    def _of(cls, learned: LearnedEntries) -> LearnedVocabulary:
        merges = tuple(Merge(*merge) for merge in learned.joins)
        return cls(tuple(learned.vocab), merges, learned.stopped_early)


# ---- checks


def set_field(trainer: Any, name: str, value: object) -> None:
    """Set a field of a frozen dataclass in its `__post_init__`."""
    object.__setattr__(trainer, name, value)


def check_special_tokens(trainer: Any, *, needs_unknown: bool = True) -> None:
    """Check and store `special_tokens` and `unk_token`, which can be None unless `needs_unknown`."""
    if needs_unknown or trainer.unk_token is not None:
        checks.check_text("unk_token", trainer.unk_token)
    tokens = checks.distinct_tokens("special_tokens", trainer.special_tokens, trainer.unk_token)
    set_field(trainer, "special_tokens", tokens)


def check_ranking_settings(trainer: Any) -> None:
    """Check and store the settings of the trainers that take the most frequent units."""
    check_special_tokens(trainer)
    least_size = len(trainer.special_tokens) + 1
    size = checks.optional_number("vocab_size", trainer.vocab_size, least_size)
    set_field(trainer, "vocab_size", size)
    frequency = checks.whole_number("min_frequency", trainer.min_frequency, 0)
    set_field(trainer, "min_frequency", frequency)


def check_counts(counts: Counts) -> None:
    """Raise `ArgumentError` for another type than `Counts`, `CorpusError` for counts without words."""
    if not isinstance(counts, Counts):
        raise ArgumentError(
            "counts", type(counts).__name__, "Counts, from count_files or count_texts"
        )
    if len(counts) == 0:
        raise CorpusError("corpus", "no words", "text to learn from")


# ---- vocabularies


def vocabulary_of(entries: Iterable[str]) -> dict[str, int]:
    """Return a vocabulary whose ids are the positions of the entries."""
    return {entry: id for id, entry in enumerate(entries)}


def ranked_vocabulary(trainer: Any, ranked: Iterable[str]) -> dict[str, int]:
    """Return the special tokens and then the ranked entries, up to `vocab_size`."""
    entries = tuple(dict.fromkeys((*trainer.special_tokens, *ranked)))[: trainer.vocab_size]
    if len(entries) == len(trainer.special_tokens):
        found = f"{trainer.min_frequency}, which nothing in the corpus reaches"
        raise TrainingError("min_frequency", found, "a lower frequency")
    return vocabulary_of(entries)
