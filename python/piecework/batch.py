"""What encoding many texts gives: a `Batch` of flat columns; units are in the names.

The columns stay in the memory that they were written to. They become numpy arrays, which is then imported,
when they are first asked for; an `Encoding` is made only for the row that is asked for.
"""

from __future__ import annotations

from piecework.arrays import np
from piecework.encoding import Encoding
from piecework.errors import ArgumentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    import numpy.typing as npt

    from piecework._core import RawBatch

    Array = TypeVar("Array", bound="npt.NDArray[Any]")


class Batch:
    """Many encoded texts: flat ids and where each row starts.

    `ids` is uint32 of shape (tokens,), `row_offsets` is int64 of shape (rows + 1,); row `i` is
    `ids[row_offsets[i]:row_offsets[i + 1]]`. Indexing makes a full `Encoding` of one row.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> b = tok.encode_batch(["hugs", "hug"])
    >>> b.ids.tolist(), b.row_offsets.tolist()
    ([1, 2, 1], [0, 2, 3])
    """

    def __init__(self, raw: RawBatch, encode_row: Callable[[int], Encoding]) -> None:
        self._raw = raw
        self._encode_row = encode_row

    @property
    def ids(self) -> npt.NDArray[np.uint32]:
        """Vocabulary ids, uint32 of shape (tokens,)."""
        return self._raw.ids

    @property
    def row_offsets(self) -> npt.NDArray[np.int64]:
        """Where rows start, and the end, int64 of shape (rows + 1,)."""
        return self._raw.row_offsets

    @property
    def type_ids(self) -> npt.NDArray[np.uint8]:
        """Segment ids, uint8 of shape (tokens,)."""
        type_ids = self._raw.type_ids
        return np.zeros(self._raw.token_count, np.uint8) if type_ids is None else type_ids

    @property
    def attention_mask(self) -> npt.NDArray[np.uint8]:
        """0 for padding and 1 elsewhere, uint8 of shape (tokens,)."""
        mask = self._raw.attention_mask
        return np.ones(self._raw.token_count, np.uint8) if mask is None else mask

    # ---- where tokens come from, for `encode_batch(..., spans=True)`

    @property
    def offsets(self) -> npt.NDArray[np.uint32]:
        """Spans in characters of the row's text, uint32 of shape (tokens, 2); 0, 0 for template tokens.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
        >>> tok.encode_batch(["hugs", "hug"], spans=True).offsets.tolist()
        [[0, 3], [3, 4], [0, 3]]
        """
        return _asked_for(self._raw.offsets).reshape(-1, 2)

    @property
    def word_ids(self) -> npt.NDArray[np.int32]:
        """Index of the word of the row that each token came from, int32 of shape (tokens,); -1 for none."""
        return _asked_for(self._raw.word_ids)

    @property
    def sequence_ids(self) -> npt.NDArray[np.int8]:
        """0 for the row's text, 1 for its pair, -1 for template tokens, int8 of shape (tokens,)."""
        sequence_ids = self._raw.sequence_ids
        if sequence_ids is None and self._raw.word_ids is not None:
            # Without pairs, what is of a word is of the row's text.
            return np.minimum(self._raw.word_ids, 0).astype(np.int8)
        return _asked_for(sequence_ids)

    # ---- rows

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Tokens in each row, int64 of shape (rows,)."""
        return np.diff(self.row_offsets)

    def to_lists(self) -> list[list[int]]:
        """Return the ids as a list of lists; numpy is not needed for it."""
        return self._raw.lists()

    def to_numpy(self, pad: int = 0) -> npt.NDArray[np.uint32]:
        """Return the ids as a rectangle, uint32 of shape (rows, longest row), filled with `pad`."""
        if not 0 <= pad < 2**32:
            raise ArgumentError("pad", str(pad), "an id from 0 to 4294967295")
        lengths = self.lengths
        width = int(lengths.max(initial=0))
        rectangle = np.full((len(lengths), width), pad, np.uint32)
        rectangle[np.arange(width) < lengths[:, None]] = self.ids
        return rectangle

    def __len__(self) -> int:
        return len(self._raw)

    def __getitem__(self, row: int) -> Encoding:
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of a batch of {len(self)}")
        return self._encode_row(row % len(self))

    def __iter__(self) -> Iterator[Encoding]:
        return (self._encode_row(row) for row in range(len(self)))

    def __repr__(self) -> str:
        return f"Batch({len(self)} rows, {self._raw.token_count} tokens)"


def _asked_for(column: Array | None) -> Array:
    if column is None:
        raise ArgumentError("spans", "False", "encode_batch(..., spans=True), which keeps them")
    return column
