"""Learn a character model: word counts in, `Char` out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from piecework._internal.types import Progress
from piecework.spec import Char
from piecework.train.counts import Counts
from piecework.train.trainers.common import check_counts
from piecework.train.trainers.ranking import RankingTrainer


@dataclass(frozen=True)
class CharTrainer(RankingTrainer):
    """Make an entry of each character of the corpus, the most frequent first.

    >>> from piecework.train import count_texts
    >>> list(CharTrainer().learn(count_texts(["hug huh"])).vocab)
    ['[UNK]', 'h', 'u', 'g']

    `vocab_size` counts the special tokens; None means every character with at least `min_frequency`
    occurrences.
    """

    kind = "char"

    def learn(
        self, counts: Counts, progress: Progress = None, num_threads: int | None = None
    ) -> Char:
        """Return the model; of equally frequent characters the lower code point comes first."""
        check_counts(counts)
        vocab = self._vocabulary(_character_totals(counts).items())
        return Char(vocab=vocab, unk_token=self.unk_token)


def _character_totals(counts: Counts) -> Counter[str]:
    totals: Counter[str] = Counter()
    for word, count in counts:
        for character in word:
            totals[character] += count
    return totals
