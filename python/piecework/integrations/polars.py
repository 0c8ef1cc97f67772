"""Expressions of polars that encode a column of texts and count its tokens. Requires `piecework[polars]`."""

from __future__ import annotations

from functools import partial
from typing import Any

import piecework as pw
from piecework._internal.extras import import_extra
from piecework._internal.validation import check_tokenizer
from piecework.integrations.arrow import count_column, encode_column


def encode_expr(
    tokenizer: pw.Tokenizer, column: Any = "text", *, add_special_tokens: bool = True
) -> Any:
    """Return an expression with the ids of a column, lists of unsigned 32-bit integers.

    >>> import piecework as pw, polars
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> frame = polars.DataFrame({"text": ["ab", None, "b"]})
    >>> frame.with_columns(ids=encode_expr(tok))["ids"].to_list()
    [[1, 2], None, [2]]

    `column` is a name or an expression, of strings, categories or enums. Nulls stay null. The expression
    works in lazy frames and in the streaming engine. Raises `InputTypeError` for another tokenizer and
    `MissingExtraError` without polars. Errors of `encode_column` are raised when the frame is computed.
    """
    pl = import_extra("polars", "polars")
    check_tokenizer(tokenizer)
    encode = partial(encode_column, tokenizer, add_special_tokens=add_special_tokens)
    return _mapped(pl, column, encode, pl.List(pl.UInt32))


def count_expr(
    tokenizer: pw.Tokenizer, column: Any = "text", *, add_special_tokens: bool = True
) -> Any:
    """Return an expression with the number of tokens of each text of a column.

    >>> import piecework as pw, polars
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> frame = polars.DataFrame({"text": ["ab", None, "b"]})
    >>> frame.filter(count_expr(tok) > 1)["text"].to_list()
    ['ab']

    Columns and errors are the same as for `encode_expr`.
    """
    pl = import_extra("polars", "polars")
    check_tokenizer(tokenizer)
    count = partial(count_column, tokenizer, add_special_tokens=add_special_tokens)
    return _mapped(pl, column, count, pl.UInt32)


def _mapped(pl: Any, column: Any, function: Any, kind: Any) -> Any:
    import_extra("pyarrow", "polars")

    def series(texts: Any) -> Any:
        return pl.Series(texts.name, function(texts), dtype=kind)

    expression = pl.col(column) if isinstance(column, str) else column
    return expression.map_batches(series, return_dtype=kind, is_elementwise=True)
