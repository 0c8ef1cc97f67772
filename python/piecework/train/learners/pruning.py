"""Learn WordPiece entries by removing substrings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from piecework._core import Learner as CoreLearner
from piecework._internal import validation as checks
from piecework.errors import ArgumentError
from piecework.train.learners.learner import Learner, Segmentation
from piecework.train.word_sizes import Amount, WordSizes

_MAX_BALANCE = 1000.0
_MIN_USE_COST, _MAX_USE_COST = 1e-4, 1e6
_SEEDS_PER_ENTRY = 8
_BYTES_OF_SEED = 250


@dataclass(frozen=True)
class Pruning(Learner):
    """Start from many substrings, and remove the one whose removal costs the fewest tokens, and repeat.

    >>> from piecework.train import WordPieceTrainer, count_texts
    >>> trainer = WordPieceTrainer(8, Pruning(), special_tokens=("[UNK]",))
    >>> list(trainer.learn(count_texts(["hug hugs bug bugs"])).vocab)[-3:]
    ['h', 'bug', 'hug']

    It takes the fewest tokens of all learners, meets `vocab_size` exactly, and merges no pairs.

    - `balance`: the weight of surprisal. A token costs 1 + balance x -ln(its share of all tokens). 2 gives
      boundaries nearer to those of morphemes, for about 1 per cent more tokens.
    - `max_use_cost`: the most that one use of an entry counts for, in units of cost; None means no limit.
      1.5 leaves fewer rarely used entries.
    - `seed_size`: the number of substrings to start from, at least `vocab_size`; None means eight for each
      entry. More take longer.
    - `segmentation`: the segmentation of the model, for which the vocabulary is learned. "greedy" is the
      longest match of every WordPiece library. "shortest" takes the fewest tokens. Other libraries segment
      that vocabulary greedily, with other ids, so save it as `.piecework`.
    """

    SEGMENTATIONS: ClassVar[tuple[str, ...]] = ("greedy", "shortest")

    name = "pruning"
    learns_sizes = True

    balance: float = 0.0
    max_use_cost: float | None = None
    seed_size: int | None = None
    segmentation: Segmentation = "greedy"

    def __post_init__(self) -> None:
        balance = _weight("balance", self.balance, 0.0, _MAX_BALANCE)
        object.__setattr__(self, "balance", balance)
        if self.max_use_cost is not None:
            cost = _weight("max_use_cost", self.max_use_cost, _MIN_USE_COST, _MAX_USE_COST)
            object.__setattr__(self, "max_use_cost", cost)
        seeds = checks.optional_number("seed_size", self.seed_size, 1)
        object.__setattr__(self, "seed_size", seeds)
        checks.check_choice("segmentation", self.segmentation, self.SEGMENTATIONS)

    @property
    def model_segmentation(self) -> Segmentation:
        """The segmentation of the model that the entries are for."""
        return self.segmentation

    def check(self, vocab_size: int) -> None:
        """Raise `ArgumentError` for fewer seeds than entries."""
        checks.optional_number("seed_size", self.seed_size, vocab_size)

    def memory(self, words: WordSizes, vocab_size: int) -> Amount:
        """Return the memory of the sorted text, the words by entry, sums by thread, and the seeds."""
        seeds = _SEEDS_PER_ENTRY * vocab_size if self.seed_size is None else self.seed_size
        # A position begins at most `max_token_length` substrings, 50 by default.
        stored = np.minimum(seeds, 50 * words.chars)
        return 24 * words.chars + 30 * words.words + _BYTES_OF_SEED * stored

    def to_core(self, *, record_removals: bool = False) -> CoreLearner:
        """Return the learner of the compiled core."""
        return CoreLearner.pruning(
            segmentation=self.segmentation,
            balance=self.balance,
            max_use_cost=self.max_use_cost,
            seed_size=self.seed_size,
            record_removals=record_removals,
        )


def _weight(name: str, value: object, least: float, most: float) -> float:
    """Return a number in a range as a float; raise `ArgumentError` for anything else."""
    expected = f"a number from {least:g} to {most:g}"
    checks.check_number(name, value, (int, float), expected)
    assert isinstance(value, (int, float))
    if not least <= value <= most:
        raise ArgumentError(name, repr(value), expected)
    return float(value)
