"""What a learner of WordPiece entries says about itself to the trainer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal, TypeAlias

from piecework.train.learned import LearnedVocabulary
from piecework.train.word_sizes import Amount, WordSizes

Segmentation: TypeAlias = Literal["greedy", "shortest"]


class Learner(ABC):
    """How a `WordPieceTrainer` learns its entries; `LEARNERS` has the kinds.

    >>> from piecework.train import Merges, Pruning
    >>> isinstance(Pruning(balance=2.0), Learner), Merges() == Merges("likelihood")
    (True, True)
    """

    name: ClassVar[str]
    """The name in `LEARNERS`, which the command line shows."""

    summary: ClassVar[str]
    """What the learner does, in an imperative clause of the help of `--learner`."""

    merges_pairs: ClassVar[bool] = False
    """Whether every learned entry comes from a merge of two entries.

    A checkpoint and a training log then store the merges, which are enough to repeat the run, and a smaller
    vocabulary is the beginning of a larger one.
    """

    learns_sizes: ClassVar[bool] = False
    """Whether one run learns several sizes that do not nest."""

    removes_entries: ClassVar[bool] = False
    """Whether a run can list the entries that it removes: `core_settings` with `record_removals`."""

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

    def core_settings(self) -> dict[str, object]:
        """Return the settings of the learner of the compiled core, which has the same name and fields."""
        return {"name": self.name, **vars(self)}
