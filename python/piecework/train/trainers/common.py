"""Code that several trainers use: results and checks of settings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from piecework._core import LearnedEntries
from piecework._internal import validation as checks
from piecework.errors import ArgumentError, CorpusError
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
    """What a BPE or WordPiece trainer learned: entries in id order, merges in the order of learning.

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
        merges = tuple(Merge(*merge) for merge in learned.merges)
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
