"""Accept texts as a sequence of strings, an Arrow column or a numpy array of bytes.

Arrow columns are read without a copy through the Arrow PyCapsule interface, from pyarrow, polars, DuckDB
and other libraries that implement it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from piecework._internal._core import TextColumn
from piecework._internal.validation import listed
from piecework.errors import ArgumentError, InputTypeError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def text_rows(texts: Any, name: str = "texts") -> list[Any] | TextColumn:
    """Return a list of the texts, or a column of UTF-8 that shares the memory of the argument.

    numpy drops trailing zero bytes of its values, and so does the column. Raises `ArgumentError` for a
    column of another type, `InputTypeError` for an argument without rows.
    """
    if isinstance(texts, (list, tuple)):
        return list(texts)
    column = text_column(texts, name)
    if isinstance(texts, Mapping):
        problem = f"must be a sequence of str, such as a list, not {type(texts).__name__}"
        raise InputTypeError(name, problem)
    return listed(texts, name) if column is None else column


def split_pairs(texts: Any, is_pretokenized: bool) -> tuple[Any, list[Any] | None]:
    """Return the texts and the pairs of a list that begins with a tuple; other texts unchanged.

    A tuple of words is a text.
    """
    if not isinstance(texts, list | tuple) or not texts or not isinstance(texts[0], tuple):
        return texts, None
    if is_pretokenized and (not texts[0] or isinstance(texts[0][0], str)):
        return texts, None
    for index, item in enumerate(texts):
        if not isinstance(item, tuple) or len(item) != 2:
            found = f"a tuple of {len(item)}" if isinstance(item, tuple) else type(item).__name__
            problem = f"must be a (text, pair) tuple, not {found}; other items are"
            raise InputTypeError(f"texts[{index}]", problem)
    return [text for text, _ in texts], [pair for _, pair in texts]


def text_column(texts: Any, name: str = "texts") -> TextColumn | None:
    """Return a column of the argument; None if it is not a column.

    It shares the memory of an Arrow column. The bytes of a numpy array are copied, as other threads may
    write to it.

    A pandas Series is not a column without pyarrow, which pandas needs to export it: its rows are objects
    then. Raises `ArgumentError` for a column of another type.
    """
    if isinstance(texts, TextColumn):
        return texts
    if hasattr(texts, "__arrow_c_stream__") or hasattr(texts, "__arrow_c_array__"):
        try:
            return TextColumn.of_arrow(texts, name)
        except ImportError as error:
            if getattr(texts, "ndim", None) == 1:
                return None
            raise InputTypeError(
                name,
                "must be a column of strings, such as one of the table's columns, not "
                f"{type(texts).__name__}",
            ) from error
    if getattr(getattr(texts, "dtype", None), "kind", None) == "S":
        return _byte_column(texts, name)
    return None


def _byte_column(values: npt.NDArray[np.bytes_], name: str) -> TextColumn:
    import numpy as np

    if values.ndim != 1:
        raise ArgumentError(name, f"must have one dimension, not {values.ndim}")
    # Copies only if the values are not contiguous.
    flat = np.ascontiguousarray(values).view(np.uint8)
    return TextColumn.of_bytes(flat, values.dtype.itemsize, len(values))
