"""Count the words of a corpus of any size in bounded memory: if there are too many, rare ones are dropped."""

from __future__ import annotations

from operator import itemgetter

from piecework.train import Counts

MOST_WORDS = 100_000
"""The number of distinct words that are kept when there are twice as many."""
LONGEST_WORD = 32
"""Words of more characters are left out."""


class FrequentWords:
    """The most frequent words of a corpus with their counts.

    >>> words = FrequentWords()
    >>> words.add(Counts(["hug", "pug"], [10, 5]))
    >>> words.add(Counts(["pug"], [6]))
    >>> words.most_common()
    [('pug', 11), ('hug', 10)]

    Up to twice `MOST_WORDS` distinct words, counts are exact. Above that, the rarest words are dropped from
    time to time; a dropped word that occurs again starts at zero.
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def add(self, counts: Counts) -> None:
        """Add the counts of some texts."""
        total = self._counts
        for word, count in zip(counts.words, counts.counts.tolist(), strict=True):
            if len(word) <= LONGEST_WORD:
                total[word] = total.get(word, 0) + count
        if len(total) > 2 * MOST_WORDS:
            by_count = sorted(total.items(), key=itemgetter(1), reverse=True)
            self._counts = dict(by_count[:MOST_WORDS])

    def most_common(self) -> list[tuple[str, int]]:
        """Return the words by decreasing count, then by code points."""
        return sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
