"""Many encoded texts: a `Batch` of flat columns.

The columns stay in Rust until they are first read. They then become numpy arrays without a copy, and
numpy is imported. An `Encoding` is made only for a row that is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

from piecework._internal._core import RawBatch
from piecework._internal.extras import import_extra
from piecework._internal.names_of_other_libraries import WithForeignNames, add_foreign_names
from piecework._internal.validation import check_choice
from piecework.errors import ArgumentError, InputTypeError
from piecework.tokenizer import rectangles
from piecework.tokenizer.encoding import Encoding, encoding_of_row, missing_column

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_ROWS_IN_HTML = 10
_MAX_SHORT_OFFSET = 2**31 - 1
_TOKEN_COLUMNS = ("ids", "type_ids", "attention_mask", "offsets", "word_ids", "sequence_ids")
_COLUMNS = (*_TOKEN_COLUMNS, "special_tokens_mask")
RAW_COLUMNS = (*_TOKEN_COLUMNS, "row_offsets", "samples")
"""The arrays of a `RawBatch`, each of which may be None, but for the ids and the row offsets."""

Filling = tuple[int | None, str, int, str]
"""How rows are padded: the id of the padding token or None, the token, its type id, and the side."""


class Batch(metaclass=WithForeignNames):
    """Many encoded texts: flat ids, and the index at which each row starts.

    `ids` is uint32 of shape (tokens,), `row_offsets` is int64 of shape (rows + 1,); row `i` is
    `ids[row_offsets[i]:row_offsets[i + 1]]`.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    >>> b = tok.encode_batch(["hugs", "hug"])
    >>> b.ids.tolist(), b.row_offsets.tolist()
    ([1, 2, 1], [0, 2, 3])

    `batch[i]` is an `Encoding` and `batch[2:5]` a `Batch`. A row has the columns of its batch: always
    `ids`, `tokens`, `type_ids` and `attention_mask`; `offsets`, `word_ids`, `sequence_ids` and
    `special_tokens_mask` with `encode_batch(..., offsets=True)`. It does not contain its text.

    >>> b[0].tokens, b[1:].to_lists()
    (['hug', '##s'], [[1]])

    Batches with equal columns are equal. Pickles and copies have the columns and not the tokenizer. Batches
    are unhashable because their arrays are mutable.
    """

    def __init__(
        self, raw: RawBatch, token_of: Callable[[int], str | None], filling: Filling
    ) -> None:
        self._raw = raw
        self._token_of = token_of
        self._filling = filling

    @property
    def ids(self) -> npt.NDArray[np.uint32]:
        """Vocabulary ids of all rows, uint32 of shape (tokens,).

        The array shares the memory of the core, without a Python object for each id. `json` and FastAPI
        cannot write arrays; `to_lists` and `to_dict` return lists, and `Encoding.ids` is a list.

        >>> import json
        >>> import piecework as pw
        >>> batch = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).encode_batch(["aa", "a"])
        >>> json.dumps({"ids": batch.to_lists()})
        '{"ids": [[1, 1], [1]]}'
        """
        return self._raw.ids

    @property
    def row_offsets(self) -> npt.NDArray[np.int64]:
        """Index of the first token of each row, then the number of tokens; int64 of shape (rows + 1,)."""
        return self._raw.row_offsets

    @property
    def type_ids(self) -> npt.NDArray[np.uint8]:
        """Segment ids, uint8 of shape (tokens,)."""
        import numpy as np

        type_ids = self._raw.type_ids
        return np.zeros(self._raw.token_count, np.uint8) if type_ids is None else type_ids

    @property
    def attention_mask(self) -> npt.NDArray[np.uint8]:
        """0 for padding and 1 elsewhere, uint8 of shape (tokens,)."""
        import numpy as np

        mask = self._raw.attention_mask
        return np.ones(self._raw.token_count, np.uint8) if mask is None else mask

    @property
    def overflow_to_sample_mapping(self) -> npt.NDArray[np.int64]:
        """Index of the text of each row, int64 of shape (rows,).

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2})).with_truncation(2)
        >>> windows = tok.encode_batch(["ab", "abba"], overflow=True)
        >>> windows.to_lists(), windows.overflow_to_sample_mapping.tolist()
        ([[1, 2], [1, 2], [2, 1]], [0, 1, 1])

        Without `overflow=True` each text has one row. A slice keeps the indices of the whole batch.
        """
        import numpy as np

        samples = self._raw.samples
        return np.arange(len(self), dtype=np.int64) if samples is None else samples

    # ---- columns of `encode_batch(..., offsets=True)`

    @property
    def offsets(self) -> npt.NDArray[np.uint32]:
        """Spans in characters of the row's text, uint32 of shape (tokens, 2); 0, 0 for template tokens.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
        >>> tok.encode_batch(["hugs", "hug"], offsets=True).offsets.tolist()
        [[0, 3], [3, 4], [0, 3]]
        """
        if self._raw.offsets is None:
            raise missing_column("offsets")
        return self._raw.offsets.reshape(-1, 2)

    @property
    def word_ids(self) -> npt.NDArray[np.int32]:
        """Index of the word that each token came from, int32 of shape (tokens,); -1 for template tokens."""
        if self._raw.word_ids is None:
            raise missing_column("word_ids")
        return self._raw.word_ids

    @property
    def sequence_ids(self) -> npt.NDArray[np.int8]:
        """0 for the row's text, 1 for its pair, -1 for template tokens, int8 of shape (tokens,)."""
        import numpy as np

        if self._raw.sequence_ids is not None:
            return self._raw.sequence_ids
        if self._raw.word_ids is None:
            raise missing_column("sequence_ids")
        # Without pairs, every token of a word belongs to the row's text.
        return np.minimum(self._raw.word_ids, 0).astype(np.int8)

    @property
    def special_tokens_mask(self) -> npt.NDArray[np.uint8]:
        """1 for tokens that the template or the padding added, uint8 of shape (tokens,)."""
        import numpy as np

        if self._raw.word_ids is None:
            raise missing_column("special_tokens_mask")
        return (self.sequence_ids < 0).astype(np.uint8)

    # ---- rows

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Tokens in each row, int64 of shape (rows,)."""
        import numpy as np

        return np.diff(self.row_offsets)

    def to_lists(self) -> list[list[int]]:
        """Return the ids as a list of lists, without importing numpy."""
        return self._raw.lists()

    def to_numpy(
        self,
        pad_id: int | None = None,
        *,
        side: Literal["right", "left"] | None = None,
        column: str = "ids",
        dtype: npt.DTypeLike | None = None,
    ) -> npt.NDArray[Any]:
        """Return a column as a rectangle of shape (rows, longest row); shorter rows are padded.

        >>> import piecework as pw
        >>> vocab = {"[UNK]": 0, "[PAD]": 1, "hug": 2, "##s": 3}
        >>> tok = pw.Tokenizer(pw.spec.WordPiece(vocab)).without_padding()
        >>> batch = tok.encode_batch(["hugs", "hug"])
        >>> batch.to_numpy(pad_id=1)
        array([[2, 3],
               [2, 1]], dtype=uint32)
        >>> batch.to_numpy(column="attention_mask").tolist()
        [[1, 1], [1, 0]]
        >>> batch.to_numpy(pad_id=1, side="left").tolist()
        [[2, 3], [1, 2]]

        `pad_id` is the padding id. None uses the id of the tokenizer's padding settings, else of the padding
        piece of its SentencePiece model, else of its special token `[PAD]` or `<pad>`. `side` None
        uses the side of the padding settings, else "right".

        `column` is "ids", "type_ids", "attention_mask", "special_tokens_mask", "word_ids",
        "sequence_ids" or "offsets" (of shape (rows, longest row, 2)), with its value for padding tokens.
        `dtype` is an integer dtype; None uses the dtype of the property. Only "ids" takes `pad_id`.

        Raises `ArgumentError` when a row needs padding and no padding id is known, for values that the
        dtype cannot represent, and for columns that need `encode_batch(..., offsets=True)`.
        """
        check_choice("column", column, _COLUMNS)
        if column != "ids" and pad_id is not None:
            problem = f"must be None for column={column!r}, not {pad_id}; only ids take an id"
            raise ArgumentError("pad_id", problem)
        values = getattr(self, column)
        found_dtype = values.dtype if dtype is None else rectangles.integer_dtype(dtype)
        return self._fill(self._rectangle(side), column, values, pad_id, found_dtype)

    def to_torch(
        self,
        pad_id: int | None = None,
        *,
        side: Literal["right", "left"] | None = None,
        column: str = "ids",
        dtype: Any = None,
        padded: bool = True,
    ) -> Any:
        """Return a column as a torch tensor of shape (rows, longest row); shorter rows are padded.

            batch.to_torch()                     # int64 of shape (rows, longest row)
            batch.to_torch(padded=False)         # int32 of shape (tokens,), without a copy
            batch.to_torch(column="row_offsets", padded=False)

        `to_numpy` describes `pad_id`, `side` and `column`. `dtype` is an integer dtype of torch or
        numpy; None uses int64, which every embedding accepts.

        `padded=False` returns the flat column, or `row_offsets`. Without a dtype it shares the memory of
        the batch: writing to the tensor changes the batch. Unsigned 32-bit values become int32, because
        torch supports few operations on uint32.

        Raises `MissingExtraError` without the extra `torch`, and `ArgumentError` as `to_numpy` does.
        """
        import numpy as np

        if padded:
            filled = self.to_numpy(
                pad_id,
                side=side,
                column=column,
                dtype=np.int64 if dtype is None else dtype,
            )
            return rectangles.as_tensor(filled, "Batch.to_torch")
        for argument, value in (("pad_id", pad_id), ("side", side)):
            if value is not None:
                raise ArgumentError(argument, f"must be None with padded=False, not {value!r}")
        check_choice("column", column, (*_COLUMNS, "row_offsets"))
        values = getattr(self, column)
        if dtype is None and values.dtype == np.uint32:
            rectangles.check_values_fit(values, np.dtype(np.int32))
            values = values.view(np.int32)
        elif dtype is not None:
            found_dtype = rectangles.integer_dtype(dtype)
            rectangles.check_values_fit(values, found_dtype)
            values = values.astype(found_dtype)
        return rectangles.as_tensor(values, "Batch.to_torch")

    def to_dict(
        self,
        pad_id: int | None = None,
        *,
        side: Literal["right", "left"] | None = None,
        dtype: Any = None,
        return_tensors: Literal["np", "pt"] | None = None,
        return_token_type_ids: bool | None = None,
    ) -> dict[str, Any]:
        """Return the inputs of a model by their names in transformers: lists of the rows, or rectangles.

        >>> import piecework as pw
        >>> tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "[PAD]": 1, "hug": 2, "##s": 3}))
        >>> batch = tok.encode_batch(["hugs", "hug"])
        >>> batch.to_dict()
        {'input_ids': [[2, 3], [2]], 'attention_mask': [[1, 1], [1]]}
        >>> batch.to_dict(pad_id=1, return_tensors="np")
        {'input_ids': array([[2, 3],
               [2, 1]]), 'attention_mask': array([[1, 1],
               [1, 0]])}

        `return_tensors` is None for lists of int, each as long as its row; "np" for numpy arrays and "pt" for
        torch tensors (extra `torch`), in which shorter rows are padded. `token_type_ids` are included when
        the template or the padding of the tokenizer has types other than 0; `return_token_type_ids` decides
        otherwise. `to_numpy` describes `pad_id`, `side`, `dtype` (None: int64) and the errors; lists take
        none of the three.
        """
        has_types = self._raw.type_ids is not None
        if return_token_type_ids is not None:
            has_types = return_token_type_ids
        if return_tensors is None:
            for name, value in (("pad_id", pad_id), ("side", side), ("dtype", dtype)):
                if value is not None:
                    raise ArgumentError(
                        name,
                        f"must be None, not {value!r}; only arrays are padded: "
                        'return_tensors="np" or "pt"',
                    )
            return self._row_lists(has_types)
        check_choice("return_tensors", return_tensors, ("np", "pt"))
        found_dtype = rectangles.integer_dtype("int64" if dtype is None else dtype)
        rectangle = self._rectangle(side)
        columns = {"input_ids": self._fill(rectangle, "ids", self.ids, pad_id, found_dtype)}
        if has_types:
            columns["token_type_ids"] = self._fill(
                rectangle, "type_ids", self.type_ids, None, found_dtype
            )
        if self._raw.attention_mask is None:
            columns["attention_mask"] = rectangle.is_token.astype(found_dtype)
        else:
            columns["attention_mask"] = rectangle.fill(self.attention_mask, 0, found_dtype)
        if return_tensors == "np":
            return columns
        return {
            name: rectangles.as_tensor(values, "return_tensors") for name, values in columns.items()
        }

    def _row_lists(self, has_types: bool) -> dict[str, Any]:
        import numpy as np

        columns = {"token_type_ids": self.type_ids} if has_types else {}
        columns["attention_mask"] = self.attention_mask
        ends = self.row_offsets[1:-1]
        rows = {
            name: [row.tolist() for row in np.split(values, ends)] if len(self) else []
            for name, values in columns.items()
        }
        return {"input_ids": self.to_lists(), **rows}

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the batch as an Arrow stream in a PyCapsule, for pyarrow, polars and others.

        >>> import piecework as pw, pyarrow
        >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
        >>> pyarrow.table(tok.encode_batch(["ab", "b"])).to_pydict()
        {'input_ids': [[1, 2], [2]]}

        Each column is a list for each row, under its name in transformers: `input_ids` (uint32),
        `token_type_ids` (uint8) when the tokenizer has types other than 0, and `attention_mask` (uint8) when
        it pads. `encode_batch(..., offsets=True)` adds `special_tokens_mask` (uint8), `offset_mapping` (pairs
        of uint32), `word_ids` (int32) and `sequence_ids` (int8). `overflow=True` adds
        `overflow_to_sample_mapping`, one int64 for each row. Ids and other values are not copied.

        Raises `MissingExtraError` without the extra `arrow`.
        """
        stream: object = self._arrow_table().__arrow_c_stream__(requested_schema)
        return stream

    def _arrow_table(self) -> Any:
        raw = self._raw
        columns: dict[str, npt.NDArray[Any]] = {"input_ids": raw.ids}
        if raw.type_ids is not None:
            columns["token_type_ids"] = raw.type_ids
        if raw.attention_mask is not None:
            columns["attention_mask"] = raw.attention_mask
        if raw.word_ids is not None:
            columns["special_tokens_mask"] = self.special_tokens_mask
            columns["offset_mapping"] = self.offsets
            columns["word_ids"] = raw.word_ids
            columns["sequence_ids"] = self.sequence_ids
        samples = {} if raw.samples is None else {"overflow_to_sample_mapping": raw.samples}
        return arrow_table(raw.row_offsets, columns, samples)

    def _rectangle(self, side: str | None) -> rectangles.Rectangle:
        if side is None:
            return rectangles.Rectangle(self.lengths, self._filling[3])
        check_choice("side", side, ("right", "left"))
        return rectangles.Rectangle(self.lengths, side)

    def _fill(
        self,
        rectangle: rectangles.Rectangle,
        column: str,
        values: npt.NDArray[Any],
        pad_id: int | None,
        dtype: np.dtype[Any],
    ) -> npt.NDArray[Any]:
        """Return a column in a rectangle; raise if the dtype cannot represent its values."""
        rectangles.check_values_fit(values, dtype)
        fillings = {
            "type_ids": self._filling[2],
            "special_tokens_mask": 1,
            "word_ids": -1,
            "sequence_ids": -1,
        }
        filling = fillings.get(column, 0)
        if column == "ids":
            filling = self._pad_id(pad_id, is_needed=rectangle.needs_padding)
        if rectangle.needs_padding:
            rectangles.check_number_fits("pad_id" if column == "ids" else "dtype", filling, dtype)
        return rectangle.fill(values, filling, dtype)

    def _pad_id(self, pad_id: int | None, *, is_needed: bool) -> int:
        """Return the padding id; raise if none is known and rows differ in length."""
        if pad_id is not None:
            return rectangles.padding_id(pad_id)
        known = self._filling[0]
        if known is None and is_needed:
            message = (
                "rows differ in length and the tokenizer has no known padding token; "
                "pass the id that pads"
            )
            raise ArgumentError("pad_id", message)
        return known or 0

    def __len__(self) -> int:
        return len(self._raw)

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, row: int) -> Encoding: ...
        @overload
        def __getitem__(self, row: slice) -> Batch: ...

    def __getitem__(self, row: int | slice) -> Encoding | Batch:
        if isinstance(row, slice):
            return self._slice(row)
        if not hasattr(row, "__index__"):
            raise _not_a_row(row)
        index = row.__index__()
        if not -len(self) <= index < len(self):
            raise IndexError(f"row {index} of a batch of {len(self)}")
        return encoding_of_row(self._raw, index % len(self), self._token_of, self._filling[1])

    def __iter__(self) -> Iterator[Encoding]:
        return (self[row] for row in range(len(self)))

    def _slice(self, rows: slice) -> Batch:
        import numpy as np

        starts, ends = self.row_offsets[:-1][rows], self.row_offsets[1:][rows]
        row_offsets = np.concatenate([[0], np.cumsum(ends - starts)]).astype(np.int64)
        tokens: slice | npt.NDArray[np.int64] = slice(0, 0)
        if len(starts):
            tokens = slice(int(starts[0]), int(ends[-1]))
            if rows.step not in (None, 1):
                tokens = np.repeat(starts - row_offsets[:-1], ends - starts)
                tokens += np.arange(len(tokens))
        columns: dict[str, Any] = {
            name: _cut(getattr(self._raw, name), rows if name == "samples" else tokens)
            for name in RAW_COLUMNS
            if name not in ("offsets", "row_offsets")
        }
        if self._raw.offsets is not None:
            columns["offsets"] = self.offsets[tokens].reshape(-1)
        sliced = RawBatch.of_arrays(**columns, row_offsets=row_offsets)
        return Batch(sliced, self._token_of, self._filling)

    # ---- being a value

    def __eq__(self, other: object) -> bool:
        import numpy as np

        if not isinstance(other, Batch):
            return NotImplemented
        if self is other:
            return True
        return all(
            (mine is None) == (theirs is None)
            and (mine is None or theirs is None or np.array_equal(mine, theirs))
            for mine, theirs in zip(self._values(), other._values(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def _values(self) -> tuple[npt.NDArray[Any] | None, ...]:
        """Return every column, None for those that the batch does not have."""
        raw = self._raw
        sequence_ids = None if raw.word_ids is None else self.sequence_ids
        return (
            *(self.row_offsets, self.ids, self.type_ids, self.attention_mask),
            *(self.overflow_to_sample_mapping, raw.offsets, raw.word_ids, sequence_ids),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        import numpy as np

        columns = {name: getattr(self._raw, name) for name in RAW_COLUMNS}
        tokens = {id: self._token_of(id) for id in np.unique(self.ids).tolist()}
        return _restored, (columns, tokens, self._filling)

    def __dir__(self) -> list[str]:
        return sorted({*dir(type(self)), *vars(self)})

    def __repr__(self) -> str:
        rows = "row" if len(self) == 1 else "rows"
        tokens = "token" if self._raw.token_count == 1 else "tokens"
        return f"Batch({len(self)} {rows}, {self._raw.token_count} {tokens})"

    def _repr_html_(self) -> str:
        """Return the first rows as HTML: their tokens, with ids on hover."""
        shown = min(len(self), _ROWS_IN_HTML)
        rows = "".join(f"<li>{self[row]._repr_html_()}</li>" for row in range(shown))
        rest = f"<p>… {len(self) - shown} more rows</p>" if shown < len(self) else ""
        return f'<p>{self!r}</p><ol start="0">{rows}</ol>{rest}'


add_foreign_names(Batch)


def arrow_table(
    row_offsets: npt.NDArray[np.int64],
    flat_columns: Mapping[str, npt.NDArray[Any]],
    row_columns: Mapping[str, npt.NDArray[Any]],
    max_short_offset: int = _MAX_SHORT_OFFSET,
) -> Any:
    """Return a `pyarrow.Table` with a list per row for each flat column, and one value per row for others.

    A flat column of shape (tokens, n) has lists of n values. The values are not copied. List offsets are
    converted to 32 bits, or keep 64 bits when there are more than `max_short_offset` tokens.

    pyarrow exports through the Arrow PyCapsule interface: it keeps the arrays alive while a consumer holds a
    buffer, and casts when a consumer requests another schema. An export in Rust would save the dependency for
    consumers such as polars, but needs `unsafe` callbacks that may run in any thread.
    """
    import numpy as np

    pa = import_extra("pyarrow", "arrow", needed_for="Batch.__arrow_c_stream__")
    is_large = int(row_offsets[-1]) > max_short_offset
    offsets = pa.array(row_offsets if is_large else row_offsets.astype(np.int32))
    lists = pa.LargeListArray if is_large else pa.ListArray
    columns = {
        name: lists.from_arrays(offsets, _arrow_values(pa, values))
        for name, values in flat_columns.items()
    }
    columns |= {name: pa.array(values) for name, values in row_columns.items()}
    return pa.table(columns)


def _arrow_values(pa: Any, values: npt.NDArray[Any]) -> Any:
    if values.ndim == 1:
        return pa.array(values)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])


def _not_a_row(row: object) -> InputTypeError:
    hint = f"to_dict()[{row!r}] is a column" if isinstance(row, str) else ""
    return InputTypeError("row", f"must be int or slice, not {type(row).__name__}", hint=hint)


def _cut(
    column: npt.NDArray[Any] | None, items: slice | npt.NDArray[np.int64]
) -> npt.NDArray[Any] | None:
    """Copy items of a column into a contiguous array; None for a missing column."""
    import numpy as np

    return None if column is None else np.ascontiguousarray(column[items])


def _restored(columns: dict[str, Any], tokens: dict[int, str], filling: Filling) -> Batch:
    import numpy as np

    # A pickle's buffers may begin at any address; the core reads aligned arrays.
    aligned: dict[str, Any] = {
        name: None if column is None else np.require(column, None, ["ALIGNED"])
        for name, column in columns.items()
    }
    return Batch(RawBatch.of_arrays(**aligned), tokens.get, filling)
