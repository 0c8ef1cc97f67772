"""The base of the trainers that take the most frequent units: words or characters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from piecework._internal import validation as checks
from piecework.errors import TrainingError
from piecework.train.trainer import Trainer
from piecework.train.trainers.common import check_special_tokens, set_field, vocabulary_of


@dataclass(frozen=True)
class RankingTrainer(Trainer):
    """The settings of a trainer that ranks units by frequency.

    `special_tokens` are the first entries, in this order. An `unk_token` that is not one of them follows
    them.
    """

    vocab_size: int | None = None
    min_frequency: int = 1
    special_tokens: tuple[str, ...] = ("[UNK]",)
    unk_token: str = "[UNK]"

    def __post_init__(self) -> None:
        check_special_tokens(self)
        least_size = len(self.special_tokens) + 1
        size = checks.optional_number("vocab_size", self.vocab_size, least_size)
        set_field(self, "vocab_size", size)
        frequency = checks.whole_number("min_frequency", self.min_frequency, 0)
        set_field(self, "min_frequency", frequency)

    def _vocabulary(self, counts: Iterable[tuple[str, int]]) -> dict[str, int]:
        """Return the special tokens, then the units by decreasing count and by code points."""
        frequent = (item for item in counts if item[1] >= self.min_frequency)
        ranked = (unit for unit, _ in sorted(frequent, key=lambda item: (-item[1], item[0])))
        entries = tuple(dict.fromkeys((*self.special_tokens, *ranked)))[: self.vocab_size]
        if len(entries) == len(self.special_tokens):
            found = f"{self.min_frequency}, which nothing in the corpus reaches"
            raise TrainingError("min_frequency", found, "a lower frequency")
        return vocabulary_of(entries)
