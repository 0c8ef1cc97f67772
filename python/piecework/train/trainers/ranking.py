"""The base of the trainers that take the most frequent units: words or characters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from piecework._internal import validation as checks
from piecework._internal.types import Progress
from piecework._internal.validation import PathLike
from piecework.errors import TrainingError
from piecework.spec import Model
from piecework.train.counts import Counts
from piecework.train.preset_trainer import PresetTrainer
from piecework.train.setting_fields import check_settings, setting
from piecework.train.trainers import common
from piecework.train.word_sizes import Amount, WordSizes, memory_of_ranking


@dataclass(frozen=True)
class RankingTrainer(PresetTrainer):
    """The settings of a trainer that ranks units by frequency."""

    unit: ClassVar[str]
    """What becomes entries, in the plural."""

    vocab_size: int | None = setting(
        None,
        replace(
            common.VOCAB_SIZE, help="Size, special tokens included.", none="all units of the corpus"
        ),
    )
    min_frequency: int = setting(
        1, replace(common.MIN_FREQUENCY, help="Leave out units that occur less often.")
    )
    special_tokens: tuple[str, ...] = setting(("[UNK]",), common.SPECIAL_TOKENS)
    unk_token: str = setting("[UNK]", common.UNK_TOKEN)

    def __post_init__(self) -> None:
        check_settings(self)
        common.add_unknown_token(self)
        checks.optional_number("vocab_size", self.vocab_size, len(self.special_tokens) + 1)

    def learn(
        self,
        counts: Counts | Mapping[str, int],
        progress: Progress = None,
        num_threads: int | None = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> Model:
        """Return the model; of equally frequent units the one with lower code points comes first.

        Ranking takes seconds, so it warns if a `checkpoint` is given and starts again after an interruption.
        """
        counts = common.checked_counts(counts)
        if checkpoint is not None:
            common.warn_without_checkpoints(self)
        return self.model_of(self._vocabulary(self.units(counts)))

    @abstractmethod
    def units(self, counts: Counts) -> Iterable[tuple[str, int]]:
        """Return what becomes entries, with the number of occurrences of each."""

    @abstractmethod
    def model_of(self, vocab: dict[str, int]) -> Model:
        """Return the model with a vocabulary."""

    @property
    def nests(self) -> bool:
        """Whether a smaller vocabulary is the beginning of a larger one."""
        return True

    def memory(self, words: WordSizes) -> Amount:
        """Return an upper bound of the bytes that learning takes, besides counts and entries."""
        return memory_of_ranking(words)

    def smallest_model(self) -> Model:
        """Return a model with the special tokens and one entry."""
        return self.model_of(common.vocabulary_of(dict.fromkeys((*self.special_tokens, "a"))))

    def _vocabulary(self, counts: Iterable[tuple[str, int]]) -> dict[str, int]:
        """Return the special tokens, then the units by decreasing count and by code points."""
        frequent = (item for item in counts if item[1] >= self.min_frequency)
        ranked = (unit for unit, _ in sorted(frequent, key=lambda item: (-item[1], item[0])))
        entries = tuple(dict.fromkeys((*self.special_tokens, *ranked)))[: self.vocab_size]
        if len(entries) == len(self.special_tokens):
            problem = f"={self.min_frequency} is too high: nothing in the corpus occurs as often"
            raise TrainingError("min_frequency", problem)
        return common.vocabulary_of(entries)
