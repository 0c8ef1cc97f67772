"""Learn a word model: word counts in, `WordLevel` out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from piecework.spec import WordLevel
from piecework.train.counts import Counts
from piecework.train.presets import PRESETS
from piecework.train.setting_fields import documented
from piecework.train.trainers.ranking import RankingTrainer


@documented
@dataclass(frozen=True)
class WordTrainer(RankingTrainer):
    """Make an entry of each word, the most frequent first.

    >>> from piecework.train import count_texts
    >>> list(WordTrainer(vocab_size=2).learn(count_texts(["pug hug hug"])).vocab)
    ['[UNK]', 'hug']
    """

    kind = "word"
    model_class = WordLevel
    title = "word"
    unit = "words"

    @property
    def presets(self) -> tuple[str, ...]:
        """The names of the presets with which the model decodes to the same text."""
        return tuple(PRESETS)

    @property
    def default_preset(self) -> str:
        """The name of the preset to train with if the caller names none."""
        return "punctuation"

    @property
    def knows_all_bytes(self) -> bool:
        """True: whole words are known or unknown in any alphabet."""
        return True

    def units(self, counts: Counts) -> Iterable[tuple[str, int]]:
        """Return the words with the number of occurrences of each."""
        return counts

    def model_of(self, vocab: dict[str, int]) -> WordLevel:
        """Return the model with a vocabulary."""
        return WordLevel(vocab=vocab, unk_token=self.unk_token)
