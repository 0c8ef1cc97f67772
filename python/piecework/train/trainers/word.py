"""Word counts in, a word model out."""

from __future__ import annotations

from dataclasses import dataclass

from piecework.spec import WordLevel
from piecework.train.counting import Progress
from piecework.train.counts import Counts
from piecework.train.trainers.common import check_simple, filled, refuse_empty


@dataclass(frozen=True)
class WordTrainer:
    """Take the most frequent words as they are: one entry a word.

    >>> from piecework.train import count_texts
    >>> list(WordTrainer(vocab_size=2).learn(count_texts(["pug hug hug"])).vocab)
    ['[UNK]', 'hug']

    `vocab_size` counts the special tokens; None takes every word of at least `min_frequency`.
    """

    vocab_size: int | None = None
    min_frequency: int = 1
    special_tokens: tuple[str, ...] = ("[UNK]",)
    unk_token: str = "[UNK]"

    def __post_init__(self) -> None:
        check_simple(self)

    def learn(
        self, counts: Counts, progress: Progress | None = None, num_threads: int | None = None
    ) -> WordLevel:
        """Return the model; the word with the lower code points wins among equals."""
        refuse_empty(counts)
        kept = (item for item in counts if item[1] >= self.min_frequency)
        ranked = (word for word, _ in sorted(kept, key=lambda item: (-item[1], item[0])))
        return WordLevel(vocab=filled(self, ranked), unk_token=self.unk_token)
