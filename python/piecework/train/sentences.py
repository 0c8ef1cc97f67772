"""Which sentences of a corpus are learned from: not too long, not too many, drawn at random or the first.

A sentence is a line of plain text, or a whole text of JSON lines or of an iterator; behind it may stand a tab
and how often it counts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from piecework.corpus.files import TextBlock, TextList, Utf8Errors
from piecework.errors import InvalidUtf8Error

Item = TypeVar("Item")


@dataclass(frozen=True)
class Sentences:
    """What is taken of a corpus.

    >>> Sentences(max_bytes=4192).max_bytes
    4192

    Sentences of more than `max_bytes` bytes of UTF-8 are left out, and those with a character of
    `reserved`. `size` is how many are taken at most, 0 for all; `shuffle` draws them at random, the same
    ones for the same `seed`, and else they are the first. Under `with_counts` what is read is a sentence, a
    tab and how often it counts, which may be drawn as one.
    """

    max_bytes: int | None = None
    reserved: str = ""
    size: int = 0
    shuffle: bool = True
    seed: int = 0
    with_counts: bool = False

    def text_of(self, line: str) -> str:
        """Return the sentence of what was read.

        >>> Sentences(with_counts=True).text_of("hugs\\t5")
        'hugs'
        """
        return line.partition("\t")[0] if self.with_counts else line

    def keep(self, line: str) -> bool:
        """Tell whether a sentence can be among those that are taken.

        >>> Sentences(max_bytes=3).keep("hugs")
        False
        """
        sentence = self.text_of(line)
        is_short = self.max_bytes is None or len(sentence.encode()) <= self.max_bytes
        return bool(sentence) and is_short and not any(c in sentence for c in self.reserved)

    def drawn(self, sentences: Iterable[str]) -> list[str]:
        """Return the sentences that are taken, `size` at most.

        >>> Sentences(size=2, shuffle=False).drawn(["a", "b", "c"])
        ['a', 'b']
        """
        kept = filter(self.keep, sentences)
        if not self.shuffle:
            return [sentence for sentence, _ in zip(kept, range(self.size), strict=False)]
        reservoir: Reservoir[str] = Reservoir(self.size, self.seed)
        reservoir.add_all(kept)
        return reservoir.drawn


def sentences_of(corpus: Iterable[TextBlock | TextList], errors: Utf8Errors) -> Iterator[str]:
    """Give the lines of plain text and the texts of JSON lines one by one.

    Invalid UTF-8 becomes U+FFFD, or raises `InvalidUtf8Error` with its byte under "strict".
    """
    for piece in corpus:
        yield from piece.texts if isinstance(piece, TextList) else _lines(piece, errors)


def _lines(block: TextBlock, errors: Utf8Errors) -> list[str]:
    try:
        return block.data.decode("utf-8", errors).replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError as error:
        place = f"{block.name}: byte {block.byte_offset + error.start}"
        raise InvalidUtf8Error(place, "bytes that are not UTF-8", "UTF-8") from error


class Reservoir(Generic[Item]):
    """Draws a number of items from a stream, each set of them equally likely.

    >>> reservoir = Reservoir(2, seed=1)
    >>> reservoir.add_all(["a", "b", "c", "d"])
    >>> len(reservoir.drawn)
    2

    Source: Vitter 1985, algorithm R.
    """

    def __init__(self, size: int, seed: int) -> None:
        self.drawn: list[Item] = []
        self.seen = 0
        self._size = size
        self._random = random.Random(seed)

    def add(self, item: Item) -> None:
        """Consider the next item."""
        self.seen += 1
        if len(self.drawn) < self._size:
            self.drawn.append(item)
            return
        at = self._random.randrange(self.seen)
        if at < self._size:
            self.drawn[at] = item

    def add_all(self, items: Iterable[Item]) -> None:
        """Consider the next items."""
        for item in items:
            self.add(item)

    def watching(self, items: Iterable[Item], wanted: Callable[[Item], bool]) -> Iterator[Item]:
        """Give the items on, considering those that are wanted."""
        for item in items:
            if wanted(item):
                self.add(item)
            yield item
