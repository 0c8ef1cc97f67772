"""Encode whole columns of texts into columns, with nulls and dictionaries. Requires `piecework[arrow]`.

`Tokenizer.encode_batch` reads columns of strings too; it raises for nulls and dictionaries and returns a
`Batch`. The functions of polars, DuckDB and pandas use this module.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

import piecework as pw
from piecework._internal.extras import import_extra
from piecework._internal.validation import check_tokenizer
from piecework.errors import ArgumentError, InputTypeError

_MAX_SHORT_OFFSET = (1 << 31) - 1
_STRINGS = ("string", "large_string", "string_view")


def encode_column(
    tokenizer: pw.Tokenizer,
    column: Any,
    *,
    add_special_tokens: bool = True,
    parse_special: bool | Collection[str] | None = None,
    num_threads: int | None = None,
) -> Any:
    """Return the ids of a column of texts, a pyarrow column of lists of uint32 with the same length.

    >>> import piecework as pw, pyarrow
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> encode_column(tok, pyarrow.array(["ab", None, "b"])).to_pylist()
    [[1, 2], None, [2]]

    `column` is a column of pyarrow, polars, pandas 3 and other libraries with the Arrow PyCapsule interface,
    or a sequence of strings. Nulls stay null. Each distinct text of a dictionary column is encoded once. A
    chunked column returns a chunked column. `Tokenizer.encode_batch` describes the other arguments;
    padding to the longest row of a batch is not applied.

    Raises `ArgumentError` for a column without strings, `InputTypeError` for another tokenizer,
    `MissingExtraError` without pyarrow, and the errors of `encode_batch`.
    """
    check_tokenizer(tokenizer)
    padding = tokenizer.spec.padding
    depends_on_batch = padding is not None and padding.length is None
    unpadded = tokenizer.without_padding() if depends_on_batch else tokenizer

    def encode(pa: Any, array: Any) -> Any:
        batch = unpadded.encode_batch(
            array.drop_null(),
            add_special_tokens=add_special_tokens,
            parse_special=parse_special,
            num_threads=num_threads,
        )
        offsets, mask = batch.row_offsets, None
        if array.null_count:
            # A null has no ids: its row ends where it starts.
            is_text = array.is_valid().to_numpy(zero_copy_only=False)
            offsets = offsets[np.concatenate([[0], np.cumsum(is_text)])]
            mask = array.is_null()
        is_large = len(batch.ids) > _MAX_SHORT_OFFSET
        kind = pa.LargeListArray if is_large else pa.ListArray
        positions = pa.array(offsets, pa.int64() if is_large else pa.int32())
        return kind.from_arrays(positions, pa.array(batch.ids), mask=mask)

    return _mapped(column, encode)


def count_column(
    tokenizer: pw.Tokenizer,
    column: Any,
    *,
    add_special_tokens: bool = True,
    parse_special: bool | Collection[str] | None = None,
    num_threads: int | None = None,
) -> Any:
    """Return the number of tokens of each text of a column, a pyarrow column of uint32.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> count_column(tok, ["ab", None, "b"]).to_pylist()
    [2, None, 1]

    Columns, nulls, arguments and errors are the same as for `encode_column`.
    """
    check_tokenizer(tokenizer)

    def count(pa: Any, array: Any) -> Any:
        counts = tokenizer.count_batch(
            array.drop_null(),
            add_special_tokens=add_special_tokens,
            parse_special=parse_special,
            num_threads=num_threads,
        )
        found = pa.array(counts, pa.uint32())
        if not array.null_count:
            return found
        rows = np.cumsum(array.is_valid().to_numpy(zero_copy_only=False)) - 1
        return found.take(pa.array(rows, mask=array.is_null().to_numpy(zero_copy_only=False)))

    return _mapped(column, count)


def _mapped(column: Any, function: Callable[[Any, Any], Any]) -> Any:
    """Apply a function to each chunk of a column, and to the dictionaries of dictionary columns."""
    pa = import_extra("pyarrow", "arrow", "column")
    texts = _arrow_column(pa, column)
    if not isinstance(texts, pa.ChunkedArray):
        return _mapped_array(pa, texts, function)
    chunks = [_mapped_array(pa, chunk, function) for chunk in texts.chunks]
    if not chunks:
        chunks = [_mapped_array(pa, pa.array([], pa.string()), function)]
    return pa.chunked_array(chunks)


def _mapped_array(pa: Any, array: Any, function: Callable[[Any, Any], Any]) -> Any:
    if pa.types.is_dictionary(array.type):
        return _mapped_array(pa, array.dictionary, function).take(array.indices)
    if pa.types.is_null(array.type):
        array = array.cast(pa.string())
    if str(array.type) not in _STRINGS:
        raise ArgumentError("column", f"must contain strings, not values of type {array.type}")
    if array.null_count and str(array.type) == "string_view":
        array = array.cast(pa.large_string())  # pyarrow cannot filter views
    return function(pa, array)


def _arrow_column(pa: Any, column: Any) -> Any:
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return column
    if isinstance(column, (str, bytes)):
        problem = f"must be a column or a sequence of strings, not {type(column).__name__}"
        raise InputTypeError("column", problem)
    try:
        if hasattr(column, "__arrow_c_stream__"):
            return pa.chunked_array(column)
        return pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError) as error:
        message = " ".join(str(error).split())[:120]
        problem = f"must be a column of strings, not {type(column).__name__} ({message})"
        raise ArgumentError("column", problem) from error
