"""Word counts in, a WordPiece model out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from piecework._core import LearnedEntries, learn_wordpiece
from piecework._internal import validation as checks
from piecework.errors import ArgumentError, TrainingWarning
from piecework.spec import WordPiece
from piecework.train.counting import Progress
from piecework.train.counts import Counts
from piecework.train.trainers.common import (
    Join,
    LearnedVocabulary,
    check_special_tokens,
    numbered,
    refuse_empty,
    set_field,
)

SCORES = ("likelihood", "pmi", "frequency", "top-down")
WORDPIECE_TIES = ("smallest-strings", "lowest-ids", "first-seen")
BERT_SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

_RARE_JOIN = 10


@dataclass(frozen=True)
class WordPieceTrainer:
    """Learn a WordPiece vocabulary by joining the best pair of entries again and again.

    >>> from piecework.train import count_texts
    >>> trainer = WordPieceTrainer(vocab_size=12, special_tokens=("[UNK]",), score="frequency")
    >>> model = trainer.learn(count_texts(["hug hugs bug bugs"]))
    >>> list(model.vocab)[-2:]
    ['bug', 'hug']

    `score` decides what is best. "likelihood": the exact gain of the corpus's unigram log-likelihood.
    "frequency": the most frequent pair. "top-down": the longest frequent substrings, to exactly
    `vocab_size`. "pmi": f(ab) / (f(a) f(b)), the formula WordPiece is usually described by; it
    prefers the rarest pairs there are, so at `min_frequency=1` nearly the whole vocabulary goes to
    words seen once. On 50 MB of documentation, 8,000 entries, it cuts held-out words into 3.2 tokens
    each where "likelihood" needs 1.10 and "frequency" 1.09; take it to follow the formula, not to
    ship.

    `limit_alphabet` keeps that many characters, `initial_alphabet` first; `max_token_length` counts
    characters without the prefix.

    `ties` decides which of equally scored pairs is joined. "smallest-strings" (the default of
    "likelihood"): the pair with the smaller left entry, then the smaller right entry, by code points,
    prefix included. "lowest-ids" (the default of "frequency"): the pair with the lower left id, then
    the lower right id, as `tokenizers` does. "first-seen" (the default of "pmi", whose published
    examples need it): the pair that occurs first in the corpus; it needs counts with first positions.
    "top-down" joins no pairs and takes no `ties`.
    """

    vocab_size: int = 30_000
    score: str = "likelihood"
    min_frequency: int = 2
    limit_alphabet: int | None = None
    initial_alphabet: tuple[str, ...] = ()
    special_tokens: tuple[str, ...] = BERT_SPECIAL_TOKENS
    continuing_subword_prefix: str = "##"
    max_token_length: int | None = None
    unk_token: str = "[UNK]"
    ties: str | None = None

    def __post_init__(self) -> None:
        set_field(self, "vocab_size", checks.whole_number("vocab_size", self.vocab_size, 1))
        checks.check_choice("score", self.score, SCORES)
        _check_ties(self)
        set_field(
            self, "min_frequency", checks.whole_number("min_frequency", self.min_frequency, 0)
        )
        set_field(
            self, "limit_alphabet", checks.optional_number("limit_alphabet", self.limit_alphabet, 1)
        )
        set_field(
            self,
            "initial_alphabet",
            checks.distinct_characters("initial_alphabet", self.initial_alphabet),
        )
        check_special_tokens(self)
        checks.check_text("continuing_subword_prefix", self.continuing_subword_prefix)
        longest = checks.optional_number("max_token_length", self.max_token_length, 1)
        set_field(self, "max_token_length", longest)

    def learn(
        self, counts: Counts, progress: Progress | None = None, num_threads: int | None = None
    ) -> WordPiece:
        """Return the model with the learned vocabulary; warns when that is poor or too small.

        Raises `TrainingError` when `vocab_size` cannot hold special tokens and alphabet,
        `CorpusError` when there are no words, and `ArgumentError` when "first-seen" ties meet counts
        without first positions.
        """
        learned = self.learn_vocabulary(counts, progress, num_threads)
        for message in _doubts(self, learned):
            warnings.warn(message, TrainingWarning, stacklevel=2)
        return WordPiece(
            vocab=numbered(learned.entries),
            unk_token=self.unk_token,
            continuing_subword_prefix=self.continuing_subword_prefix,
        )

    def learn_vocabulary(
        self, counts: Counts, progress: Progress | None = None, num_threads: int | None = None
    ) -> LearnedVocabulary:
        """Return the vocabulary together with every join; "top-down" has none."""
        refuse_empty(counts)
        learned: LearnedEntries = learn_wordpiece(
            counts._raw,
            vocab_size=self.vocab_size,
            score=self.score,
            ties=self.ties,
            min_frequency=self.min_frequency,
            limit_alphabet=self.limit_alphabet,
            initial_alphabet=self.initial_alphabet,
            special_tokens=self.special_tokens,
            continuing_subword_prefix=self.continuing_subword_prefix,
            max_token_length=self.max_token_length,
            progress=progress,
        )
        joins = tuple(Join(*join) for join in learned.joins)
        return LearnedVocabulary(tuple(learned.vocab), joins, learned.stopped_early)


def _check_ties(trainer: WordPieceTrainer) -> None:
    if trainer.ties is None:
        return
    if trainer.score == "top-down":
        expected = 'None: score="top-down" ranks substrings by count, then by code points'
        raise ArgumentError("ties", repr(trainer.ties), expected)
    checks.check_choice("ties", trainer.ties, WORDPIECE_TIES)


def _doubts(trainer: WordPieceTrainer, learned: LearnedVocabulary) -> list[str]:
    """Return what the user should know about a vocabulary that may disappoint."""
    doubts = []
    if learned.stopped_early:
        doubts.append(f"stopped early: {learned.stopped_early}")
    rare = sum(join.pair_count < _RARE_JOIN for join in learned.joins)
    if trainer.score == "pmi" and 2 * rare > len(learned.joins):
        doubts.append(
            f"{rare} of {len(learned.joins)} joins were of pairs seen fewer than {_RARE_JOIN} times: "
            f"pmi with min_frequency={trainer.min_frequency} spends the vocabulary on words that "
            'hardly occur; use score="likelihood" or a higher min_frequency'
        )
    return doubts
