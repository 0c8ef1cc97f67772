"""Learn a Unigram model: word counts in, `Unigram` with log probabilities out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from piecework._core import LearnedPieces as CorePieces
from piecework._core import learn_unigram
from piecework._internal.threads import thread_count
from piecework._internal.types import Progress
from piecework._internal.validation import PathLike
from piecework.spec import ByteFallback, Decoder, Metaspace, SequenceDecoder, Unigram
from piecework.train.counts import Counts
from piecework.train.preset_trainer import PresetTrainer
from piecework.train.setting_fields import Integer, Number, check_settings, documented, setting
from piecework.train.trainer import Resumption
from piecework.train.trainers import common
from piecework.train.word_sizes import Amount, WordSizes, memory_of_unigram

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


@documented
@dataclass(frozen=True)
class UnigramTrainer(PresetTrainer):
    """Learn Unigram pieces: start with frequent substrings, drop those with the least pruning loss.

    >>> from piecework.train import Counts
    >>> counts = Counts(["hug", "pug", "pun", "bun", "hugs"], [10, 5, 12, 4, 5])
    >>> model = UnigramTrainer(vocab_size=12, special_tokens=("<unk>",)).learn(counts)
    >>> [(piece, round(score, 2)) for piece, score in model.pieces[:5]]
    [('<unk>', 0.0), ('pun', -1.13), ('hug', -1.32), ('hugs', -2.06), ('pug', -2.07)]

    `vocab_size` is met exactly, unless the corpus has too few substrings for it. It counts `special_tokens`,
    `user_defined_symbols`, the 256 bytes of `byte_fallback`, and the alphabet. Each round runs
    `num_sub_iterations` EM iterations and keeps the fraction `shrinking_factor` of the pieces. The defaults
    are those of SentencePiece, except for the number of seeds.

    Source: Kudo 2018, section 3.2.
    """

    kind = "unigram"
    model_class = Unigram
    title = "Unigram"

    vocab_size: int = setting(8_000, common.VOCAB_SIZE)
    special_tokens: tuple[str, ...] = setting(("<unk>", "<s>", "</s>"), common.SPECIAL_TOKENS)
    user_defined_symbols: tuple[str, ...] = setting((), common.USER_DEFINED_SYMBOLS)
    byte_fallback: bool = setting(False, common.BYTE_FALLBACK)
    character_coverage: float = setting(0.9995, common.CHARACTER_COVERAGE)
    initial_alphabet: tuple[str, ...] = setting((), common.INITIAL_ALPHABET)
    seed_vocab_size: int | None = setting(
        None,
        Integer("Number of substrings to start from.", least=1, none="16 for each entry"),
    )
    max_piece_length: int = setting(
        16, Integer("Longest piece to learn, in characters.", least=1, most=512)
    )
    shrinking_factor: float = setting(0.75, common.SHRINKING_FACTOR)
    num_sub_iterations: int = setting(
        2, Integer("EM iterations before each pruning step.", least=1)
    )
    unk_token: str | None = setting(
        "<unk>", replace(common.UNK_TOKEN, none="unknown characters have no token")
    )
    count_exponent: float = setting(
        1.0,
        Number(
            "EM weights a word by its count to this power; 0.8 gives boundaries nearer to those of "
            "morphemes, and more tokens.",
            above=0,
            most=1,
        ),
    )

    def __post_init__(self) -> None:
        check_settings(self)
        common.add_unknown_token(self)

    def learn(
        self,
        counts: Counts,
        progress: Progress = None,
        num_threads: int | None = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> Unigram:
        """Return the model; warns with `TrainingWarning` if it has fewer entries than `vocab_size`.

        Raises `TrainingError` if the required pieces exceed `vocab_size`, and `CorpusError` if there are no
        words.
        """
        pieces = self.learn_pieces(counts, progress, num_threads, checkpoint=checkpoint).pieces
        common.warn_of_few(len(pieces), self.vocab_size, "no more substrings occur 2 times")
        return self._model_of(pieces)

    def learn_pieces(
        self,
        counts: Counts,
        progress: Progress = None,
        num_threads: int | None = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> LearnedPieces:
        """Return the pieces and every EM iteration; the result does not depend on `num_threads`."""
        common.check_counts(counts)
        with common.resumable(self, counts, progress, checkpoint) as run:

            def learn(vocab_size: int) -> CorePieces:
                return self._run(counts, vocab_size, num_threads, **run)

            return LearnedPieces._of(common.learn_at_most(self.vocab_size, learn))

    @property
    def presets(self) -> tuple[str, ...]:
        """The names of the presets with which the model decodes to the same text."""
        return ("sentencepiece", "metaspace", "whitespace", "characters")

    @property
    def added_symbols(self) -> tuple[str, ...]:
        """The tokens besides special tokens that encoding finds in any text."""
        return self.user_defined_symbols

    @property
    def resumption(self) -> Resumption:
        """What a checkpoint stores: the pieces and scores after a round."""
        return "round"

    def memory(self, words: WordSizes) -> Amount:
        """Return an upper bound of the bytes that learning takes, besides counts and entries."""
        return memory_of_unigram(words)

    def metaspace_decoder(self, metaspace: Metaspace) -> Decoder:
        """Return the decoder for words with a mark in place of spaces."""
        decoder = super().metaspace_decoder(metaspace)
        return SequenceDecoder((ByteFallback(), decoder)) if self.byte_fallback else decoder

    def smallest_model(self) -> Unigram:
        """Return a model with the required pieces and one character."""
        found = [*self.special_tokens, *self.user_defined_symbols]
        if self.byte_fallback:
            found += [f"<0x{byte:02X}>" for byte in range(256)]
        names = dict.fromkeys((*found, "a"))
        return self._model_of(tuple((name, -1.0 if name == "a" else 0.0) for name in names))

    def _model_of(self, pieces: tuple[tuple[str, float], ...]) -> Unigram:
        names = [piece for piece, _ in pieces]
        unk_id = None if self.unk_token is None else names.index(self.unk_token)
        return Unigram(pieces, unk_id=unk_id, byte_fallback=self.byte_fallback)

    def _run(
        self, counts: Counts, vocab_size: int, num_threads: int | None, **run: Any
    ) -> CorePieces:
        return learn_unigram(
            counts._raw,
            {
                "vocab_size": vocab_size,
                "special_tokens": self.special_tokens,
                "user_defined_symbols": self.user_defined_symbols,
                "byte_fallback": self.byte_fallback,
                "character_coverage": self.character_coverage,
                "initial_alphabet": "".join(self.initial_alphabet),
                "seed_size": self.seed_vocab_size
                or min(SEEDS_PER_ENTRY * self.vocab_size, _MAX_SEEDS),
                "count_exponent": self.count_exponent,
                "max_piece_length": self.max_piece_length,
                "shrinking_factor": self.shrinking_factor,
                "num_sub_iterations": self.num_sub_iterations,
                "hard_limit": True,
                "only_given_characters": False,
                "seeds": None,
            },
            num_threads=thread_count(num_threads),
            **run,
        )
