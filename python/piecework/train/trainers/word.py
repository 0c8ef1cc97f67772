"""Learn a word model: word counts in, `WordLevel` out."""

from __future__ import annotations

from dataclasses import dataclass

from piecework.spec import WordLevel
from piecework.train.counting import Progress
from piecework.train.counts import Counts
from piecework.train.trainers.common import check_counts, check_ranking_settings, ranked_vocabulary


@dataclass(frozen=True)
class WordTrainer:
    """Make an entry of each word, the most frequent first.

    >>> from piecework.train import count_texts
    >>> list(WordTrainer(vocab_size=2).learn(count_texts(["pug hug hug"])).vocab)
    ['[UNK]', 'hug']

    `vocab_size` counts the special tokens; None means every word with at least `min_frequency`
    occurrences.
    """

    vocab_size: int | None = None
    min_frequency: int = 1
    special_tokens: tuple[str, ...] = ("[UNK]",)
    unk_token: str = "[UNK]"

    def __post_init__(self) -> None:
        check_ranking_settings(self)

    def learn(
        self, counts: Counts, progress: Progress | None = None, num_threads: int | None = None
    ) -> WordLevel:
        """Return the model; of equally frequent words the one with lower code points comes first."""
        check_counts(counts)
        frequent = (item for item in counts if item[1] >= self.min_frequency)
        ranked = (word for word, _ in sorted(frequent, key=lambda item: (-item[1], item[0])))
        return WordLevel(vocab=ranked_vocabulary(self, ranked), unk_token=self.unk_token)
