"""What encoding gives: `Encoding` for one text, `Batch` for many; units are in the names.

An `Encoding` is read field by field as Python lists. A `Batch` is two flat numpy arrays, ids and row
offsets, and makes an `Encoding` only for the row that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from piecework.errors import ArgumentError

if TYPE_CHECKING:
    import numpy.typing as npt

    from piecework._core import RawEncoding


class Encoding:
    """One encoded text or pair: parallel lists, one item a token.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> e = tok.encode("hugs")
    >>> e.ids, e.tokens, e.offsets
    ([1, 2], ['hug', '##s'], [(0, 3), (3, 4)])
    """

    __slots__ = ("__dict__", "_raw")

    def __init__(self, raw: RawEncoding) -> None:
        self._raw = raw

    @cached_property
    def ids(self) -> list[int]:
        """Vocabulary ids."""
        return self._raw.ids

    @cached_property
    def tokens(self) -> list[str]:
        """Vocabulary entries as strings."""
        return self._raw.tokens

    @cached_property
    def offsets(self) -> list[tuple[int, int]]:
        """Spans (start, end) in characters of the original text; (0, 0) for template tokens."""
        return self._raw.offsets

    @cached_property
    def word_ids(self) -> list[int | None]:
        """Index of the pre-tokenized word each token came from; None for template tokens."""
        return self._raw.word_ids

    @cached_property
    def sequence_ids(self) -> list[int | None]:
        """0 for the first text, 1 for its pair, None for template tokens."""
        return self._raw.sequence_ids

    @cached_property
    def type_ids(self) -> list[int]:
        """Segment ids given by the template."""
        return self._raw.type_ids

    @cached_property
    def special_tokens_mask(self) -> list[int]:
        """1 for tokens that the template or the padding added, 0 for tokens of the text."""
        return self._raw.special_tokens_mask

    @cached_property
    def attention_mask(self) -> list[int]:
        """0 for padding, 1 for everything else."""
        return self._raw.attention_mask

    @cached_property
    def overflowing(self) -> list[Encoding]:
        """The further windows of a truncated text, in order."""
        return [Encoding(raw) for raw in self._raw.overflowing]

    def __len__(self) -> int:
        return len(self._raw)

    def __repr__(self) -> str:
        return f"Encoding({len(self)} tokens: {' '.join(self.tokens[:16])}{' ...' if len(self) > 16 else ''})"


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

    def __init__(
        self,
        ids: npt.NDArray[np.uint32],
        row_offsets: npt.NDArray[np.int64],
        type_ids: npt.NDArray[np.uint8] | None,
        attention_mask: npt.NDArray[np.uint8] | None,
        encode_row: Callable[[int], Encoding],
    ) -> None:
        self.ids = ids
        self.row_offsets = row_offsets
        self._type_ids = type_ids
        self._attention_mask = attention_mask
        self._encode_row = encode_row

    @property
    def type_ids(self) -> npt.NDArray[np.uint8]:
        """Segment ids, uint8 of shape (tokens,)."""
        return np.zeros(len(self.ids), np.uint8) if self._type_ids is None else self._type_ids

    @property
    def attention_mask(self) -> npt.NDArray[np.uint8]:
        """0 for padding and 1 elsewhere, uint8 of shape (tokens,)."""
        if self._attention_mask is None:
            return np.ones(len(self.ids), np.uint8)
        return self._attention_mask

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Tokens in each row, int64 of shape (rows,)."""
        return np.diff(self.row_offsets)

    def to_lists(self) -> list[list[int]]:
        """Return the ids as a list of lists."""
        flat = self.ids.tolist()
        bounds = self.row_offsets.tolist()
        return [flat[start:end] for start, end in pairwise(bounds)]

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
        return len(self.row_offsets) - 1

    def __getitem__(self, row: int) -> Encoding:
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of a batch of {len(self)}")
        return self._encode_row(row % len(self))

    def __iter__(self) -> Iterator[Encoding]:
        return (self._encode_row(row) for row in range(len(self)))

    def __repr__(self) -> str:
        return f"Batch({len(self)} rows, {len(self.ids)} tokens)"
