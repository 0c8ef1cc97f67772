"""Learn a BPE model: word counts in, `BPE` out, over characters or over bytes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar, Final

from piecework._core import learn_bpe
from piecework._internal import validation as checks
from piecework._internal.validation import PathLike
from piecework.errors import TrainingWarning
from piecework.spec import BPE
from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER
from piecework.train.counting import Progress
from piecework.train.counts import Counts
from piecework.train.trainer import Trainer
from piecework.train.trainers.common import (
    ALPHABET_ORDERS,
    LearnedVocabulary,
    check_counts,
    check_special_tokens,
    resumable,
    set_field,
    vocabulary_of,
)

BYTE_ALPHABET: Final[tuple[str, ...]] = tuple(sorted(BYTE_OF_CHARACTER))
"""The 256 characters of the byte-level alphabet in code point order (GPT-2, Radford et al. 2019)."""

_BYTES_BY_VALUE = tuple(sorted(BYTE_OF_CHARACTER, key=BYTE_OF_CHARACTER.__getitem__))
_TIES = ("lowest-ids", "greatest-strings", "first-seen")


@dataclass(frozen=True)
class BPETrainer(Trainer):
    """Learn merges of characters: replace the most frequent pair by one token, and repeat.

    >>> from piecework.train import Counts
    >>> counts = Counts(["hug", "pug", "pun", "bun", "hugs"], [10, 5, 12, 4, 5])
    >>> model = BPETrainer(vocab_size=11, special_tokens=("<unk>",)).learn(counts)
    >>> model.merges
    (('u', 'g'), ('u', 'n'), ('h', 'ug'))

    - `vocab_size` counts special tokens and alphabet: an alphabet of 478 and 40,000 merges make 40,478
      entries.
    - `min_frequency`: pairs with fewer occurrences are not merged.
    - `limit_alphabet`: maximum number of characters in the alphabet; those of `initial_alphabet` come
      first, then the most frequent ones.
    - `max_token_length`: maximum length of an entry in characters, without prefix and suffix.
    - `continuing_subword_prefix` precedes each character except the first of a word;
      `end_of_word_suffix` follows the last.
    - `special_tokens` are the first entries, in this order. An `unk_token` that is not one of them follows
      them; None drops unknown characters.
    - `ties` selects among equally frequent pairs: "lowest-ids", the pair with the lower ids, as
      `tokenizers` does, "greatest-strings", the pair with the greater strings, as subword-nmt does, or
      "first-seen", the pair that occurs first in the corpus, as tiktoken's teaching module does.
    - `alphabet_order`: the order of the alphabet in the vocabulary. "sorted" is by code points, "first-seen"
      by first occurrence in the corpus, "given" that of `initial_alphabet`, then by code points.
    - "first-seen" needs counts with first positions.

    Source: Sennrich et al. 2016, section 3.2.
    """

    kind = "bpe"

    TIES: ClassVar[tuple[str, ...]] = _TIES
    ALPHABET_ORDERS: ClassVar[tuple[str, ...]] = ALPHABET_ORDERS

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
    alphabet_order: str = "sorted"

    def __post_init__(self) -> None:
        _check_settings(self)
        alphabet = checks.distinct_characters("initial_alphabet", self.initial_alphabet)
        set_field(self, "initial_alphabet", alphabet)
        limit = checks.optional_number("limit_alphabet", self.limit_alphabet, 1)
        set_field(self, "limit_alphabet", limit)
        checks.check_text("continuing_subword_prefix", self.continuing_subword_prefix)
        checks.check_text("end_of_word_suffix", self.end_of_word_suffix)
        checks.check_choice("alphabet_order", self.alphabet_order, self.ALPHABET_ORDERS)

    def learn(
        self,
        counts: Counts,
        progress: Progress | None = None,
        num_threads: int | None = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> BPE:
        """Return the model; warns with `TrainingWarning` if it has fewer entries than `vocab_size`.

        Raises `TrainingError` if special tokens and alphabet exceed `vocab_size`, and `CorpusError` if
        there are no words, and `ArgumentError` for "first-seen" if counts lack first positions.
        """
        learned = self.learn_vocabulary(counts, progress, num_threads, checkpoint=checkpoint)
        return self.model_of(learned)

    def model_of(self, learned: LearnedVocabulary) -> BPE:
        """Return the model of a learned vocabulary, with the warning of `learn`."""
        return _model(
            learned,
            unk_token=self.unk_token,
            prefix=self.continuing_subword_prefix,
            suffix=self.end_of_word_suffix,
        )

    def learn_vocabulary(
        self,
        counts: Counts,
        progress: Progress | None = None,
        num_threads: int | None = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> LearnedVocabulary:
        """Return the vocabulary and every merge with its count; learns on one thread."""
        check_counts(counts)
        with resumable(self, counts, progress, checkpoint) as run:
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
                alphabet_order=self.alphabet_order,
                ties=self.ties,
                **run,
            )
        return LearnedVocabulary._of(learned)


@dataclass(frozen=True)
class ByteBPETrainer(Trainer):
    """Learn merges of bytes; the alphabet is all 256 bytes, so no text is unknown.

    >>> from piecework.train import count_texts
    >>> trainer = ByteBPETrainer(vocab_size=257 + 2, min_frequency=1)
    >>> trainer.learn(count_texts(["hug pug hug"], preset="gpt2")).merges
    (('u', 'g'), ('h', 'ug'))

    The settings are those of `BPETrainer`. The `vocab_size` of GPT-2 is 256 bytes, 50,000 merges and one
    special token: 50,257. Counts must come from a byte-level pipeline. `alphabet_order` is "sorted", the 256
    characters that stand for the bytes by code points, as in GPT-2, or "byte-values", the bytes by value.
    With `ties="first-seen"` and "byte-values", ids are those of tiktoken's teaching module.
    """

    kind = "byte-bpe"

    TIES: ClassVar[tuple[str, ...]] = _TIES
    ALPHABET_ORDERS: ClassVar[tuple[str, ...]] = ("sorted", "byte-values")

    vocab_size: int = 50_257
    min_frequency: int = 2
    special_tokens: tuple[str, ...] = ("<|endoftext|>",)
    max_token_length: int | None = None
    ties: str = "lowest-ids"
    alphabet_order: str = "sorted"

    def __post_init__(self) -> None:
        _check_settings(self)
        checks.check_choice("alphabet_order", self.alphabet_order, self.ALPHABET_ORDERS)

    @property
    def unk_token(self) -> None:
        """None, because every byte is an entry."""
        return None

    def learn(
        self,
        counts: Counts,
        progress: Progress | None = None,
        num_threads: int | None = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> BPE:
        """Return the model, as `BPETrainer.learn` does."""
        learned = self.learn_vocabulary(counts, progress, num_threads, checkpoint=checkpoint)
        return self.model_of(learned)

    def model_of(self, learned: LearnedVocabulary) -> BPE:
        """Return the model of a learned vocabulary, as `BPETrainer.model_of` does."""
        return _model(learned)

    def learn_vocabulary(
        self,
        counts: Counts,
        progress: Progress | None = None,
        num_threads: int | None = None,
        *,
        checkpoint: PathLike | None = None,
    ) -> LearnedVocabulary:
        """Return the vocabulary and every merge, as `BPETrainer.learn_vocabulary` does."""
        trainer = self.by_characters()
        return trainer.learn_vocabulary(counts, progress, num_threads, checkpoint=checkpoint)

    def by_characters(self) -> BPETrainer:
        """Return the trainer over the byte-level alphabet that learns the same merges."""
        by_value = self.alphabet_order == "byte-values"
        return BPETrainer(
            vocab_size=self.vocab_size,
            min_frequency=self.min_frequency,
            initial_alphabet=_BYTES_BY_VALUE if by_value else BYTE_ALPHABET,
            alphabet_order="given" if by_value else "sorted",
            special_tokens=self.special_tokens,
            max_token_length=self.max_token_length,
            ties=self.ties,
            unk_token=None,
        )


def _check_settings(trainer: BPETrainer | ByteBPETrainer) -> None:
    set_field(trainer, "vocab_size", checks.whole_number("vocab_size", trainer.vocab_size, 1))
    frequency = checks.whole_number("min_frequency", trainer.min_frequency, 0)
    set_field(trainer, "min_frequency", frequency)
    check_special_tokens(trainer, needs_unknown=False)
    longest = checks.optional_number("max_token_length", trainer.max_token_length, 1)
    set_field(trainer, "max_token_length", longest)
    checks.check_choice("ties", trainer.ties, _TIES)


def _model(
    learned: LearnedVocabulary, unk_token: str | None = None, prefix: str = "", suffix: str = ""
) -> BPE:
    if learned.stopped_early:
        message = f"stopped early: {learned.stopped_early}"
        warnings.warn(message, TrainingWarning, stacklevel=4)
    return BPE(
        vocab=vocabulary_of(learned.entries),
        # A learner can merge one pair twice; the first merge decides the rank.
        merges=tuple(dict.fromkeys((merge.left, merge.right) for merge in learned.merges)),
        unk_token=unk_token,
        continuing_subword_prefix=prefix or None,
        end_of_word_suffix=suffix or None,
    )
