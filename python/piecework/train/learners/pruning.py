"""Learn entries of WordPiece or pieces of Unigram by removing substrings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from piecework._internal import validation as checks
from piecework.train.learners.learner import Learner, Segmentation
from piecework.train.setting_fields import (
    Choice,
    Integer,
    Number,
    check_settings,
    documented,
    setting,
)
from piecework.train.word_sizes import Amount, WordSizes

_SEEDS_PER_ENTRY = 8
_BYTES_OF_SEED = 250


@documented
@dataclass(frozen=True)
class Pruning(Learner):
    """Start from many substrings, and remove the one whose removal costs the fewest tokens, and repeat.

    >>> from piecework.train import WordPieceTrainer, count_texts
    >>> trainer = WordPieceTrainer(13, Pruning(), special_tokens=("[UNK]",))
    >>> list(trainer.learn(count_texts(["hug hugs bug bugs"])).vocab)[-3:]
    ['u', 'bug', 'hug']

    It takes the fewest tokens of all learners, meets `vocab_size` exactly, and merges no pairs.

    A token costs 1 + `balance` x -ln(its share of all tokens); a `balance` of 2 gives about 1 per cent more
    tokens. `seed_vocab_size` is at least `vocab_size`; more substrings take longer. Other
    libraries segment a WordPiece vocabulary of `segmentation="shortest"` greedily, with other ids, so save it
    as `.piecework`. The Unigram trainers take this learner too; all libraries then take the fewest.
    """

    SEGMENTATIONS: ClassVar[tuple[str, ...]] = ("greedy", "shortest")

    name = "pruning"
    summary = "remove the least useful of many substrings"
    learns_sizes = True
    removes_entries = True

    balance: float = setting(
        0.0,
        Number(
            "Weight of surprisal in the cost of a token; 2 gives boundaries nearer to those of morphemes, "
            "and more tokens.",
            least=0,
            most=1000,
        ),
    )
    max_use_cost: float | None = setting(
        None,
        Number(
            "The most that one use of an entry counts for; 1.5 leaves fewer rarely used entries.",
            least=1e-4,
            most=1e6,
            none="no limit",
        ),
    )
    seed_vocab_size: int | None = setting(
        None,
        Integer("Number of substrings to start from.", least=1, none="8 for each entry"),
    )
    segmentation: Segmentation = setting(
        "greedy",
        Choice(
            "Learn for longest match, or for the fewest tokens, which WordPiece of other libraries "
            "does not have.",
            names=SEGMENTATIONS,
        ),
    )

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def model_segmentation(self) -> Segmentation:
        """The segmentation of the model that the entries are for."""
        return self.segmentation

    def check(self, vocab_size: int) -> None:
        """Raise `ArgumentError` for fewer seeds than entries."""
        checks.optional_number("seed_vocab_size", self.seed_vocab_size, vocab_size)

    def memory(self, words: WordSizes, vocab_size: int) -> Amount:
        """Return the memory of the sorted text, the words by entry, sums by thread, and the seeds."""
        import numpy as np

        seeds = (
            _SEEDS_PER_ENTRY * vocab_size if self.seed_vocab_size is None else self.seed_vocab_size
        )
        # A position begins at most `max_token_length` substrings, 50 by default.
        stored = np.minimum(seeds, 50 * words.chars)
        return 24 * words.chars + 30 * words.words + _BYTES_OF_SEED * stored
