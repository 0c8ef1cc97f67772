"""Word counts in, a byte-pair model out: by characters, or by bytes written as printable characters."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Final

from piecework._core import learn_bpe
from piecework._internal import validation as checks
from piecework.errors import TrainingWarning
from piecework.spec import BPE
from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER
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

TIES = ("lowest-ids", "greatest-strings")

BYTE_ALPHABET: Final[tuple[str, ...]] = tuple(sorted(BYTE_OF_CHARACTER))
"""The 256 characters of the byte-level alphabet in code point order (GPT-2, Radford et al. 2019)."""


@dataclass(frozen=True)
class BPETrainer:
    """Learn merges of characters: join the most frequent pair of entries again and again.

    >>> from piecework.train import Counts
    >>> counts = Counts(["hug", "pug", "pun", "bun", "hugs"], [10, 5, 12, 4, 5])
    >>> model = BPETrainer(vocab_size=11, special_tokens=("<unk>",)).learn(counts)
    >>> model.merges
    (('u', 'g'), ('u', 'n'), ('h', 'ug'))

    `vocab_size` counts special tokens and alphabet: an alphabet of 478 and 40,000 merges make 40,478
    entries. `min_frequency` leaves out rarer pairs; `limit_alphabet` keeps that many characters,
    `initial_alphabet` first; `max_token_length` is the longest entry in characters without prefix and
    suffix. `continuing_subword_prefix` goes before each character but a word's first,
    `end_of_word_suffix` after its last. `unk_token` must be a special token; None drops unknown
    characters.

    `ties` says which of the most frequent pairs is joined: "lowest-ids", the one with the lower ids,
    as the `tokenizers` library has it, or "greatest-strings", the one with the greater strings, as
    subword-nmt has it.

    Source: Sennrich et al. 2016, section 3.2.
    """

    vocab_size: int = 30_000
    min_frequency: int = 2
    limit_alphabet: int | None = None
    initial_alphabet: tuple[str, ...] = ()
    special_tokens: tuple[str, ...] = ("<unk>",)
    continuing_subword_prefix: str = ""
    end_of_word_suffix: str = ""
    max_token_length: int | None = None
    ties: str = "lowest-ids"
    unk_token: str | None = "<unk>"

    def __post_init__(self) -> None:
        _check(self)
        alphabet = checks.distinct_characters("initial_alphabet", self.initial_alphabet)
        set_field(self, "initial_alphabet", alphabet)
        limit = checks.optional_number("limit_alphabet", self.limit_alphabet, 1)
        set_field(self, "limit_alphabet", limit)
        checks.check_text("continuing_subword_prefix", self.continuing_subword_prefix)
        checks.check_text("end_of_word_suffix", self.end_of_word_suffix)

    def learn(
        self, counts: Counts, progress: Progress | None = None, num_threads: int | None = None
    ) -> BPE:
        """Return the model with vocabulary and merges; warns when there are fewer than asked for.

        Raises `TrainingError` when `vocab_size` cannot hold special tokens and alphabet, and
        `CorpusError` when there are no words.
        """
        return _model(
            self.learn_vocabulary(counts, progress, num_threads),
            unk_token=self.unk_token,
            prefix=self.continuing_subword_prefix,
            suffix=self.end_of_word_suffix,
        )

    def learn_vocabulary(
        self, counts: Counts, progress: Progress | None = None, num_threads: int | None = None
    ) -> LearnedVocabulary:
        """Return the vocabulary together with every join; the joins are the merges.

        The learner works on one thread whatever `num_threads` says.
        """
        refuse_empty(counts)
        learned = learn_bpe(
            counts._raw,
            vocab_size=self.vocab_size,
            min_frequency=self.min_frequency,
            limit_alphabet=self.limit_alphabet,
            initial_alphabet=self.initial_alphabet,
            special_tokens=self.special_tokens,
            continuing_subword_prefix=self.continuing_subword_prefix,
            end_of_word_suffix=self.end_of_word_suffix,
            max_token_length=self.max_token_length,
            ties=self.ties,
            progress=progress,
        )
        joins = tuple(Join(*join) for join in learned.joins)
        return LearnedVocabulary(tuple(learned.vocab), joins, learned.stopped_early)


@dataclass(frozen=True)
class ByteBPETrainer:
    """Learn merges of bytes; the alphabet is always the 256 of them, so nothing is ever unknown.

    >>> from piecework.train import count_texts
    >>> trainer = ByteBPETrainer(vocab_size=257 + 2, min_frequency=1)
    >>> trainer.learn(count_texts(["hug pug hug"], pipeline="gpt2")).merges
    (('u', 'g'), ('h', 'ug'))

    The settings are those of `BPETrainer`. GPT-2's `vocab_size` is 256 bytes, 50,000 merges and one
    special token: 50,257. Counts must come from a byte-level pipeline.
    """

    vocab_size: int = 50_257
    min_frequency: int = 2
    special_tokens: tuple[str, ...] = ("<|endoftext|>",)
    max_token_length: int | None = None
    ties: str = "lowest-ids"

    def __post_init__(self) -> None:
        _check(self)

    @property
    def unk_token(self) -> None:
        """None: every byte is an entry."""
        return None

    def learn(
        self, counts: Counts, progress: Progress | None = None, num_threads: int | None = None
    ) -> BPE:
        """Return the model with vocabulary and merges, as `BPETrainer.learn` does."""
        return _model(self.learn_vocabulary(counts, progress, num_threads))

    def learn_vocabulary(
        self, counts: Counts, progress: Progress | None = None, num_threads: int | None = None
    ) -> LearnedVocabulary:
        """Return the vocabulary together with every join, as `BPETrainer.learn_vocabulary` does."""
        return self.by_characters().learn_vocabulary(counts, progress, num_threads)

    def by_characters(self) -> BPETrainer:
        """Return the same trainer in terms of the characters that stand for bytes."""
        return BPETrainer(
            vocab_size=self.vocab_size,
            min_frequency=self.min_frequency,
            initial_alphabet=BYTE_ALPHABET,
            special_tokens=self.special_tokens,
            max_token_length=self.max_token_length,
            ties=self.ties,
            unk_token=None,
        )


def _check(trainer: BPETrainer | ByteBPETrainer) -> None:
    set_field(trainer, "vocab_size", checks.whole_number("vocab_size", trainer.vocab_size, 1))
    frequency = checks.whole_number("min_frequency", trainer.min_frequency, 0)
    set_field(trainer, "min_frequency", frequency)
    check_special_tokens(trainer, needs_unknown=False)
    longest = checks.optional_number("max_token_length", trainer.max_token_length, 1)
    set_field(trainer, "max_token_length", longest)
    checks.check_choice("ties", trainer.ties, TIES)


def _model(
    learned: LearnedVocabulary, unk_token: str | None = None, prefix: str = "", suffix: str = ""
) -> BPE:
    if learned.stopped_early:
        message = f"stopped early: {learned.stopped_early}"
        warnings.warn(message, TrainingWarning, stacklevel=3)
    return BPE(
        vocab=numbered(learned.entries),
        # A pair that is joined a second time changes nothing: its first rank stands.
        merges=tuple(dict.fromkeys((join.left, join.right) for join in learned.joins)),
        unk_token=unk_token,
        continuing_subword_prefix=prefix or None,
        end_of_word_suffix=suffix or None,
    )
