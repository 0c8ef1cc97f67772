"""The result of comparing ids with another library: how many texts, and each kind of difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from piecework._internal.counted import counted
from piecework.analysis.block_text import as_text
from piecework.analysis.blocks import Block, Grid, Paragraph
from piecework.analysis.plain_data import plain
from piecework.analysis.readable_tokens import show_whitespace

_SHOWN_TOKENS = 20


@dataclass(frozen=True)
class EncodedText:
    """What one library makes of a text: ids with their tokens, or the error that it raises.

    >>> EncodedText("tokenizers", ids=(1, 2), tokens=("hug", "##s")).error
    """

    name: str
    ids: tuple[int, ...] = ()
    tokens: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class IdDifference:
    """A kind of difference, the number of texts that have it, and the smallest text found that has it.

    >>> IdDifference("unknown tokens", 3, "x", ()).texts
    3

    `kind` is the first of these that applies:

    - "error": one library raises an error.
    - "special tokens": the ids are equal without those of special tokens.
    - "unassigned ids": the other library has ids that this vocabulary lacks.
    - "unknown tokens": the libraries have other numbers of unknown tokens.
    - "split": the tokens have the same text, split at other places.
    - "text": the tokens have another text.

    `sides` has piecework and the other library.
    """

    kind: str
    texts: int
    text: str
    sides: tuple[EncodedText, ...]


@dataclass(frozen=True)
class Verification:
    """The result of `verify`: texts and ids compared with another library, and what differs.

    >>> found = Verification("tokenizers", "0.23.3", texts=8, ids=95, differing_texts=0, differences=())
    >>> found.is_equal, str(found).strip()
    (True, 'tokenizers 0.23.3: 8 texts, 95 ids: all ids are equal')

    `ids` counts the ids of piecework. `differences` has one for each kind, the most frequent first.
    """

    name: str
    version: str
    texts: int
    ids: int
    differing_texts: int
    differences: tuple[IdDifference, ...]

    @property
    def is_equal(self) -> bool:
        """Whether the ids of all texts are equal."""
        return not self.differing_texts

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and `is_equal` as dicts, lists, strings and numbers, for JSON."""
        value = plain(self)
        assert isinstance(value, dict)
        return value | {"is_equal": self.is_equal}

    def blocks(self) -> Iterator[Block]:
        """Yield the verdict, and a table for each kind of difference."""
        yield Paragraph(self._verdict())
        for one in self.differences:
            title = f"{one.kind}: {counted(one.texts, 'text')}, such as {show_whitespace(one.text)}"
            rows = tuple((side.name, _tokens(side), _ids(side)) for side in one.sides)
            yield Grid(("", "tokens", "ids"), rows, title=title)

    def _verdict(self) -> str:
        compared = f"{counted(self.texts, 'text')}, {counted(self.ids, 'id')}"
        equal = "all ids are equal"
        if not self.is_equal:
            equal = f"the ids of {counted(self.differing_texts, 'text')} differ"
        return f"{self.name} {self.version}: {compared}: {equal}"

    def __str__(self) -> str:
        """Return the verdict and the tables as text."""
        return as_text(self.blocks())


def _tokens(side: EncodedText) -> str:
    if side.error is not None:
        return f"error: {side.error}"
    return _beginning(tuple(map(show_whitespace, side.tokens)))


def _ids(side: EncodedText) -> str:
    return "" if side.error is not None else _beginning(tuple(map(str, side.ids)))


def _beginning(words: tuple[str, ...]) -> str:
    return " ".join(words[:_SHOWN_TOKENS]) + (" ..." if len(words) > _SHOWN_TOKENS else "")
