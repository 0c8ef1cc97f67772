"""Word counts in, a Unigram model out: pieces with their log probabilities."""

from __future__ import annotations

from dataclasses import dataclass

from piecework._core import learn_unigram
from piecework._internal import validation as checks
from piecework._internal.threads import thread_count
from piecework.spec import Unigram
from piecework.train.counting import Progress
from piecework.train.counts import Counts
from piecework.train.trainers.common import check_special_tokens, refuse_empty, set_field


@dataclass(frozen=True)
class LearningStep:
    """One estimate of a Unigram learner: with how many pieces, and how likely they make the corpus."""

    pieces: int
    log_likelihood: float


@dataclass(frozen=True)
class LearnedPieces:
    """Entries in id order with their log probabilities, and the steps that led there."""

    pieces: tuple[tuple[str, float], ...]
    steps: tuple[LearningStep, ...]


@dataclass(frozen=True)
class UnigramTrainer:
    """Learn Unigram pieces: begin with many substrings, drop those that the likelihood needs least.

    >>> from piecework.train import Counts
    >>> counts = Counts(["hug", "pug", "pun", "bun", "hugs"], [10, 5, 12, 4, 5])
    >>> model = UnigramTrainer(vocab_size=12, special_tokens=("<unk>",)).learn(counts)
    >>> [(piece, round(score, 2)) for piece, score in model.pieces[:5]]
    [('<unk>', 0.0), ('pun', -1.13), ('hug', -1.32), ('hugs', -2.06), ('pug', -2.07)]

    `vocab_size` is met exactly; it counts `special_tokens`, `user_defined_symbols` (always tokens of
    their own), with `byte_fallback` the 256 bytes, and the alphabet: the most frequent characters that
    make up the share `character_coverage` of the text, and `initial_alphabet`.

    `seed_size` is how many substrings there are to begin with, at most `max_piece_length` characters
    long; a round estimates their probabilities `num_sub_iterations` times and keeps the share
    `shrinking_factor` of them. The defaults are those of SentencePiece.

    Source: Kudo 2018, section 3.2.
    """

    vocab_size: int = 8_000
    special_tokens: tuple[str, ...] = ("<unk>", "<s>", "</s>")
    user_defined_symbols: tuple[str, ...] = ()
    byte_fallback: bool = False
    character_coverage: float = 0.9995
    initial_alphabet: tuple[str, ...] = ()
    seed_size: int = 1_000_000
    max_piece_length: int = 16
    shrinking_factor: float = 0.75
    num_sub_iterations: int = 2
    unk_token: str | None = "<unk>"

    def __post_init__(self) -> None:
        check_special_tokens(self, needs_unknown=False)
        for name in ("vocab_size", "seed_size", "max_piece_length", "num_sub_iterations"):
            set_field(self, name, checks.whole_number(name, getattr(self, name), 1))
        alphabet = checks.distinct_characters("initial_alphabet", self.initial_alphabet)
        set_field(self, "initial_alphabet", alphabet)
        symbols = checks.distinct_tokens("user_defined_symbols", self.user_defined_symbols, None)
        set_field(self, "user_defined_symbols", symbols)
        checks.check_fraction("character_coverage", self.character_coverage, allow_one=True)
        checks.check_fraction("shrinking_factor", self.shrinking_factor, allow_one=False)

    def learn(
        self, counts: Counts, progress: Progress | None = None, num_threads: int | None = None
    ) -> Unigram:
        """Return the model with pieces and scores.

        Raises `TrainingError` when `vocab_size` cannot hold what must be there, or is more than the
        corpus has substrings for (it names the largest possible), and `CorpusError` when there are
        no words.
        """
        pieces = self.learn_pieces(counts, progress, num_threads).pieces
        names = [piece for piece, _ in pieces]
        unk_id = None if self.unk_token is None else names.index(self.unk_token)
        return Unigram(pieces, unk_id=unk_id, byte_fallback=self.byte_fallback)

    def learn_pieces(
        self, counts: Counts, progress: Progress | None = None, num_threads: int | None = None
    ) -> LearnedPieces:
        """Return the pieces together with every step; the outcome does not depend on `num_threads`."""
        refuse_empty(counts)
        learned = learn_unigram(
            counts._raw,
            vocab_size=self.vocab_size,
            special_tokens=self.special_tokens,
            user_defined_symbols=self.user_defined_symbols,
            byte_fallback=self.byte_fallback,
            character_coverage=self.character_coverage,
            initial_alphabet=self.initial_alphabet,
            seed_size=self.seed_size,
            max_piece_length=self.max_piece_length,
            shrinking_factor=self.shrinking_factor,
            num_sub_iterations=self.num_sub_iterations,
            num_threads=thread_count(num_threads),
            progress=progress,
        )
        steps = tuple(LearningStep(*step) for step in learned.steps)
        return LearnedPieces(tuple(learned.pieces), steps)
