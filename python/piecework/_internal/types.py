"""Types for annotations only; imported when `typing.get_type_hints` resolves an annotation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, Union

import numpy as np
import numpy.typing as npt

from piecework._internal.memory import Memory

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack
else:
    try:  # typing_extensions is not a dependency; Python 3.10 resolves these two to a stand-in
        from typing import Self, Unpack
    except ImportError:
        Self = Any
        Unpack = Union

T = TypeVar("T")

Drawn: TypeAlias = tuple[float, int | None, int, int]
"""Sampling settings for the core: alpha, n-best size or None, seed, index of the text in its batch."""

Ids: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]


class ArrowStream(Protocol):
    """An Arrow column in chunks, such as a `pyarrow.ChunkedArray` or a `polars.Series`."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class ArrowArray(Protocol):
    """An Arrow column in one piece, such as a `pyarrow.Array`."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


Texts: TypeAlias = (
    Sequence[str] | ArrowStream | ArrowArray | npt.NDArray[np.bytes_] | npt.NDArray[np.object_]
)


class EncodingFields(Protocol):
    """Fields of one encoding, from the core or from the columns of a batch."""

    @property
    def ids(self) -> list[int]:
        """Vocabulary ids."""
        ...

    @property
    def type_ids(self) -> list[int]:
        """Segment ids."""
        ...

    @property
    def tokens(self) -> list[str]:
        """Vocabulary entries as strings."""
        ...

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Start and end of each token, in characters of the original text."""
        ...

    @property
    def word_ids(self) -> list[int | None]:
        """Index of the word of each token, None for special tokens."""
        ...

    @property
    def sequence_ids(self) -> list[int | None]:
        """0 for tokens of the text, 1 for tokens of its pair, None for special tokens."""
        ...

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for tokens that the post-processor or padding inserts, otherwise 0."""
        ...

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding tokens, otherwise 1."""
        ...

    @property
    def overflowing(self) -> Sequence[EncodingFields]:
        """Encodings of the further windows of a truncated text."""
        ...


__all__ = [
    "Any",
    "ArrowArray",
    "ArrowStream",
    "Drawn",
    "EncodingFields",
    "Ids",
    "Memory",
    "Self",
    "T",
    "Texts",
    "Unpack",
]
