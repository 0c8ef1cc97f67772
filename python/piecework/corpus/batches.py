"""Collect texts from an iterator in batches of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from piecework._internal.surrogates import replace_surrogates
from piecework._internal.text_columns import text_column
from piecework._internal.types import Texts
from piecework.errors import InputTypeError

_BATCH_CHARS = 2 << 20
BATCH_TEXTS = 50_000


@dataclass(frozen=True)
class TextBatch:
    """Texts, and the number of surrogates in them that became U+FFFD."""

    texts: list[str]
    replacements: int = 0


def batches_of_texts(texts: Iterable[str] | Texts) -> Iterator[TextBatch]:
    """Yield batches of texts; lone surrogates become U+FFFD.

    Raises `InputTypeError` with the index of an item that is not a string.
    """
    column = text_column(texts)
    if column is not None:
        texts = (column[row] for row in range(len(column)))
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        raise InputTypeError("texts", type(texts).__name__, "an iterable of str, such as a list")
    batch: list[str] = []
    chars = replacements = 0
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputTypeError(f"texts[{index}]", type(text).__name__, "str")
        valid, surrogates = replace_surrogates(text, f"texts[{index}]")
        batch.append(valid)
        chars += len(valid)
        replacements += surrogates
        if chars >= _BATCH_CHARS or len(batch) >= BATCH_TEXTS:
            yield TextBatch(batch, replacements)
            batch, chars, replacements = [], 0, 0
    if batch:
        yield TextBatch(batch, replacements)
