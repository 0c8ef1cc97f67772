"""Learn WordPiece entries by merging pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Literal, NamedTuple, TypeAlias

from piecework.train.learned import LearnedVocabulary
from piecework.train.learners.learner import Learner
from piecework.train.setting_fields import Choice, check_settings, documented, setting
from piecework.train.word_sizes import FREQUENCY_POSITIONS, Amount, WordSizes, memory_of_merges

Score: TypeAlias = Literal["likelihood", "pmi", "frequency"]
Ties: TypeAlias = Literal["smallest-strings", "lowest-ids", "first-seen"]


class _Score(NamedTuple):
    """The usual ties of a score, and the bytes for each character that positions of tracked pairs take."""

    ties: Ties
    position_bytes: float


_SCORES: Final[dict[str, _Score]] = {
    "likelihood": _Score("smallest-strings", 4.5),
    "pmi": _Score("first-seen", 6.0),  # tracks all pairs that may be merged
    "frequency": _Score("lowest-ids", FREQUENCY_POSITIONS),
}

_RARE_PAIR_COUNT = 10


@documented
@dataclass(frozen=True)
class Merges(Learner):
    """Replace the pair with the best score by one token, and repeat.

    >>> from piecework.train import Counts, WordPieceTrainer
    >>> counts = Counts(["hug", "pug", "pun", "bun", "hugs"], [10, 5, 12, 4, 5], first=[0, 1, 2, 3, 4])
    >>> trainer = WordPieceTrainer(16, Merges("pmi"), special_tokens=("[UNK]",))
    >>> list(trainer.learn(counts).vocab)[-1]
    '##gs'

    `score` selects the pair to merge:

    - "likelihood" (default): the exact gain in log-likelihood of the corpus under a unigram model.
    - "frequency": the most frequent pair.
    - "pmi": f(ab) / (f(a) f(b)), the formula usually published for WordPiece. It prefers the rarest pairs,
      so with `min_frequency=1` nearly all entries are words that occur once. On 50 MB of documentation
      and 8,000 entries, held-out words have 3.2 tokens each, against 1.10 with "likelihood" and 1.09 with
      "frequency". Use it to follow the formula, not in production.

    `ties` selects among pairs with equal scores; None selects the default of the score:

    - "smallest-strings" (default of "likelihood"): the smaller left entry, then the smaller right entry,
      by code points, prefix included.
    - "lowest-ids" (default of "frequency"): the lower left id, then the lower right id, as `tokenizers`.
    - "first-seen" (default of "pmi", whose published examples need it): the pair that occurs first in the
      corpus; needs counts with first positions.
    """

    SCORES: ClassVar[tuple[str, ...]] = tuple(_SCORES)
    TIES: ClassVar[tuple[str, ...]] = ("smallest-strings", "lowest-ids", "first-seen")

    name = "merges"
    summary = "merge pairs"
    merges_pairs = True

    score: Score = setting(
        "likelihood",
        Choice(
            "Score that selects the next pair. pmi is the textbook formula; with a low minimum frequency it "
            "learns rare, noisy tokens.",
            names=SCORES,
        ),
    )
    ties: Ties | None = setting(
        None,
        Choice(
            "Which of several pairs with equal scores to merge; first-seen needs counts with positions.",
            names=TIES,
            none="smallest-strings; frequency: lowest-ids; pmi: first-seen",
        ),
    )

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def chosen_ties(self) -> Ties:
        """The ties, or the default of the score.

        >>> Merges("frequency").chosen_ties
        'lowest-ids'
        """
        return self.ties or _SCORES[self.score].ties

    def memory(self, words: WordSizes, vocab_size: int) -> Amount:
        """Return the memory of words, and of tracked pairs or of the table that counts pairs before."""
        return memory_of_merges(words, _SCORES[self.score].position_bytes)

    def warnings(self, learned: LearnedVocabulary, min_frequency: int) -> list[str]:
        """Return a warning if "pmi" learned mostly rare pairs."""
        rare = sum(merge.pair_count < _RARE_PAIR_COUNT for merge in learned.merges)
        if self.score != "pmi" or 2 * rare <= len(learned.merges):
            return []
        return [
            f"{rare} of {len(learned.merges)} merged pairs occur fewer than {_RARE_PAIR_COUNT} times: "
            f'Merges("pmi") with min_frequency={min_frequency} spends the vocabulary on rare words; use '
            'Merges("likelihood") or a higher min_frequency'
        ]

    def core_settings(self) -> dict[str, object]:
        """Return the settings of the learner of the compiled core, with the ties of the score for None."""
        return super().core_settings() | {"ties": self.chosen_ties}
