"""Learn a word model: word counts in, `WordLevel` out."""

from __future__ import annotations

from dataclasses import dataclass

from piecework._internal.types import Progress
from piecework.spec import WordLevel
from piecework.train.counts import Counts
from piecework.train.trainers.common import check_counts
from piecework.train.trainers.ranking import RankingTrainer


@dataclass(frozen=True)
class WordTrainer(RankingTrainer):
    """Make an entry of each word, the most frequent first.

    >>> from piecework.train import count_texts
    >>> list(WordTrainer(vocab_size=2).learn(count_texts(["pug hug hug"])).vocab)
    ['[UNK]', 'hug']

    `vocab_size` counts the special tokens; None means every word with at least `min_frequency`
    occurrences.
    """

    kind = "word"

    def learn(
        self, counts: Counts, progress: Progress = None, num_threads: int | None = None
    ) -> WordLevel:
        """Return the model; of equally frequent words the one with lower code points comes first."""
        check_counts(counts)
        return WordLevel(vocab=self._vocabulary(counts), unk_token=self.unk_token)
