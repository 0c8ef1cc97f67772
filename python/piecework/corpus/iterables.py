"""Collect the texts of an iterable in lists of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from piecework._internal._core import TextColumn
from piecework._internal.surrogates import replace_surrogates
from piecework._internal.text_columns import text_column
from piecework.corpus.rows import LIST_CHARS, LIST_TEXTS, Rows
from piecework.errors import InputTypeError

if TYPE_CHECKING:
    from piecework._internal.array_types import Texts


def rows_of_texts(texts: Iterable[str | Sequence[str]] | Texts) -> Iterator[Rows]:
    """Yield the texts of an iterable in lists of bounded size, with their indices as numbers.

    Lone surrogates become U+FFFD. Items that are lists or columns are flattened. Raises `InputTypeError` with
    the index of an item that is not a string.
    """
    first = chars = replacements = 0
    batch: list[str] = []
    for place, text in _places_of_texts(texts):
        valid, surrogates = replace_surrogates(text, place)
        batch.append(valid)
        chars += len(valid)
        replacements += surrogates
        if chars >= LIST_CHARS or len(batch) >= LIST_TEXTS:
            yield Rows(batch, range(first, first + len(batch)), replacements)
            first += len(batch)
            batch, chars, replacements = [], 0, 0
    if batch:
        yield Rows(batch, range(first, first + len(batch)), replacements)


def text_total(texts: object) -> int:
    """Return the number of texts for a progress bar, 0 if it is unknown, as for lists of lists.

    >>> text_total(["a", "b"]), text_total([["a"], ["b", "c"]])
    (2, 0)
    """
    if not isinstance(texts, Sequence) or (len(texts) and not isinstance(texts[0], str)):
        return 0
    return len(texts)


def _places_of_texts(texts: Any) -> Iterator[tuple[str, str]]:
    """Yield each text with its place for errors, such as "texts[3]", or "texts[3][0]" in a list."""
    column = text_column(texts)
    items = _values(column) if column is not None else texts
    if isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Iterable):
        problem = f"must be an iterable of str, such as a list, not {type(texts).__name__}"
        hint = "word counts are piecework.Counts(texts)" if isinstance(items, Mapping) else ""
        raise InputTypeError("texts", problem, hint=hint)
    for index, item in enumerate(items):
        if isinstance(item, str):
            yield f"texts[{index}]", item
            continue
        for inner, text in enumerate(_texts_of_item(item, f"texts[{index}]")):
            if not isinstance(text, str):
                problem = f"must be str, not {type(text).__name__}"
                raise InputTypeError(f"texts[{index}][{inner}]", problem)
            yield f"texts[{index}][{inner}]", text


def _texts_of_item(item: object, place: str) -> Iterable[object]:
    if isinstance(item, list | tuple):
        return item
    column = text_column(item, place)
    if column is None:
        raise InputTypeError(place, f"must be str, or a list of str, not {type(item).__name__}")
    return _values(column)


def _values(column: TextColumn) -> Iterator[str]:
    return (column[row] for row in range(len(column)))
