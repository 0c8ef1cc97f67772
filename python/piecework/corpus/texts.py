"""Lists of texts: Python strings, or a column of UTF-8, which is faster to read and to encode."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, compress
from operator import not_
from typing import TYPE_CHECKING, Any, TypeAlias

from piecework._internal._core import TextColumn

if TYPE_CHECKING:
    import numpy as np

Texts: TypeAlias = list[str] | TextColumn


def sliced(texts: Texts, start: int, end: int) -> Texts:
    """Return consecutive texts.

    >>> sliced(["a", "b", "c"], 1, 3)
    ['b', 'c']
    """
    return texts.slice(start, end) if isinstance(texts, TextColumn) else texts[start:end]


def joined(parts: Sequence[Texts]) -> Texts:
    """Return the texts of all parts: a column if all parts are columns.

    >>> joined([["a"], ["b", "c"]])
    ['a', 'b', 'c']
    """
    if len(parts) == 1:
        return parts[0]
    columns = [part for part in parts if isinstance(part, TextColumn)]
    if columns and len(columns) == len(parts):
        return TextColumn.joined(columns)
    return list(chain.from_iterable(parts))


def sizes(texts: Texts) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the size of each text, in bytes for a column and in characters for strings.

    >>> sizes(["a", "bc"]).tolist()
    [1, 2]
    """
    import numpy as np

    if isinstance(texts, TextColumn):
        return texts.sizes()
    return np.fromiter(map(len, texts), np.int64, len(texts))


def longest(texts: Texts) -> int:
    """Return the size of the longest text, in the units of `sizes`; 0 without texts.

    >>> longest(["a", "bc"])
    2
    """
    return int(sizes(texts).max(initial=0))


def without_blank(texts: Texts) -> Texts:
    """Return the texts that are neither empty nor whitespace only.

    >>> without_blank(["a", "", " ", "b"])
    ['a', 'b']
    """
    if isinstance(texts, TextColumn):
        return texts.without_blank()
    # Loops in C: a loop in Python takes longer than encoding.
    not_space = map(not_, map(str.isspace, texts))
    return list(filter(None, compress(texts, not_space)))
