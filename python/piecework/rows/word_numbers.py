"""Word ids by the metaspace: a token that begins with ▁ begins a word, as does every pre-token."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from piecework._core import Encoding, RawBatch

METASPACE = "▁"


def numbered_encoding(encoding: Encoding, whole: Encoding | None) -> Encoding:
    """Return an encoding whose word ids count the words that ▁ begins.

    `whole` is the encoding without truncation, if `encoding` may be truncated.
    """
    # Computed once, because each of many overflow windows needs the words of the whole text.
    starts = (
        None
        if whole is None
        else _starts(whole.tokens, whole.word_ids, whole.sequence_ids, whole.offsets)
    )
    return _numbered_by_starts(encoding, starts)


def _numbered_by_starts(encoding: Encoding, starts: tuple[list[int], list[int]] | None) -> Encoding:
    kind, (texts, columns) = cast("Any", encoding.__reduce__())
    if starts is None:
        numbers = _numbers(encoding.tokens, encoding.word_ids, encoding.sequence_ids)
    else:
        numbers = [
            None if word is None or sequence is None else _at(starts[sequence], span[0])
            for word, sequence, span in zip(
                encoding.word_ids, encoding.sequence_ids, encoding.offsets, strict=True
            )
        ]
    windows = [_numbered_by_starts(window, starts) for window in encoding.overflowing]
    columns = {**columns, "word_ids": numbers, "overflowing": windows}
    return cast("Encoding", kind(texts, columns))


def numbered_batch(
    raw: RawBatch, token_of: Callable[[int], str | None], whole: RawBatch | None
) -> RawBatch:
    """Return a batch whose word ids count the words that ▁ begins; `whole` is as in `numbered_encoding`."""
    assert raw.word_ids is not None
    numbers = _batch_numbers(raw, token_of)
    if whole is not None:
        numbers = _numbers_in_windows(raw, whole, _batch_numbers(whole, token_of))
    return RawBatch.of_arrays(
        raw.ids,
        raw.row_offsets,
        raw.type_ids,
        raw.attention_mask,
        raw.offsets,
        numbers,
        raw.sequence_ids,
        raw.samples,
    )


def _numbers(
    tokens: Sequence[str], words: Sequence[int | None], sequences: Sequence[int | None]
) -> list[int | None]:
    numbers: list[int | None] = []
    number = -1
    before: tuple[int | None, int | None] = (None, None)
    for token, word, sequence in zip(tokens, words, sequences, strict=True):
        if word is None:
            numbers.append(None)
            continue
        if sequence != before[0]:
            number = -1
        if (sequence, word) != before or token.startswith(METASPACE):
            number += 1
        before = (sequence, word)
        numbers.append(number)
    return numbers


def _starts(
    tokens: Sequence[str],
    words: Sequence[int | None],
    sequences: Sequence[int | None],
    offsets: Sequence[tuple[int, int]],
) -> tuple[list[int], list[int]]:
    """Return the first character of each word of both sequences."""
    starts: tuple[list[int], list[int]] = ([], [])
    numbers = _numbers(tokens, words, sequences)
    for number, sequence, span in zip(numbers, sequences, offsets, strict=True):
        if number is not None and sequence is not None and number == len(starts[sequence]):
            starts[sequence].append(span[0])
    return starts


def _at(starts: Sequence[int], position: int) -> int:
    return max(bisect_right(starts, position) - 1, 0)


def _batch_numbers(raw: RawBatch, token_of: Callable[[int], str | None]) -> npt.NDArray[np.int32]:
    assert raw.word_ids is not None
    numbers = np.full(len(raw.ids), -1, np.int32)
    shown = np.flatnonzero(raw.word_ids >= 0)
    if not len(shown):
        return numbers
    ids, words = raw.ids[shown], raw.word_ids[shown]
    rows = np.repeat(np.arange(len(raw)), np.diff(raw.row_offsets))[shown]
    is_first = np.ones(len(shown), bool)
    is_first[1:] = rows[1:] != rows[:-1]
    if raw.sequence_ids is not None:
        sequences = raw.sequence_ids[shown]
        is_first[1:] |= sequences[1:] != sequences[:-1]
    begins = is_first | _begin_words(ids, token_of)
    begins[1:] |= words[1:] != words[:-1]
    counts = np.cumsum(begins)
    numbers[shown] = counts - np.maximum.accumulate(np.where(is_first, counts, 0))
    return numbers


def _begin_words(
    ids: npt.NDArray[np.uint32], token_of: Callable[[int], str | None]
) -> npt.NDArray[np.bool_]:
    distinct, places = np.unique(ids, return_inverse=True)
    begins = [(token_of(id) or "").startswith(METASPACE) for id in distinct.tolist()]
    return np.array(begins, bool)[places]


def _numbers_in_windows(
    raw: RawBatch, whole: RawBatch, numbers: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32]:
    """Return the number of the word of each token of windows, from where the words of each text start."""
    assert raw.offsets is not None
    assert raw.word_ids is not None
    assert whole.offsets is not None
    begins, firsts = raw.offsets.reshape(-1, 2)[:, 0], whole.offsets.reshape(-1, 2)[:, 0]
    found = np.full(len(raw.ids), -1, np.int32)
    bounds, whole_bounds = raw.row_offsets.tolist(), whole.row_offsets.tolist()
    # By text and sequence, because a text can have many windows.
    starts_of: dict[tuple[int, int], npt.NDArray[Any]] = {}
    for row in range(len(raw)):
        text = row if raw.samples is None else int(raw.samples[row])
        at, of = (
            slice(bounds[row], bounds[row + 1]),
            slice(whole_bounds[text], whole_bounds[text + 1]),
        )
        for sequence in (0, 1):
            mine = _is_of(raw, at, sequence)
            if not mine.any():
                continue
            if (text, sequence) not in starts_of:
                theirs = _is_of(whole, of, sequence)
                _, first = np.unique(numbers[of][theirs], return_index=True)
                starts_of[text, sequence] = firsts[of][theirs][first]
            starts = starts_of[text, sequence]
            if not len(starts):
                continue
            places = np.searchsorted(starts, begins[at][mine], side="right") - 1
            found[at][mine] = np.maximum(places, 0)
    return found


def _is_of(raw: RawBatch, tokens: slice, sequence: int) -> npt.NDArray[np.bool_]:
    assert raw.word_ids is not None
    is_text: npt.NDArray[np.bool_] = raw.word_ids[tokens] >= 0
    if raw.sequence_ids is None:
        return is_text if sequence == 0 else np.zeros(len(is_text), bool)
    is_text &= raw.sequence_ids[tokens] == sequence
    return is_text
