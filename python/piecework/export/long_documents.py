"""Cut long documents where ids do not depend on the other side, so that all threads encode them.

A cut is before an ASCII space that follows a character other than whitespace. It is safe if no stage looks
across it: the normalizers below compose nothing with a space, the pre-tokenizers split there whatever the
neighbours are, models segment single pre-tokens, and no added token contains or consumes the space. For
other tokenizers, documents are not cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from piecework import spec
from piecework.batch import Batch
from piecework.corpus.texts import Texts, sizes
from piecework.export.encoded_lines import with_rows
from piecework.spec import TokenizerSpec
from piecework.tokenizer import Tokenizer

LONG_CHARS = 1 << 20
PIECE_CHARS = 256 << 10

_CUT = re.compile(r"(?<=\S) ")
# BLOOM's pattern splits elsewhere.
_PATTERNS = [spec.named_pre_tokenizer(name) for name in spec.NAMED_PATTERNS if name != "bloom"]
_NORMALIZERS = (type(None), spec.BertNormalizer, spec.NFC)
_WORD_PRE_TOKENIZERS = (spec.BertPreTokenizer, spec.Whitespace, spec.WhitespaceSplit)

EncodeTexts = Callable[[Texts, bool], Batch]
"""Encodes texts with (True) or without special tokens."""


def encoder_of_long(
    tokenizer: Tokenizer, encode: EncodeTexts, *, add_special_tokens: bool
) -> Callable[[Texts], Batch]:
    """Return a function that encodes texts as `encode` does, with the long ones cut if that is safe."""
    frame = _frame(tokenizer, add_special_tokens) if _can_cut(tokenizer) else None

    def encode_texts(texts: Texts) -> Batch:
        if frame is None or sizes(texts).max(initial=0) < LONG_CHARS:
            return encode(texts, add_special_tokens)
        pieces = [list(_pieces(text)) for text in texts]
        batch = encode([piece for parts in pieces for piece in parts], False)
        ends = np.cumsum([0, *map(len, pieces)])
        return _framed(with_rows(batch, batch.ids, batch.row_offsets[ends]), *frame)

    return encode_texts


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while cut := _CUT.search(text, start + PIECE_CHARS):
        yield text[start : cut.start()]
        start = cut.start()
    yield text[start:]


def _can_cut(tokenizer: Tokenizer) -> bool:
    described: TokenizerSpec = tokenizer.spec
    pre_tokenizer = described.pre_tokenizer
    is_independent = (
        isinstance(described.normalizer, _NORMALIZERS)
        and isinstance(described.model, (spec.WordPiece, spec.BPE, spec.WordLevel))
        and tokenizer._core.dropout is None
        and described.truncation is None
        and described.padding is None
    )
    splits = isinstance(pre_tokenizer, _WORD_PRE_TOKENIZERS) or _is_known(pre_tokenizer)
    return is_independent and splits and not any(map(_consumes_spaces, described.added_tokens))


def _is_known(pre_tokenizer: Any) -> bool:
    if isinstance(pre_tokenizer, spec.ByteLevel):
        return pre_tokenizer.use_regex
    return pre_tokenizer in _PATTERNS


def _consumes_spaces(token: spec.AddedToken) -> bool:
    return token.lstrip or token.rstrip or any(map(str.isspace, token.content))


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
