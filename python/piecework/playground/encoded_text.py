"""The tokens of one text by several tokenizers, as bytes that the page reads without parsing.

The answer is a header of JSON and columns of numbers, all little-endian:

    length of the header in bytes, uint32, a multiple of 4
    header: for each tokenizer the index, the number of tokens, counts, and its tokens by id
    for each tokenizer: ids, starts, ends (UTF-16 units of the text) as int32, flags as uint8, padded to 4

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
    headers: list[dict[str, Any]] = []
    arrays: list[npt.NDArray[Any]] = []
    for index, found in columns.items():
        others = [other for at, other in columns.items() if at != index]
        flags = _flags(found, others, tokenizers[index].unknown_id)
        headers.append(_header(tokenizers[index], index, found, flags))
        spans = found.spans if units is None else units[found.spans]
        arrays += [found.ids, spans[:, 0], spans[:, 1], flags]
    header = json.dumps({"tokenizers": headers}, ensure_ascii=False).encode()
    header += b" " * (-len(header) % 4)
    return b"".join([len(header).to_bytes(4, "little"), header, *map(_packed, arrays)])


def _header(
    tokenizer: ServedTokenizer, index: int, found: TokenColumns, flags: npt.NDArray[np.uint8]
) -> dict[str, Any]:
    distinct = np.flatnonzero(np.bincount(found.ids)).tolist()
    return {
        "index": index,
        "count": len(found),
        "unknown": int(np.count_nonzero(flags & UNKNOWN)),
        "onlyHere": int(np.count_nonzero(flags & ONLY_HERE)),
        "distinct": len(distinct),
        "tokens": {id: tokenizer.readable(id) for id in distinct},
    }


def _flags(
    found: TokenColumns, others: Sequence[TokenColumns], unknown_id: int
) -> npt.NDArray[np.uint8]:
    flags = np.zeros(len(found), np.uint8)
    flags[found.ids == unknown_id] |= UNKNOWN
    flags[found.is_template] |= TEMPLATE
    if others:
        keys = np.concatenate([other.span_keys[~other.is_template] for other in others])
        only_here = ~_is_in(found.span_keys, keys) & ~found.is_template
        flags[only_here] |= ONLY_HERE
    return flags


def _is_in(keys: Numbers, others: Numbers) -> npt.NDArray[np.bool_]:
    """Return which keys are among the others; numpy's own function hashes, and these keys collide."""
    if not len(others):
        return np.zeros(len(keys), np.bool_)
    ordered = np.sort(others, kind="stable")
    at = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
    found: npt.NDArray[np.bool_] = ordered[at] == keys
    return found


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
