"""Texts as they are given: a sequence of strings, or a column that another library holds.

A column is read where it lies: Arrow strings of any library that lends them by the Arrow PyCapsule
interface (pyarrow, polars, DuckDB, ...), and numpy arrays of bytes.
"""

from __future__ import annotations

from piecework._core import TextColumn
from piecework._internal.lazy import np, npt, typing
from piecework._internal.validation import listed
from piecework.errors import ArgumentError


def text_rows(texts: typing.Any, name: str = "texts") -> list[typing.Any] | TextColumn:
    """Return what was given as rows: a list of its own, or a column, which is not copied.

    A column holds UTF-8; numpy drops zeros at the end of its values, and so does this. Raises
    `ArgumentError` for a column of anything else, `InputTypeError` for what has no rows.
    """
    if isinstance(texts, (list, tuple)):
        return list(texts)
    if isinstance(texts, TextColumn):
        return texts
    if hasattr(texts, "__arrow_c_stream__") or hasattr(texts, "__arrow_c_array__"):
        return TextColumn.of_arrow(texts, name)
    if getattr(getattr(texts, "dtype", None), "kind", None) == "S":
        return _byte_rows(texts, name)
    return listed(texts, name)


def _byte_rows(values: npt.NDArray[np.bytes_], name: str) -> TextColumn:
    if values.ndim != 1:
        raise ArgumentError(name, f"an array of {values.ndim} dimensions", "one dimension")
    # Nothing is copied unless the values lie apart.
    flat = np.ascontiguousarray(values).view(np.uint8)
    return TextColumn.of_bytes(flat, values.dtype.itemsize, len(values))
