"""Select sentences of a corpus: drop some by length or characters, then sample at random or take the first.

A sentence is a line of plain text, or a text from JSON lines or an iterator. With counts, a line is a
sentence, a tab and the number of its occurrences.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice


@dataclass(frozen=True)
class Sentences:
    """Rules that select sentences of a corpus.

    >>> from piecework.train import count_texts
    >>> count_texts(["a b", "much longer"], sentences=Sentences(max_bytes=4)).words
    ['a', 'b']

    Skips sentences over `max_bytes` bytes of UTF-8, and those with a character of `reserved`. `size` is
    the maximum number of sentences; 0 means all. With `shuffle`, they are a random sample, reproducible by
    `seed`; otherwise the first ones. With `with_counts`, each line is a sentence, a tab and its count.
    """

    max_bytes: int | None = None
    reserved: str = ""
    size: int = 0
    shuffle: bool = True
    seed: int = 0
    with_counts: bool = False

    def keep(self, line: str) -> bool:
        """Return whether a line passes the length and character rules.

        >>> Sentences(max_bytes=3).keep("hugs")
        False
        """
        sentence = line.partition("\t")[0] if self.with_counts else line
        is_short = self.max_bytes is None or len(sentence.encode()) <= self.max_bytes
        return bool(sentence) and is_short and not any(c in sentence for c in self.reserved)

    def select(self, sentences: Iterable[str]) -> list[str]:
        """Return at most `size` sentences that pass `keep`: a random sample, or the first ones.

        >>> Sentences(size=2, shuffle=False).select(["a", "b", "c"])
        ['a', 'b']

        Call it only if `size` is not 0.
        """
        kept = filter(self.keep, sentences)
        if not self.shuffle:
            return list(islice(kept, self.size))
        # Vitter 1985, algorithm R: all samples of this size are equally likely.
        numbers = random.Random(self.seed)
        drawn = list(islice(kept, self.size))
        for seen, sentence in enumerate(kept, start=self.size + 1):
            index = numbers.randrange(seen)
            if index < self.size:
                drawn[index] = sentence
        return drawn
