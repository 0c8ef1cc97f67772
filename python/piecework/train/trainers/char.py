"""Learn a character model: word counts in, `Char` out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from piecework.spec import Char
from piecework.train.counting import Progress
from piecework.train.counts import Counts
from piecework.train.trainers.common import check_counts, check_ranking_settings, ranked_vocabulary


@dataclass(frozen=True)
class CharTrainer:
    """Make an entry of each character of the corpus, the most frequent first.

    >>> from piecework.train import count_texts
    >>> list(CharTrainer().learn(count_texts(["hug huh"])).vocab)
    ['[UNK]', 'h', 'u', 'g']

    `vocab_size` counts the special tokens; None means every character with at least `min_frequency`
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
    ) -> Char:
        """Return the model; of equally frequent characters the lower code point comes first."""
        check_counts(counts)
        totals = _character_totals(counts)
        ranked = sorted(totals, key=lambda character: (-totals[character], character))
        frequent = (char for char in ranked if totals[char] >= self.min_frequency)
        return Char(vocab=ranked_vocabulary(self, frequent), unk_token=self.unk_token)


def _character_totals(counts: Counts) -> dict[str, int]:
    totals: Counter[str] = Counter()
    for word, count in counts:
        for character in word:
            totals[character] += count
    return totals
