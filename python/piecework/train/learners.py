"""The learners of WordPiece entries: values that say how a `WordPieceTrainer` learns.

To add a learner, write its class and add it to `LEARNERS`; to add a score of `Merges`, add its row to
`SCORES`. CONTRIBUTING.md lists the edits in Rust and in the reference. Options, messages, tables and the
tests of all learners come from the fields and rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, NamedTuple, TypeAlias

from piecework._internal import validation as checks
from piecework._internal.setting_fields import (
    Choice,
    Integer,
    Number,
    check_settings,
    documented,
    setting,
)
from piecework.errors import InputTypeError
from piecework.train.learned import LearnedVocabulary
from piecework.train.trainer import FREQUENCY_POSITIONS, Amount, WordSizes, memory_of_merges

Segmentation: TypeAlias = Literal["greedy", "shortest"]


class Learner(ABC):
    """How a `WordPieceTrainer` learns its entries; `LEARNERS` has the kinds.

    >>> from piecework.train import Merges, Pruning
    >>> isinstance(Pruning(balance=2.0), Learner), Merges() == Merges("likelihood")
    (True, True)
    """

    name: ClassVar[str]
    """The name in `LEARNERS`, which the command line shows."""

    _summary: ClassVar[str]
    """What the learner does, in an imperative clause of the help of `--learner`."""

    _merges_pairs: ClassVar[bool] = False
    """Whether every learned entry comes from a merge of two entries.

    A checkpoint and a training log then store the merges, which are enough to repeat the run, and a smaller
    vocabulary is the beginning of a larger one.
    """

    _learns_sizes: ClassVar[bool] = False
    """Whether one run learns several sizes that do not nest."""

    _removes_entries: ClassVar[bool] = False
    """Whether a run can list the entries that it removes: `core_settings` with `record_removals`."""

    @property
    def _model_segmentation(self) -> Segmentation:
        """The segmentation of the model that the entries are for."""
        return "greedy"

    def _check(self, vocab_size: int) -> None:  # noqa: B027 - most learners fit every size
        """Raise `ArgumentError` for settings that a vocabulary of this size cannot have."""

    @abstractmethod
    def _memory(self, words: WordSizes, vocab_size: int) -> Amount:
        """Return an upper bound of the bytes that learning takes, besides counts and entries."""

    def _warnings(self, learned: LearnedVocabulary, min_frequency: int) -> list[str]:
        """Return what a user should know about a learned vocabulary."""
        return []

    def _core_settings(self) -> dict[str, object]:
        """Return the settings of the learner of the compiled core, which has the same name and fields."""
        return {"name": self.name, **vars(self)}


# ---- by merging pairs

Ties: TypeAlias = Literal["smallest-strings", "lowest-ids", "first-seen"]


class _Score(NamedTuple):
    """What it selects, its usual ties, and the bytes a character that positions of tracked pairs take."""

    about: str
    ties: Ties
    position_bytes: float


SCORES: Final = {
    "likelihood": _Score(
        "the gain in log-likelihood",
        ties="smallest-strings",
        position_bytes=4.5,
    ),
    "frequency": _Score("the most frequent pair", "lowest-ids", FREQUENCY_POSITIONS),
    "pmi": _Score(
        "f(ab) / (f(a) f(b)), which learns rare tokens",
        ties="first-seen",
        position_bytes=6.0,  # tracks all pairs that may be merged
    ),
}
"""The scores: a new one is its row here, its function in `reference`, and its objective in `crates/train`."""

_RARE_PAIR_COUNT = 10


@documented
@dataclass(frozen=True)
class Merges(Learner):
    """Repeatedly replace the pair with the best score by one token.

    >>> from piecework.train import Counts, WordPieceTrainer
    >>> counts = Counts(["hug", "pug", "pun", "bun", "hugs"], [10, 5, 12, 4, 5], first=[0, 1, 2, 3, 4])
    >>> trainer = WordPieceTrainer(16, Merges("pmi"), special_tokens=("[UNK]",))
    >>> list(trainer.learn(counts).vocab)[-1]
    '##gs'

    "pmi" prefers the rarest pairs, so with `min_frequency=1` nearly all entries are words that occur once. On
    50 MB of documentation and 8,000 entries, held-out words have 3.2 tokens each, against 1.10 with
    "likelihood" and 1.09 with "frequency". Use it to follow the formula, not in production.

    `ties` selects among pairs with equal scores:

    - "smallest-strings": the smaller left entry, then the smaller right entry, by code points, prefix
      included.
    - "lowest-ids": the lower left id, then the lower right id, as `tokenizers`.
    - "first-seen": the pair that occurs first in the corpus; needs counts with first positions.
    """

    name = "merges"
    _summary = "merge pairs"
    _merges_pairs = True

    score: str = setting(
        "likelihood",
        Choice(
            "Score that selects the next pair: "
            + "; ".join(f"{name}, {row.about}" for name, row in SCORES.items())
            + ".",
            names=tuple(SCORES),
        ),
    )
    ties: Ties | None = setting(
        None,
        Choice(
            "Which of several pairs with equal scores to merge; first-seen needs counts with positions.",
            names=("smallest-strings", "lowest-ids", "first-seen"),
            none="; ".join(f"{name}: {row.ties}" for name, row in SCORES.items()),
        ),
    )

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def _chosen_ties(self) -> Ties:
        """The ties, or the default of the score.

        >>> Merges("frequency")._chosen_ties
        'lowest-ids'
        """
        return self.ties or SCORES[self.score].ties

    def _memory(self, words: WordSizes, vocab_size: int) -> Amount:
        """Return the memory of words, and of tracked pairs or of the table that counts pairs before."""
        return memory_of_merges(words, SCORES[self.score].position_bytes)

    def _warnings(self, learned: LearnedVocabulary, min_frequency: int) -> list[str]:
        """Return a warning if "pmi" learned mostly rare pairs."""
        rare = sum(merge.pair_count < _RARE_PAIR_COUNT for merge in learned.merges)
        if self.score != "pmi" or 2 * rare <= len(learned.merges):
            return []
        return [
            f"{rare} of {len(learned.merges)} merged pairs occur fewer than {_RARE_PAIR_COUNT} times: "
            f'Merges("pmi") with min_frequency={min_frequency} spends the vocabulary on rare words; use '
            'Merges("likelihood") or a higher min_frequency'
        ]

    def _core_settings(self) -> dict[str, object]:
        """Return the settings of the learner of the compiled core, with the ties of the score for None."""
        return super()._core_settings() | {"ties": self._chosen_ties}


# ---- by removing substrings

_SEEDS_PER_ENTRY = 8
_BYTES_OF_SEED = 250


@documented
@dataclass(frozen=True)
class Pruning(Learner):
    """Start from many substrings and repeatedly remove the one whose removal costs the fewest tokens.

    >>> from piecework.train import WordPieceTrainer, count_texts
    >>> trainer = WordPieceTrainer(13, Pruning(), special_tokens=("[UNK]",))
    >>> list(trainer.learn(count_texts(["hug hugs bug bugs"])).vocab)[-3:]
    ['u', 'bug', 'hug']

    Of all learners, it yields the fewest tokens. It meets `vocab_size` exactly and merges no pairs.

    A token costs 1 + `balance` x -ln(its share of all tokens); a `balance` of 2 gives about 1 per cent more
    tokens. `seed_vocab_size` is at least `vocab_size`; more substrings take longer. Other
    libraries segment a WordPiece vocabulary of `segmentation="shortest"` greedily, with other ids, so save it
    as `.piecework`. The Unigram trainers accept this learner too; then all libraries use the fewest tokens.
    """

    name = "pruning"
    _summary = "remove the least useful of many substrings"
    _learns_sizes = True
    _removes_entries = True

    balance: float = setting(
        0.0,
        Number(
            "Weight of surprisal in the cost of a token; 2 gives boundaries nearer to morphemes, "
            "and more tokens.",
            least=0,
            most=1000,
        ),
    )
    max_use_cost: float | None = setting(
        None,
        Number(
            "Maximum cost of one use of an entry; 1.5 leaves fewer rarely used entries.",
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
            "Learn for longest match, or for the fewest tokens, which other libraries do not support for "
            "WordPiece.",
            names=("greedy", "shortest"),
        ),
    )

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def _model_segmentation(self) -> Segmentation:
        """The segmentation of the model that the entries are for."""
        return self.segmentation

    def _check(self, vocab_size: int) -> None:
        """Raise `ArgumentError` for fewer seeds than entries."""
        checks.optional_number("seed_vocab_size", self.seed_vocab_size, vocab_size)

    def _memory(self, words: WordSizes, vocab_size: int) -> Amount:
        """Return the memory of the sorted text, the words by entry, sums by thread, and the seeds."""
        import numpy as np

        seeds = (
            _SEEDS_PER_ENTRY * vocab_size if self.seed_vocab_size is None else self.seed_vocab_size
        )
        # A position begins at most `max_token_length` substrings, 50 by default.
        stored = np.minimum(seeds, 50 * words.chars)
        return 24 * words.chars + 30 * words.words + _BYTES_OF_SEED * stored


# ---- from the top down


@dataclass(frozen=True)
class TopDown(Learner):
    """Keep the frequent substrings, the longest first, as the vocabulary generator of TensorFlow Text does.

    >>> from piecework.train import WordPieceTrainer, count_texts
    >>> trainer = WordPieceTrainer(13, TopDown(), special_tokens=("[UNK]",))
    >>> list(trainer.learn(count_texts(["hug hugs bug bugs"])).vocab)[-2:]
    ['bug', 'hug']

    It meets `vocab_size` exactly and merges no pairs; equally frequent substrings are ranked by code points.

    Source: Song et al. 2021, "Fast WordPiece Tokenization".
    """

    name = "top-down"
    _summary = "keep the longest frequent substrings"

    def _memory(self, words: WordSizes, vocab_size: int) -> Amount:
        """Return the memory of the sorted text, the words, and the frequent substrings."""
        return 24 * words.chars + 24 * words.words


LEARNERS: dict[str, type[Learner]] = {kind.name: kind for kind in (Pruning, Merges, TopDown)}
"""The learners by name, the default one first."""

DEFAULT_LEARNER: Learner = Pruning()


def check_learner(
    learner: object, kinds: tuple[type[Learner], ...] = tuple(LEARNERS.values())
) -> None:
    """Raise `InputTypeError` unless `learner` is one of these kinds; the message lists them.

    >>> check_learner("pmi")
    Traceback (most recent call last):
    piecework.errors.InputTypeError: learner: must be Pruning(), ... of piecework.train, not 'pmi'; use ...
    """
    if isinstance(learner, kinds):
        return
    meant = _meant_by(learner)
    hint = f"use {meant}" if meant is not None and isinstance(meant, kinds) else ""
    expected = one_of(f"{kind.__name__}()" for kind in kinds)
    problem = f"must be {expected} of piecework.train, not {learner!r}"
    raise InputTypeError("learner", problem, hint=hint)


def one_of(texts: Iterable[str]) -> str:
    """Return texts as alternatives of a sentence.

    >>> one_of(["a", "b", "c"])
    'a, b or c'
    """
    *others, last = texts
    return f"{', '.join(others)} or {last}" if others else last


def _meant_by(name: object) -> Learner | None:
    """Return the learner that a name stands for, None if it stands for none."""
    if not isinstance(name, str):
        return None
    if name in SCORES:
        return Merges(name)
    return LEARNERS[name]() if name in LEARNERS else None
