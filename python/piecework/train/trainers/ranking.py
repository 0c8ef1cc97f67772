"""The base of the trainers that take the most frequent units: words or characters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from piecework._internal import validation as checks
from piecework.errors import TrainingError
from piecework.train.setting_fields import check_settings, setting
from piecework.train.trainer import Trainer
from piecework.train.trainers.common import (
    MIN_FREQUENCY,
    SPECIAL_TOKENS,
    UNK_TOKEN,
    VOCAB_SIZE,
    add_unknown_token,
    vocabulary_of,
)


@dataclass(frozen=True)
class RankingTrainer(Trainer):
    """The settings of a trainer that ranks units by frequency."""

    vocab_size: int | None = setting(
        None,
        replace(VOCAB_SIZE, help="Size, special tokens included.", none="all units of the corpus"),
    )
    min_frequency: int = setting(
        1, replace(MIN_FREQUENCY, help="Leave out units that occur less often.")
    )
    special_tokens: tuple[str, ...] = setting(("[UNK]",), SPECIAL_TOKENS)
    unk_token: str = setting("[UNK]", UNK_TOKEN)

    def __post_init__(self) -> None:
        check_settings(self)
        add_unknown_token(self)
        checks.optional_number("vocab_size", self.vocab_size, len(self.special_tokens) + 1)

    def _vocabulary(self, counts: Iterable[tuple[str, int]]) -> dict[str, int]:
        """Return the special tokens, then the units by decreasing count and by code points."""
        frequent = (item for item in counts if item[1] >= self.min_frequency)
        ranked = (unit for unit, _ in sorted(frequent, key=lambda item: (-item[1], item[0])))
        entries = tuple(dict.fromkeys((*self.special_tokens, *ranked)))[: self.vocab_size]
        if len(entries) == len(self.special_tokens):
            found = f"{self.min_frequency}, which nothing in the corpus reaches"
            raise TrainingError("min_frequency", found, "a lower frequency")
        return vocabulary_of(entries)
