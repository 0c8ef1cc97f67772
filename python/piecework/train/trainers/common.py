"""What the trainers share: their results, their checks, and filling a vocabulary by rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from piecework._internal import validation as checks
from piecework.errors import ArgumentError, CorpusError, TrainingError
from piecework.train.counts import Counts


@dataclass(frozen=True)
class Join:
    """One step of a learner: two entries become one."""

    left: str
    right: str
    joined: str
    pair_count: int
    score: float


@dataclass(frozen=True)
class LearnedVocabulary:
    """Entries in id order, the joins that led there, and why learning ended early if it did."""

    entries: tuple[str, ...]
    joins: tuple[Join, ...]
    stopped_early: str | None


# ---- checks


def set_field(trainer: Any, name: str, value: object) -> None:
    """Store the checked form of a setting in a frozen dataclass that is being made."""
    object.__setattr__(trainer, name, value)


def check_special_tokens(trainer: Any, *, needs_unknown: bool = True) -> None:
    """Check and store `unk_token`, which may be None for a model that needs none, and `special_tokens`."""
    if needs_unknown or trainer.unk_token is not None:
        checks.check_text("unk_token", trainer.unk_token)
    tokens = checks.distinct_tokens("special_tokens", trainer.special_tokens, trainer.unk_token)
    set_field(trainer, "special_tokens", tokens)


def check_simple(trainer: Any) -> None:
    """Check and store the settings of the trainers that only count."""
    check_special_tokens(trainer)
    at_least = len(trainer.special_tokens) + 1
    set_field(
        trainer, "vocab_size", checks.optional_number("vocab_size", trainer.vocab_size, at_least)
    )
    set_field(
        trainer, "min_frequency", checks.whole_number("min_frequency", trainer.min_frequency, 0)
    )


def refuse_empty(counts: Counts) -> None:
    """Refuse what is not `Counts` and counts without words."""
    if not isinstance(counts, Counts):
        raise ArgumentError(
            "counts", type(counts).__name__, "Counts, from count_files or count_texts"
        )
    if len(counts) == 0:
        raise CorpusError("corpus", "no words", "text to learn from")


# ---- vocabularies


def numbered(entries: tuple[str, ...]) -> dict[str, int]:
    """Return a vocabulary of entries in id order."""
    return {entry: number for number, entry in enumerate(entries)}


def filled(trainer: Any, ranked: Any) -> dict[str, int]:
    """Return special tokens, then ranked entries, up to the size asked for."""
    entries = tuple(dict.fromkeys((*trainer.special_tokens, *ranked)))[: trainer.vocab_size]
    if len(entries) == len(trainer.special_tokens):
        found = f"{trainer.min_frequency}, which nothing in the corpus reaches"
        raise TrainingError("min_frequency", found, "a lower one")
    return numbered(entries)
