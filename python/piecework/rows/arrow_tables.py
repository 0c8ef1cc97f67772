"""Arrow tables over the memory of numpy arrays.

pyarrow exports them through the Arrow PyCapsule interface: it keeps the arrays alive while a consumer
holds a buffer, and casts when a consumer requests another schema. An export in Rust would save the
dependency for consumers such as polars, but needs `unsafe` callbacks that may run in any thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from piecework._internal.extras import import_extra

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_MAX_SHORT_OFFSET = 2**31 - 1


def arrow_table(
    row_offsets: npt.NDArray[np.int64],
    flat_columns: Mapping[str, npt.NDArray[Any]],
    row_columns: Mapping[str, npt.NDArray[Any]],
    max_short_offset: int = _MAX_SHORT_OFFSET,
) -> Any:
    """Return a `pyarrow.Table`: a list a row of each flat column, and the columns with one value a row.

    A flat column of shape (tokens, n) has lists of n values. The values are not copied. List offsets are
    converted to 32 bits, or keep 64 bits when there are more than `max_short_offset` tokens.
    """
    import numpy as np

    pa = import_extra("pyarrow", "arrow", needed_for="Batch.__arrow_c_stream__")
    is_large = int(row_offsets[-1]) > max_short_offset
    offsets = pa.array(row_offsets if is_large else row_offsets.astype(np.int32))
    lists = pa.LargeListArray if is_large else pa.ListArray
    columns = {
        name: lists.from_arrays(offsets, _values(pa, values))
        for name, values in flat_columns.items()
    }
    columns |= {name: pa.array(values) for name, values in row_columns.items()}
    return pa.table(columns)


def _values(pa: Any, values: npt.NDArray[Any]) -> Any:
    if values.ndim == 1:
        return pa.array(values)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])
