"""Encode a column of texts in an Arrow batch."""

from __future__ import annotations

from typing import Any

import numpy as np

import piecework as pw
from piecework._support import import_extra
from piecework.distributed.arrow_counts import text_column


def encode_batch_column(
    batch: Any,
    column: str,
    tokenizer: pw.Tokenizer,
    *,
    add_special_tokens: bool = True,
    num_threads: int | None = 1,
) -> Any:
    """Return the ids of a column of texts, as an Arrow array of lists of uint32.

    >>> import pyarrow as pa
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> encode_batch_column(pa.table({"text": ["ab", None, "b"]}), "text", tok).to_pylist()
    [[1, 2], None, [2]]

    A row without a text has no ids. Raises `ArgumentError` for a column that is missing or has another type.
    """
    pa = import_extra("pyarrow", "arrow")
    texts = text_column(batch, column)
    if pa.types.is_null(texts.type):
        return pa.nulls(len(texts), pa.large_list(pa.uint32()))
    has_text = np.asarray(texts.is_valid())
    encoded = tokenizer.encode_batch(
        texts.drop_null(), add_special_tokens=add_special_tokens, num_threads=num_threads
    )
    ids = pa.chunked_array([pa.table(encoded).column("input_ids").combine_chunks()])
    ids = ids.cast(pa.large_list(pa.uint32())).combine_chunks()
    if has_text.all():
        return ids
    rows = np.cumsum(has_text) - 1
    return ids.take(pa.array(rows, mask=~has_text))
