"""The tokens of one text by several tokenizers, as bytes that the page reads without parsing.

The answer is a header of JSON and columns of numbers, all little-endian:

    length of the header in bytes, uint32, a multiple of 4
    header: for each tokenizer the index, the number of tokens, counts, and its tokens by id
    for each tokenizer: ids int32, starts int32, ends int32 (UTF-16 units of the text), flags uint8, padded to 4

A flag has the bits ONLY_HERE (no other tokenizer has a token with this span), UNKNOWN and TEMPLATE (added by
the post-processor).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from piecework.playground.served_tokenizer import Numbers, ServedTokenizer, TokenColumns

ONLY_HERE, UNKNOWN, TEMPLATE = 1, 2, 4


def encoded_text(
    tokenizers: Sequence[ServedTokenizer],
    chosen: Sequence[int],
    text: str,
    *,
    add_special_tokens: bool = False,
) -> bytes:
    """Return the tokens of a text by the tokenizers with the indices `chosen`.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    >>> found = encoded_text([ServedTokenizer("characters", tok)], [0], "a😀")
    >>> size = int.from_bytes(found[:4], "little")
    >>> np.frombuffer(found[4 + size :], "<i4", 6).tolist()
    [1, 0, 0, 1, 1, 3]
    """
    columns = {
        index: tokenizers[index].columns(text, add_special_tokens=add_special_tokens)
        for index in chosen
    }
    units = _utf16_positions(text)
    headers, arrays = [], []
    for index, found in columns.items():
        others = [other for at, other in columns.items() if at != index]
        flags = _flags(found, others, tokenizers[index].unknown_id)
        headers.append(_header(tokenizers[index], index, found, flags))
        spans = found.spans if units is None else units[found.spans]
        arrays += [found.ids, spans[:, 0], spans[:, 1]]
        arrays.append(flags)
    header = json.dumps({"tokenizers": headers}, ensure_ascii=False).encode()
    header += b" " * (-len(header) % 4)
    return b"".join([len(header).to_bytes(4, "little"), header, *map(_packed, arrays)])


def _header(
    tokenizer: ServedTokenizer, index: int, found: TokenColumns, flags: npt.NDArray[np.uint8]
) -> dict[str, Any]:
    return {
        "index": index,
        "count": len(found),
        "unknown": int(np.count_nonzero(flags & UNKNOWN)),
        "onlyHere": int(np.count_nonzero(flags & ONLY_HERE)),
        "distinct": len(distinct := np.unique(found.ids).tolist()),
        "tokens": {id: tokenizer.readable(id) for id in distinct},
    }


def _flags(
    found: TokenColumns, others: Sequence[TokenColumns], unknown_id: int
) -> npt.NDArray[np.uint8]:
    flags = (found.ids == unknown_id).astype(np.uint8) * UNKNOWN
    flags |= found.is_template.astype(np.uint8) * TEMPLATE
    if others:
        keys = np.concatenate([other.span_keys[~other.is_template] for other in others])
        only_here = ~np.isin(found.span_keys, keys) & ~found.is_template
        flags |= only_here.astype(np.uint8) * ONLY_HERE
    return flags.astype(np.uint8)


def _utf16_positions(text: str) -> Numbers | None:
    """Return the UTF-16 position of each character position, None if they are equal."""
    codes = np.frombuffer(text.encode("utf-32-le", errors="replace"), "<u4")
    is_pair = codes > 0xFFFF
    if not is_pair.any():
        return None
    units: Numbers = np.arange(len(codes) + 1, dtype=np.int64)
    units[1:] += np.cumsum(is_pair)
    return units


def _packed(values: npt.NDArray[Any]) -> bytes:
    if values.dtype == np.uint8:
        return values.tobytes() + b"\0" * (-len(values) % 4)
    return values.astype("<i4").tobytes()
