"""Rectangles: rows of different lengths as one array of shape (rows, width), padded on one side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from piecework._internal.extras import import_extra
from piecework.errors import ArgumentError, InputTypeError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_MAX_ID = 2**32 - 1


class Rectangle:
    """The shape of padded rows, and which of its cells have a token.

    `width` is the length of the longest row, or larger. Every column of the same rows is filled into the
    same rectangle.
    """

    def __init__(
        self, lengths: npt.NDArray[np.int64], side: str = "right", width: int | None = None
    ) -> None:
        import numpy as np

        self.width = int(lengths.max(initial=0)) if width is None else width
        self.needs_padding = bool((lengths < self.width).any())
        at = np.arange(self.width)
        longest = lengths[:, None]
        self.is_token = at >= self.width - longest if side == "left" else at < longest

    def fill(
        self,
        values: npt.NDArray[Any],
        filling: float,
        dtype: npt.DTypeLike | None = None,
    ) -> npt.NDArray[Any]:
        """Return the values of all rows in a new array; the other cells have `filling`."""
        import numpy as np

        dtype = values.dtype if dtype is None else dtype
        shape = (*self.is_token.shape, *values.shape[1:])
        if not self.needs_padding:
            return values.astype(dtype).reshape(shape)
        rectangle = np.full(shape, filling, dtype)
        rectangle[self.is_token] = values
        return rectangle


def integer_dtype(dtype: Any) -> np.dtype[Any]:
    """Return an integer dtype of numpy; `dtype` may be a dtype of torch.

    >>> integer_dtype("int32")
    dtype('int32')
    """
    import numpy as np

    is_of_torch = type(dtype).__module__ == "torch"
    try:
        found = np.dtype(str(dtype).removeprefix("torch.") if is_of_torch else dtype)
    except (TypeError, ValueError):
        found = None
    if dtype is None or found is None or found.kind not in "iu":
        problem = f"must be an integer dtype, such as int64 or int32, not {dtype!r}"
        raise ArgumentError("dtype", problem)
    native: np.dtype[Any] = found.newbyteorder("=")
    return native


def check_values_fit(values: npt.NDArray[Any], dtype: np.dtype[Any]) -> None:
    """Raise `ArgumentError` for a value that the dtype cannot represent."""
    import numpy as np

    if values.size and not np.can_cast(values.dtype, dtype):
        for value in (values.min(), values.max()):
            check_number_fits("dtype", int(value), dtype)


def check_number_fits(argument: str, number: int, dtype: np.dtype[Any]) -> None:
    """Raise `ArgumentError` naming the argument if the dtype cannot represent a number."""
    import numpy as np

    limits = np.iinfo(dtype)
    if not limits.min <= number <= limits.max:
        expected = f"a dtype that can represent {number}, such as int64"
        if argument == "pad_id":
            expected = f"an id from 0 to {limits.max}, or another dtype"
        raise ArgumentError(argument, f"{number} does not fit into {dtype}; use {expected}")


def padding_id(pad_id: Any) -> int:
    """Return a padding id as an int; raise unless it is an id."""
    if isinstance(pad_id, bool) or not hasattr(pad_id, "__index__"):
        raise InputTypeError("pad_id", f"must be an id or None, not {type(pad_id).__name__}")
    if not 0 <= pad_id <= _MAX_ID:
        raise ArgumentError("pad_id", f"must be an id from 0 to {_MAX_ID}, not {pad_id}")
    return int(pad_id)


def as_tensor(values: npt.NDArray[Any], needed_for: str) -> Any:
    """Return a torch tensor that shares the memory of an array, through DLPack."""
    torch = import_extra("torch", "torch", needed_for)
    # An array that must not be written has no DLPack export that torch accepts.
    return torch.from_dlpack(values if values.flags.writeable else values.copy())
