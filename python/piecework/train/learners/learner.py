"""What a learner of WordPiece entries says about itself to the trainer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal, TypeAlias

from piecework._core import Learner as CoreLearner
from piecework.train.learned import LearnedVocabulary
from piecework.train.word_sizes import Amount, WordSizes

Segmentation: TypeAlias = Literal["greedy", "shortest"]


class Learner(ABC):
    """How a `WordPieceTrainer` learns its entries: `Merges`, `Pruning` or `TopDown`.

    >>> from piecework.train import Merges, Pruning
    >>> isinstance(Pruning(balance=2.0), Learner), Merges() == Merges("likelihood")
    (True, True)
    """

    name: ClassVar[str]
    """The name in `LEARNERS`, which the command line shows."""

    merges_pairs: ClassVar[bool] = False
    """Whether merges alone restore a run, which a checkpoint and a training log store, and sizes nest."""

    learns_sizes: ClassVar[bool] = False
    """Whether one run learns several sizes that do not nest."""

    @property
    def model_segmentation(self) -> Segmentation:
        """The segmentation of the model that the entries are for."""
        return "greedy"

    def check(self, vocab_size: int) -> None:  # noqa: B027 - most learners fit every size
        """Raise `ArgumentError` for settings that a vocabulary of this size cannot have."""

    @abstractmethod
    def memory(self, words: WordSizes, vocab_size: int) -> Amount:
        """Return an upper bound of the bytes that learning takes, besides counts and entries."""

    def warnings(self, learned: LearnedVocabulary, min_frequency: int) -> list[str]:
        """Return what a user should know about a learned vocabulary."""
        return []

    @abstractmethod
    def to_core(self, *, record_removals: bool = False) -> CoreLearner:
        """Return the learner of the compiled core."""
