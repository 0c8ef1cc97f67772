"""Learn a character model: word counts in, `Char` out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from piecework.spec import Char, Decoder, Fuse
from piecework.train.counts import Counts
from piecework.train.pipeline import Pipeline
from piecework.train.setting_fields import documented
from piecework.train.trainers.ranking import RankingTrainer


@documented
@dataclass(frozen=True)
class CharTrainer(RankingTrainer):
    """Make an entry of each character of the corpus, the most frequent first.

    >>> from piecework.train import count_texts
    >>> list(CharTrainer().learn(count_texts(["hug huh"])).vocab)
    ['[UNK]', 'h', 'u', 'g']
    """

    kind = "char"
    model_class = Char
    title = "char"
    unit = "characters"

    @property
    def presets(self) -> tuple[str, ...]:
        """The names of the presets with which the model decodes to the same text."""
        return ("characters", "sentencepiece", "metaspace")

    def units(self, counts: Counts) -> Iterable[tuple[str, int]]:
        """Return the characters with the number of occurrences of each."""
        totals: Counter[str] = Counter()
        for word, count in counts:
            for character in word:
                totals[character] += count
        return totals.items()

    def model_of(self, vocab: dict[str, int]) -> Char:
        """Return the model with a vocabulary."""
        return Char(vocab=vocab, unk_token=self.unk_token)

    def decoder_for(self, pipeline: Pipeline) -> Decoder:
        """Return the decoder for the words of a pipeline."""
        return super().decoder_for(pipeline) or Fuse()
