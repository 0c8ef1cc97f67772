"""What the steps of the pipeline exchange: texts with their place, and batches of encoded lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from piecework._internal._core import RawBatch
from piecework.corpus.rows import Texts
from piecework.errors import CorpusError
from piecework.tokenizer import Tokenizer
from piecework.tokenizer.batch import Batch


@dataclass(frozen=True)
class RowLayout:
    """What the rows of a file have.

    `ids_name` is the column of ids. `kept` names columns of strings. With `packed_length`, each row has this
    number of ids, from one or more documents, and the lengths of these. With `has_mask`, the highest bit of
    an id says whether the assistant wrote it (`chats`).
    """

    ids_name: str = "ids"
    kept: tuple[str, ...] = ()
    packed_length: int | None = None
    has_mask: bool = False


PLAIN = RowLayout()
"""Rows of ids only."""


class TextsOfUnit(NamedTuple):
    """Texts for consecutive outputs of a unit, from `first_output` on: a list for each.

    A unit is what is written together: a shard, or all outputs of `encode_files`. `dropped` counts the empty
    lines that were left out, of parallel inputs once, and `replacements` invalid UTF-8 sequences.
    """

    unit: int
    columns: list[Texts]
    dropped: int = 0
    replacements: int = 0
    first_output: int = 0


class DocumentLengths(NamedTuple):
    """The lengths of the documents in packed rows; row i has `lengths[row_offsets[i]:row_offsets[i + 1]]`.

    Ids after the documents of a row are padding.
    """

    lengths: np.ndarray[Any, Any]
    row_offsets: np.ndarray[Any, Any]


class EncodedLines(NamedTuple):
    """A batch of encoded lines.

    `labels` has one label for each row, or none for most formats; `kept` has the columns of the layout, and
    `documents` the lengths in packed rows. `parsed_special` counts the special tokens parsed in the lines,
    and `faults` has an error for each line that was left out.
    """

    batch: Batch
    labels: Sequence[dict[str, Any]] = ()
    kept: Mapping[str, Sequence[str | None]] = MappingProxyType({})
    documents: DocumentLengths | None = None
    parsed_special: int = 0
    faults: Sequence[CorpusError] = ()


@dataclass
class Tally:
    """Counts of one unit; `tokens` has a number for each output, and `rows` counts the written ones."""

    documents: int = 0
    rows: int = 0
    tokens: list[int] = field(default_factory=list)
    empty_lines_dropped: int = 0
    replacements: int = 0
    parsed_special: int = 0


Write: TypeAlias = Callable[[EncodedLines], None]
"""Appends the rows of a batch to open files."""


def with_rows(batch: Batch, ids: np.ndarray[Any, Any], row_offsets: np.ndarray[Any, Any]) -> Batch:
    """Return a batch of other rows with the vocabulary of `batch`."""
    raw = RawBatch.of_arrays(
        np.require(ids, np.uint32, ["C", "ALIGNED"]),
        np.require(row_offsets, np.int64, ["C", "ALIGNED"]),
    )
    return Batch(raw, batch._token_of, batch._filling)


def id_limit_of(tokenizer: Tokenizer) -> int:
    """Return the smallest number above all ids of the vocabulary."""
    return tokenizer._core.id_bound
