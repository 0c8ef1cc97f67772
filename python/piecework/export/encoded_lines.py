"""The data that all writers take: a batch of encoded lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from piecework.batch import Batch
from piecework.tokenizer import Tokenizer


class EncodedLines(NamedTuple):
    """A batch of encoded lines; `labels` has one label for each row, or none for most formats."""

    batch: Batch
    labels: Sequence[dict[str, Any]] = ()


Write: TypeAlias = Callable[[EncodedLines], None]
"""Appends the rows of a batch to open files."""


def id_limit_of(tokenizer: Tokenizer) -> int:
    """Return the smallest number above all ids of the vocabulary."""
    return tokenizer._core.id_bound
