"""Cut long documents where ids do not depend on the other side, so that all threads encode them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from piecework.batch import Batch
from piecework.corpus.texts import Texts, longest
from piecework.export.encoded_lines import with_rows
from piecework.spec.text_cuts import CUT, can_be_cut
from piecework.tokenizer import Tokenizer

LONG_CHARS = 1 << 20
PIECE_CHARS = 256 << 10

EncodeTexts = Callable[[Texts, bool], Batch]
"""Encodes texts with (True) or without special tokens."""


def encoder_of_long(
    tokenizer: Tokenizer,
    encode: EncodeTexts,
    *,
    add_special_tokens: bool,
    long_chars: int = LONG_CHARS,
    piece_chars: int = PIECE_CHARS,
) -> Callable[[Texts], Batch]:
    """Return a function that encodes texts as `encode` does, with the long ones cut if that is safe."""
    frame = _frame(tokenizer, add_special_tokens) if _can_cut(tokenizer) else None

    def encode_texts(texts: Texts) -> Batch:
        if frame is None or longest(texts) < long_chars:
            return encode(texts, add_special_tokens)
        pieces = [list(_pieces(text, piece_chars)) for text in texts]
        batch = encode([piece for parts in pieces for piece in parts], False)
        ends = np.cumsum([0, *map(len, pieces)])
        return _framed(with_rows(batch, batch.ids, batch.row_offsets[ends]), *frame)

    return encode_texts


def _pieces(text: str, least_chars: int) -> Iterator[str]:
    start = 0
    while cut := CUT.search(text, start + least_chars):
        yield text[start : cut.start()]
        start = cut.start()
    yield text[start:]


def _can_cut(tokenizer: Tokenizer) -> bool:
    stages = tokenizer._stages()
    return (
        can_be_cut(stages)
        and tokenizer._core.dropout is None
        and stages.truncation is None
        and stages.padding is None
    )


def _frame(tokenizer: Tokenizer, add_special_tokens: bool) -> tuple[list[int], list[int]] | None:
    """Return the special tokens before and after each text, None if they depend on the text."""
    if not add_special_tokens:
        return [], []
    probe = "a a"
    ids = tokenizer.encode(probe, add_special_tokens=False).ids
    framed = tokenizer.encode(probe).ids
    mask = tokenizer.encode(probe).special_tokens_mask
    start = mask.index(0) if 0 in mask else 0
    end = start + len(ids)
    if not ids or framed[start:end] != ids or not all([*mask[:start], *mask[end:]]):
        return None
    return framed[:start], framed[end:]


def _framed(batch: Batch, before: list[int], after: list[int]) -> Batch:
    """Return the batch with special tokens around each row."""
    if not before and not after:
        return batch
    rows = len(batch)
    offsets = batch.row_offsets
    places = np.stack([offsets[:-1], offsets[1:]], axis=1).reshape(-1)
    ids = np.insert(
        batch.ids,
        np.repeat(places, np.tile([len(before), len(after)], rows)),
        np.tile(np.array([*before, *after], np.uint32), rows),
    )
    return with_rows(batch, ids, offsets + np.arange(rows + 1) * (len(before) + len(after)))
