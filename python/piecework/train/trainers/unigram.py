"""Learn a Unigram model over characters or bytes: word counts in, `Unigram` with log probabilities out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from piecework._internal._core import LearnedPieces as CorePieces
from piecework._internal._core import learn_unigram
from piecework._internal.setting_fields import (
    Integer,
    Number,
    Variant,
    check_settings,
    documented,
    setting,
)
from piecework._internal.threads import thread_count
from piecework._internal.types import Progress, Unpack
from piecework.errors import ArgumentError
from piecework.spec import ByteFallback, Decoder, Metaspace, SequenceDecoder, Unigram
from piecework.train.counts import AnyCounts, Counts
from piecework.train.learned import LearnedPieces
from piecework.train.learners import Pruning, check_learner
from piecework.train.trainer import (
    BYTE_LEVEL,
    Amount,
    LearnOptions,
    PresetTrainer,
    Traits,
    WordSizes,
    memory_of_unigram,
)
from piecework.train.trainers import common
from piecework.train.trainers.bpe import BYTE_ALPHABET

SEEDS_PER_ENTRY = 16
"""The seeds for each entry of the vocabulary."""

_MAX_SEEDS = 2**32
_KEPT_SHARE = 0.75

LEARNER = Variant(
    f"How to choose pieces instead of by loss of likelihood: {Pruning._summary}.",
    annotation="Learner",
    kinds={Pruning.name: Pruning},
    check=lambda learner: check_learner(learner, (Pruning,)),
    without=("seed_vocab_size",),
    none="by loss of likelihood",
)


@dataclass(frozen=True)
class _AnyUnigramTrainer(PresetTrainer):
    """What the trainers over characters and over bytes share."""

    vocab_size: int = setting(8_000, common.VOCAB_SIZE)
    special_tokens: tuple[str, ...] = setting(("<unk>", "<s>", "</s>"), common.SPECIAL_TOKENS)
    seed_vocab_size: int | None = setting(
        None,
        Integer(
            "Number of substrings to start from.",
            least=1,
            none="16 for each entry; 8 with a learner",
        ),
    )
    max_piece_length: int = setting(
        16, Integer("Longest piece to learn, in characters.", least=1, most=512)
    )
    shrinking_factor: float = setting(_KEPT_SHARE, common.SHRINKING_FACTOR)
    num_sub_iterations: int = setting(
        2,
        Integer(
            "EM iterations before each pruning step, or after a learner chose the pieces.", least=1
        ),
    )
    count_exponent: float = setting(
        1.0,
        Number(
            "EM weights a word by its count to this power; 0.8 gives boundaries nearer to "
            "morphemes, and more tokens.",
            above=0,
            most=1,
        ),
    )
    learner: Pruning | None = setting(None, LEARNER)

    def __post_init__(self) -> None:
        check_settings(self)
        self._check_learner()

    @abstractmethod
    def _by_characters(self) -> UnigramTrainer:
        """Return the trainer over characters that learns the same pieces."""

    def learn(
        self, counts: AnyCounts, progress: Progress = None, **how: Unpack[LearnOptions]
    ) -> Unigram:
        """Return the model; warns with `TrainingWarning` if it has fewer entries than `vocab_size`.

        Raises `TrainingError` if the required pieces exceed `vocab_size`, and `CorpusError` if there are no
        words.
        """
        pieces = self.learn_pieces(counts, progress, **how).pieces
        common.warn_of_few(len(pieces), self.vocab_size, "no more substrings occur 2 times")
        return self._model_of(pieces)

    def learn_pieces(
        self, counts: AnyCounts, progress: Progress = None, **how: Unpack[LearnOptions]
    ) -> LearnedPieces:
        """Return the pieces and every EM iteration; the result does not depend on `num_threads`."""
        counts = common.checked_counts(counts)
        settings = self._by_characters()
        with common.resumable(self, counts, progress, how.get("checkpoint")) as run:

            def learn(vocab_size: int) -> CorePieces:
                return settings._run(counts, vocab_size, how.get("num_threads"), **run)

            return LearnedPieces._of(common.learn_at_most(self.vocab_size, learn))

    def _traits(self) -> Traits:
        detail = self.learner.name if self.learner else ""
        return replace(
            super()._traits(), detail=detail, resumption="choices" if self.learner else "round"
        )

    def _memory(self, words: WordSizes) -> Amount:
        """Return an upper bound of the bytes that learning takes, besides counts and entries."""
        import numpy as np

        estimated = memory_of_unigram(words)
        if self._pruning is None:
            return estimated
        return np.maximum(estimated, self._pruning._memory(words, self.vocab_size))

    @property
    def _pruning(self) -> Pruning | None:
        """The learner with the number of seeds."""
        return self.learner and replace(self.learner, seed_vocab_size=self.seed_vocab_size)

    def _check_before_counting(self, files: int | None = None) -> None:
        """Raise for settings with which learning fails for every corpus."""
        if self._is_byte_level:
            self._by_characters()._check_before_counting(files)
        else:
            super()._check_before_counting(files)

    def _check_learner(self) -> None:
        """Raise `ArgumentError` for settings that do not fit the learner."""
        if self.learner is None:
            return
        if self.learner.seed_vocab_size is not None:
            size = self.learner.seed_vocab_size
            problem = (
                f"{self.learner} has the number of seeds; pass seed_vocab_size={size} beside it"
            )
            raise ArgumentError("learner", problem)
        if self.shrinking_factor != _KEPT_SHARE:
            problem = f"{self.shrinking_factor:g} does not apply with Pruning()"
            raise ArgumentError("shrinking_factor", problem)
        assert self._pruning is not None
        self._pruning._check(self.vocab_size)

    def _model_of(self, pieces: Sequence[tuple[str, float]]) -> Unigram:
        names = [piece for piece, _ in pieces]
        unk_id = None if self.unk_token is None else names.index(self.unk_token)
        byte_fallback = self._by_characters().byte_fallback
        return Unigram(tuple(pieces), unk_id=unk_id, byte_fallback=byte_fallback)


@documented
@dataclass(frozen=True)
class UnigramTrainer(_AnyUnigramTrainer):
    """Learn Unigram pieces: start with frequent substrings and prune the ones with the lowest loss.

    >>> from piecework.train import Counts
    >>> counts = Counts(["hug", "pug", "pun", "bun", "hugs"], [10, 5, 12, 4, 5])
    >>> model = UnigramTrainer(vocab_size=12, special_tokens=("<unk>",)).learn(counts)
    >>> [(piece, round(score, 2)) for piece, score in model.pieces[:5]]
    [('<unk>', 0.0), ('pun', -1.13), ('hug', -1.32), ('hugs', -2.06), ('pug', -2.07)]

    `vocab_size` is met exactly, unless the corpus has too few substrings for it. It counts `special_tokens`,
    `user_defined_symbols`, the 256 bytes of `byte_fallback`, and the alphabet. Each round runs
    `num_sub_iterations` EM iterations and keeps the fraction `shrinking_factor` of the pieces. The defaults
    are SentencePiece's, except for the number of seeds.

    `learner=Pruning()` chooses the pieces as it chooses entries of WordPiece, by the tokens that their
    removal would add, and EM estimates their probabilities. Words take fewer tokens than without it:

    >>> from piecework.train import Pruning
    >>> trainer = UnigramTrainer(vocab_size=11, special_tokens=("<unk>",), learner=Pruning())
    >>> [piece for piece, _ in trainer.learn(counts).pieces[1:6]]
    ['hug', 'pun', 's', 'pug', 'u']

    Source: Kudo 2018, section 3.2.
    """

    kind = "unigram"
    _model_class = Unigram
    _title = "Unigram"
    _presets = ("sentencepiece", "metaspace", "whitespace", "characters")
    _takes_any_words = True

    user_defined_symbols: tuple[str, ...] = setting((), common.USER_DEFINED_SYMBOLS)
    byte_fallback: bool = setting(False, common.BYTE_FALLBACK)
    character_coverage: float = setting(0.9995, common.CHARACTER_COVERAGE)
    initial_alphabet: tuple[str, ...] = setting((), common.INITIAL_ALPHABET)
    unk_token: str | None = setting(
        "<unk>", replace(common.UNK_TOKEN, none="unknown characters have no token")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        common.add_unknown_token(self)

    def _by_characters(self) -> UnigramTrainer:
        """Return the trainer itself: its alphabet already is characters."""
        return self

    @property
    def _added_symbols(self) -> tuple[str, ...]:
        """The tokens besides special tokens that encoding finds in any text."""
        return self.user_defined_symbols

    def _metaspace_decoder(self, metaspace: Metaspace) -> Decoder:
        """Return the decoder for words with a metaspace in place of spaces."""
        decoder = super()._metaspace_decoder(metaspace)
        return SequenceDecoder((ByteFallback(), decoder)) if self.byte_fallback else decoder

    @property
    def _reserved_entries(self) -> tuple[str, ...]:
        """The entries that come before the alphabet."""
        bytes_ = (f"<0x{byte:02X}>" for byte in range(256)) if self.byte_fallback else ()
        return (*self.special_tokens, *self.user_defined_symbols, *bytes_)

    def _smallest_model(self) -> Unigram:
        """Return a model with the required pieces and one character."""
        names = dict.fromkeys((*self._reserved_entries, "a"))
        return self._model_of([(name, -1.0 if name == "a" else 0.0) for name in names])

    def _run(
        self, counts: Counts, vocab_size: int, num_threads: int | None, **run: Any
    ) -> CorePieces:
        return learn_unigram(
            counts._raw,
            {
                **common.core_settings(self, without=("seed_vocab_size", "unk_token", "learner")),
                "vocab_size": vocab_size,
                "seed_size": self.seed_vocab_size
                or min(SEEDS_PER_ENTRY * self.vocab_size, _MAX_SEEDS),
                "pruning": self._pruning and vars(self._pruning),
                "hard_limit": True,
                "only_given_characters": False,
                "seeds": None,
            },
            num_threads=thread_count(num_threads),
            **run,
        )


@documented
@dataclass(frozen=True)
class ByteUnigramTrainer(_AnyUnigramTrainer):
    """Learn Unigram pieces of bytes; the alphabet is all 256 bytes, so no text is unknown.

    >>> from piecework.train import count_texts
    >>> trainer = ByteUnigramTrainer(vocab_size=257 + 2)
    >>> model = trainer.learn(count_texts(["hug pug hug"] * 2, preset="gpt2"))
    >>> [piece for piece, _ in model.pieces[1:3]]
    ['hug', 'Ġpug']

    The settings are the same as for `UnigramTrainer`, and counts must come from a byte-level pipeline, as for
    `ByteBPETrainer`. The `tokenizer.json` is a Unigram model that `tokenizers` encodes with the same ids.
    """

    kind = "byte-unigram"
    _title = "byte-level Unigram"
    _presets = BYTE_LEVEL
    _is_byte_level = True

    vocab_size: int = setting(50_257, common.VOCAB_SIZE)
    special_tokens: tuple[str, ...] = setting(("<|endoftext|>",), common.SPECIAL_TOKENS)
    max_piece_length: int = setting(
        50, Integer("Longest piece to learn, in bytes.", least=1, most=512)
    )

    unk_token = None  # every byte is an entry

    def _by_characters(self) -> UnigramTrainer:
        """Return the trainer over the byte-level alphabet that learns the same pieces."""
        return UnigramTrainer(
            **vars(self), character_coverage=1.0, initial_alphabet=BYTE_ALPHABET, unk_token=None
        )

    def _smallest_model(self) -> Unigram:
        """Return a model with the special tokens and all bytes."""
        special = [(token, 0.0) for token in self.special_tokens]
        return self._model_of([*special, *((byte, -1.0) for byte in BYTE_ALPHABET)])
