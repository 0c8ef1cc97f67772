"""Learn WordPiece entries from the top down: frequent substrings, the longest first."""

from __future__ import annotations

from dataclasses import dataclass

from piecework.train.learners.learner import Learner
from piecework.train.word_sizes import Amount, WordSizes


@dataclass(frozen=True)
class TopDown(Learner):
    """Keep the frequent substrings, the longest first, as the vocabulary generator of TensorFlow Text does.

    >>> from piecework.train import WordPieceTrainer, count_texts
    >>> trainer = WordPieceTrainer(13, TopDown(), special_tokens=("[UNK]",))
    >>> list(trainer.learn(count_texts(["hug hugs bug bugs"])).vocab)[-2:]
    ['bug', 'hug']

    It meets `vocab_size` exactly and merges no pairs; equally frequent substrings are ranked by code points.

    Source: Song et al. 2021, "Fast WordPiece Tokenization".
    """

    name = "top-down"
    summary = "keep the longest frequent substrings"

    def memory(self, words: WordSizes, vocab_size: int) -> Amount:
        """Return the memory of the text, and of the words."""
        return 12 * words.chars + 8.25 * words.words
