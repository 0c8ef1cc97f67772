"""Offsets of a batch in bytes or UTF-16 code units instead of characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from piecework._internal._core import RawBatch, TextColumn
from piecework.tokenizer.batch import RAW_COLUMNS

Rows: TypeAlias = Sequence[str] | Sequence[Sequence[str]] | TextColumn


def in_unit(
    raw: RawBatch, texts: Rows, pairs: Rows | None, unit: str, is_pretokenized: bool
) -> RawBatch:
    """Return a batch whose offsets count `unit`, "bytes" or "utf16", of its texts.

    Linear in the characters of texts that are not ASCII.
    """
    assert raw.offsets is not None
    offsets = raw.offsets.reshape(-1, 2).copy()
    bounds = raw.row_offsets.tolist()
    for row in range(len(raw)):
        tokens = slice(bounds[row], bounds[row + 1])
        text_row = row if raw.samples is None else int(raw.samples[row])
        for sequence, rows in enumerate((texts, pairs)):
            if rows is not None:
                _convert(offsets[tokens], _of_sequence(raw, tokens, sequence), rows[text_row], unit)
    columns = {name: getattr(raw, name) for name in RAW_COLUMNS}
    return RawBatch.of_arrays(**columns | {"offsets": offsets.reshape(-1)})


def _of_sequence(raw: RawBatch, tokens: slice, sequence: int) -> npt.NDArray[np.int64]:
    """Return the word of each token of a sequence of one row, and -1 for other tokens."""
    assert raw.word_ids is not None
    words = raw.word_ids[tokens].astype(np.int64)
    if raw.sequence_ids is not None:
        words[raw.sequence_ids[tokens] != sequence] = -1
    return words


def _convert(
    offsets: npt.NDArray[np.uint32],
    words: npt.NDArray[np.int64],
    text: str | Sequence[str],
    unit: str,
) -> None:
    """Convert the offsets of the tokens that have a word, in place."""
    if isinstance(text, str):
        if not text.isascii():
            chosen = words >= 0
            offsets[chosen] = _units_before(text, unit)[offsets[chosen]]
        return
    for number, word in enumerate(text):
        if not word.isascii():
            chosen = words == number
            offsets[chosen] = _units_before(word, unit)[offsets[chosen]]


def _units_before(text: str, unit: str) -> npt.NDArray[np.uint32]:
    """Return the number of units before each character, and before the end."""
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    sizes = 1 + (points > 0xFFFF).astype(np.uint32)
    if unit == "bytes":
        sizes += (points > 0x7F).astype(np.uint32) + (points > 0x7FF)
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.uint32)
