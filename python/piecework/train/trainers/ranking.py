"""Learn word and character models: the most frequent units of word counts in, `WordLevel` or `Char` out."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from piecework._internal import validation as checks
from piecework._internal.setting_fields import check_settings, documented, setting
from piecework._internal.types import Progress, Unpack
from piecework.errors import ArgumentError, TrainingError
from piecework.spec import Char, Decoder, Fuse, Model, WordLevel
from piecework.train.counts import AnyCounts, Counts
from piecework.train.presets import PRESETS, Pipeline
from piecework.train.trainer import (
    Amount,
    LearnOptions,
    PresetTrainer,
    Traits,
    WordSizes,
    memory_of_ranking,
)
from piecework.train.trainers import common


@dataclass(frozen=True)
class RankingTrainer(PresetTrainer):
    """The settings of a trainer that ranks units by frequency."""

    _model_class: ClassVar[type[WordLevel | Char]]

    vocab_size: int | None = setting(
        None,
        replace(
            common.VOCAB_SIZE,
            help="Size of the vocabulary, special tokens included.",
            none="all units of the corpus",
        ),
    )
    min_frequency: int = setting(
        1, replace(common.MIN_FREQUENCY, help="Leave out units that occur less often.")
    )
    special_tokens: tuple[str, ...] = setting(("[UNK]",), common.SPECIAL_TOKENS)
    unk_token: str = setting("[UNK]", common.UNK_TOKEN)

    def __post_init__(self) -> None:
        check_settings(self)
        common.add_unknown_token(self)
        checks.optional_number("vocab_size", self.vocab_size, len(self.special_tokens) + 1)

    def learn(
        self, counts: AnyCounts, progress: Progress = None, **how: Unpack[LearnOptions]
    ) -> Model:
        """Return the model; of equally frequent units the one with lower code points comes first.

        Ranking takes seconds, so it warns if a `checkpoint` is given and starts again after an interruption.
        """
        counts = common.checked_counts(counts)
        if how.get("checkpoint") is not None:
            common.warn_without_checkpoints(self)
        return self._model_of(self._vocabulary(self._units(counts)))

    @abstractmethod
    def _units(self, counts: Counts) -> Iterable[tuple[str, int]]:
        """Return the units that become entries, with the number of occurrences of each."""

    def _model_of(self, vocab: dict[str, int]) -> Model:
        """Return the model with a vocabulary."""
        return self._model_class(vocab=vocab, unk_token=self.unk_token)

    def _traits(self) -> Traits:
        return replace(super()._traits(), learns_together=True)

    def _memory(self, words: WordSizes) -> Amount:
        """Return an upper bound of the bytes that learning takes, besides counts and entries."""
        return memory_of_ranking(words)

    def _smallest_model(self) -> Model:
        """Return a model with the special tokens and one entry."""
        return self._model_of(common.vocabulary_of(dict.fromkeys((*self.special_tokens, "a"))))

    def _vocabulary(self, counts: Iterable[tuple[str, int]]) -> dict[str, int]:
        """Return the special tokens, then the units by decreasing count and by code points."""
        frequent = (item for item in counts if item[1] >= self.min_frequency)
        ranked = (unit for unit, _ in sorted(frequent, key=lambda item: (-item[1], item[0])))
        entries = tuple(dict.fromkeys((*self.special_tokens, *ranked)))[: self.vocab_size]
        if len(entries) == len(self.special_tokens):
            problem = f"{self.min_frequency} is too high: nothing in the corpus occurs as often"
            raise TrainingError("min_frequency", problem)
        return common.vocabulary_of(entries)


@documented
@dataclass(frozen=True)
class WordLevelTrainer(RankingTrainer):
    """Make an entry of each word, the most frequent first.

    >>> from piecework.train import count_texts
    >>> list(WordLevelTrainer(vocab_size=2).learn(count_texts(["pug hug hug"])).vocab)
    ['[UNK]', 'hug']
    """

    kind = "word"
    _model_class = WordLevel
    _title = "word"
    _presets = tuple(dict.fromkeys(("punctuation", *PRESETS)))
    _knows_all_bytes = True  # whole words are known or unknown in any alphabet

    def _units(self, counts: Counts) -> Iterable[tuple[str, int]]:
        """Return the words with the number of occurrences of each."""
        if counts.has_boundaries:
            raise ArgumentError(
                "counts", "have boundaries, which an entry for each word would cross"
            )
        return counts


@documented
@dataclass(frozen=True)
class CharTrainer(RankingTrainer):
    """Make an entry of each character of the corpus, the most frequent first.

    >>> from piecework.train import count_texts
    >>> list(CharTrainer().learn(count_texts(["hug huh"])).vocab)
    ['[UNK]', 'h', 'u', 'g']
    """

    kind = "char"
    _model_class = Char
    _title = "char"
    _presets = ("characters", "sentencepiece", "metaspace")

    def _units(self, counts: Counts) -> Iterable[tuple[str, int]]:
        """Return the characters with the number of occurrences of each."""
        totals: Counter[str] = Counter()
        for word, count in counts:
            for character in word:
                totals[character] += count
        return totals.items()

    def _decoder_for(self, pipeline: Pipeline) -> Decoder:
        """Return the decoder for the words of a pipeline."""
        return super()._decoder_for(pipeline) or Fuse()
