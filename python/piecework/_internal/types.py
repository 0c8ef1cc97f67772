"""Types for annotations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, Union

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Self as Self
    from typing_extensions import Unpack as Unpack
else:
    try:  # typing_extensions is not a dependency; Python 3.10 resolves these two to a stand-in
        from typing import Self, Unpack
    except ImportError:
        Self = Any
        Unpack = Union

T = TypeVar("T")


class ArrowStream(Protocol):
    """An Arrow column in chunks, such as a `pyarrow.ChunkedArray` or a `polars.Series`."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class ArrowArray(Protocol):
    """An Arrow column in one piece, such as a `pyarrow.Array`."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


class DecodingErrors(Protocol):
    """What to do with bytes that are not UTF-8; `vocabulary.decoding` has it."""

    def text_of(
        self, ids: Iterable[int], text: str | None, *, is_end: bool = False, place: str = "ids"
    ) -> str | None: ...


Update: TypeAlias = Callable[[int, int], None]
"""Takes how much is done, and the total, 0 if it is unknown."""

Progress: TypeAlias = bool | Update | None
"""What to show: True for a bar, a function to call, None or False for nothing."""


if TYPE_CHECKING:  # numpy is imported when an array is needed
    Ids: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]

    Texts: TypeAlias = (
        Sequence[str] | ArrowStream | ArrowArray | npt.NDArray[np.bytes_] | npt.NDArray[np.object_]
    )
