"""Learn a Unigram model: word counts in, `Unigram` with log probabilities out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from piecework._core import LearnedPieces as CorePieces
from piecework._core import learn_unigram
from piecework._internal import validation as checks
from piecework._internal.threads import thread_count
from piecework._internal.validation import PathLike
from piecework.spec import Unigram
from piecework.train.counting import Progress
from piecework.train.counts import Counts
from piecework.train.trainer import Trainer
from piecework.train.trainers.common import (
    check_counts,
    check_special_tokens,
    learn_at_most,
    resumable,
    set_field,
    warn_of_few,
)

SEEDS_PER_ENTRY = 16
"""The seeds for each entry of the vocabulary."""

_MAX_SEEDS = 2**32


@dataclass(frozen=True)
class LearningStep:
    """One EM iteration: the number of pieces, and the log-likelihood of the corpus under them."""

    pieces: int
    log_likelihood: float


@dataclass(frozen=True)
class LearnedPieces:
    """What a Unigram or SentencePiece trainer learned: scored pieces in id order, and the EM iterations.

    >>> from piecework.train import UnigramTrainer, count_texts
    >>> trainer = UnigramTrainer(vocab_size=4, special_tokens=("<unk>",))
    >>> learned = trainer.learn_pieces(count_texts(["ab ab"], preset="whitespace"))
    >>> [piece for piece, _ in learned.pieces]
    ['<unk>', 'ab', 'a', 'b']
    """

    pieces: tuple[tuple[str, float], ...]
    steps: tuple[LearningStep, ...]

    @classmethod
    def _of(cls, learned: CorePieces) -> LearnedPieces:
        return cls(tuple(learned.pieces), tuple(LearningStep(*step) for step in learned.steps))


@dataclass(frozen=True)
class UnigramTrainer(Trainer):
    """Learn Unigram pieces: start with frequent substrings, drop those with the least pruning loss.

    >>> from piecework.train import Counts
    >>> counts = Counts(["hug", "pug", "pun", "bun", "hugs"], [10, 5, 12, 4, 5])
    >>> model = UnigramTrainer(vocab_size=12, special_tokens=("<unk>",)).learn(counts)
    >>> [(piece, round(score, 2)) for piece, score in model.pieces[:5]]
    [('<unk>', 0.0), ('pun', -1.13), ('hug', -1.32), ('hugs', -2.06), ('pug', -2.07)]

    - `vocab_size` is met exactly, unless the corpus has too few substrings for it. It counts
      `special_tokens`, `user_defined_symbols`, the 256 bytes of `byte_fallback`, and the alphabet.
    - `special_tokens` are the first entries, in this order. An `unk_token` that is not one of them follows
      them; None leaves characters outside the alphabet without a token.
    - `user_defined_symbols` are always tokens of their own.
    - The alphabet has `initial_alphabet` and the most frequent characters that make up the fraction
      `character_coverage` of the text.
    - `seed_size`: number of seed substrings, of at most `max_piece_length` characters; by default 16 times
      `vocab_size`.
    - `count_exponent`: EM and pruning weight a word by its count to this power, above 0 and at most 1. Lower
      ones give boundaries nearer to those of morphemes, for more tokens.
    - Each round runs `num_sub_iterations` EM iterations and keeps the fraction `shrinking_factor` of
      the pieces.

    The other defaults are those of SentencePiece. Source: Kudo 2018, section 3.2.
    """

    kind = "unigram"

    vocab_size: int = 8_000
    special_tokens: tuple[str, ...] = ("<unk>", "<s>", "</s>")
    user_defined_symbols: tuple[str, ...] = ()
    byte_fallback: bool = False
    character_coverage: float = 0.9995
    initial_alphabet: tuple[str, ...] = ()
    seed_size: int | None = None
    max_piece_length: int = 16
    shrinking_factor: float = 0.75
    num_sub_iterations: int = 2
    unk_token: str | None = "<unk>"
    count_exponent: float = 1.0

    def __post_init__(self) -> None:
        check_special_tokens(self, needs_unknown=False)
        for name in ("vocab_size", "max_piece_length", "num_sub_iterations"):
            set_field(self, name, checks.whole_number(name, getattr(self, name), 1))
        set_field(self, "seed_size", checks.optional_number("seed_size", self.seed_size, 1))
        alphabet = checks.distinct_characters("initial_alphabet", self.initial_alphabet)
        set_field(self, "initial_alphabet", alphabet)
        symbols = checks.distinct_tokens("user_defined_symbols", self.user_defined_symbols)
        set_field(self, "user_defined_symbols", symbols)
        checks.check_fraction("character_coverage", self.character_coverage, allow_one=True)
        checks.check_fraction("count_exponent", self.count_exponent, allow_one=True)
        checks.check_fraction("shrinking_factor", self.shrinking_factor, allow_one=False)

    def learn(
        self,
        counts: Counts,
        progress: Progress | None = None,
        num_threads: int | None = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> Unigram:
        """Return the model; warns with `TrainingWarning` if it has fewer entries than `vocab_size`.

        Raises `TrainingError` if the required pieces exceed `vocab_size`, and `CorpusError` if there are no
        words.
        """
        pieces = self.learn_pieces(counts, progress, num_threads, checkpoint=checkpoint).pieces
        warn_of_few(len(pieces), self.vocab_size, "no more substrings occur 2 times")
        names = [piece for piece, _ in pieces]
        unk_id = None if self.unk_token is None else names.index(self.unk_token)
        return Unigram(pieces, unk_id=unk_id, byte_fallback=self.byte_fallback)

    def learn_pieces(
        self,
        counts: Counts,
        progress: Progress | None = None,
        num_threads: int | None = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> LearnedPieces:
        """Return the pieces and every EM iteration; the result does not depend on `num_threads`."""
        check_counts(counts)
        with resumable(self, counts, progress, checkpoint) as run:

            def learn(vocab_size: int) -> CorePieces:
                return self._run(counts, vocab_size, num_threads, **run)

            return LearnedPieces._of(learn_at_most(self.vocab_size, learn))

    def _run(
        self, counts: Counts, vocab_size: int, num_threads: int | None, **run: Any
    ) -> CorePieces:
        return learn_unigram(
            counts._raw,
            vocab_size=vocab_size,
            special_tokens=self.special_tokens,
            user_defined_symbols=self.user_defined_symbols,
            byte_fallback=self.byte_fallback,
            character_coverage=self.character_coverage,
            initial_alphabet=self.initial_alphabet,
            seed_size=self.seed_size or min(SEEDS_PER_ENTRY * self.vocab_size, _MAX_SEEDS),
            count_exponent=self.count_exponent,
            max_piece_length=self.max_piece_length,
            shrinking_factor=self.shrinking_factor,
            num_sub_iterations=self.num_sub_iterations,
            num_threads=thread_count(num_threads),
            **run,
        )
