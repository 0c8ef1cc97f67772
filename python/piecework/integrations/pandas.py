"""Encode and count columns of pandas. Requires `piecework[pandas]`."""

from __future__ import annotations

from typing import Any

import piecework as pw
from piecework._internal.extras import import_extra
from piecework._internal.validation import check_type
from piecework.integrations.arrow import count_column, encode_column


def encode_series(tokenizer: pw.Tokenizer, texts: Any, *, add_special_tokens: bool = True) -> Any:
    """Return a series with the ids of a series of texts, with its index and name.

    >>> import pandas, piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> encode_series(tok, pandas.Series(["ab", None], index=[7, 8]))
    7    [1 2]
    8     <NA>
    dtype: list<item: uint32>[pyarrow]

    Strings, categories, objects and Arrow types are read; missing values stay missing. The values are Arrow
    lists, which pandas reads without a copy. Raises `InputTypeError` for another object, and the errors of
    `integrations.arrow.encode_column`.
    """
    column = encode_column(tokenizer, _checked(texts), add_special_tokens=add_special_tokens)
    return _series(texts, column)


def count_series(tokenizer: pw.Tokenizer, texts: Any, *, add_special_tokens: bool = True) -> Any:
    """Return a series with the number of tokens of each text.

    >>> import pandas, piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> count_series(tok, pandas.Series(["ab", "b"], name="text")).tolist()
    [2, 1]

    Columns and errors are the same as for `encode_series`.
    """
    column = count_column(tokenizer, _checked(texts), add_special_tokens=add_special_tokens)
    return _series(texts, column)


def _checked(texts: Any) -> Any:
    pandas = import_extra("pandas", "pandas")
    import_extra("pyarrow", "pandas")
    check_type("texts", texts, pandas.Series, "a pandas Series")
    return texts


def _series(texts: Any, column: Any) -> Any:
    pandas = import_extra("pandas", "pandas")
    values = pandas.array(column, dtype=pandas.ArrowDtype(column.type))
    return pandas.Series(values, index=texts.index, name=texts.name)
