"""Encode a dataset of `datasets` without leaving Arrow. Requires `piecework[datasets]`.

`datasets` caches the result of `map` under a hash of the function: functions of equal tokenizers and settings
have equal hashes in every process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from piecework import Tokenizer
from piecework._internal.extras import import_extra
from piecework._internal.validation import check_tokenizer
from piecework.chat import ChatFormat
from piecework.corpus.conversations import without_nulls
from piecework.errors import ArgumentError, InputTypeError
from piecework.export import encode_chats
from piecework.export.chats import MASK_NAME


@dataclass(frozen=True)
class EncodeFunction:
    """A function for `dataset.with_format("arrow").map(..., batched=True)`.

    >>> import piecework as pw, pyarrow
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> encode = EncodeFunction(tok, keep_columns=["label"])
    >>> encode(pyarrow.table({"text": ["ab", "b"], "label": [1, 0]})).to_pydict()
    {'label': [1, 0], 'input_ids': [[1, 2], [2]]}

    The texts of `column`, and of `pair_column` for pairs, are read in place. The result has the columns of
    the dataset, or `keep_columns` of them, then the columns of the encoded batch. `map` ignores
    `remove_columns` for functions that return Arrow tables. The other settings are passed
    to `Tokenizer.encode_batch`; with `overflow`, each window has the kept columns of its text.

    The function pickles with its tokenizer, so `num_proc` works. Raises `MissingExtraError` without the extra
    `arrow`, which `datasets` includes.
    """

    tokenizer: Tokenizer
    column: str = "text"
    _: KW_ONLY
    pair_column: str | None = None
    keep_columns: Sequence[str] | None = None
    add_special_tokens: bool = True
    offsets: bool = False
    overflow: bool = False

    def __post_init__(self) -> None:
        _check(self.tokenizer, self.keep_columns, "EncodeFunction")
        for argument, name in (("column", self.column), ("pair_column", self.pair_column)):
            if not isinstance(name, str) and (argument == "column" or name is not None):
                problem = f"must be the name of a column, not {type(name).__name__}"
                raise InputTypeError(argument, problem)

    def __call__(self, table: Any) -> Any:
        """Return the kept columns of a table and the columns of the encoded batch."""
        pa = _arrow_of(table, "EncodeFunction")
        texts = _column(table, "column", self.column)
        pairs = None
        if self.pair_column is not None:
            pairs = _column(table, "pair_column", self.pair_column)
        encoded = self.tokenizer.encode_batch(
            texts,
            pairs,
            add_special_tokens=self.add_special_tokens,
            offsets=self.offsets,
            overflow=self.overflow,
        )
        kept = table
        if self.keep_columns is not None:
            for name in self.keep_columns:
                _column(table, "keep_columns", name)
            kept = table.select(list(self.keep_columns))
        if self.overflow:
            kept = kept.take(pa.array(encoded.overflow_to_sample_mapping))
        columns = dict(zip(kept.column_names, kept.columns, strict=True))
        new = pa.table(encoded)
        columns |= zip(new.column_names, new.columns, strict=True)
        return pa.table(columns)


@dataclass(frozen=True)
class EncodeChatsFunction:
    """A function for `dataset.with_format("arrow").map(..., batched=True)` over conversations.

    >>> import piecework as pw, pyarrow
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2, ">": 3}))
    >>> tok = tok.with_chat_template("{% for m in messages %}>{{ m.content }}{% endfor %}")
    >>> encode = EncodeChatsFunction(tok)
    >>> encode(pyarrow.table({"prompt": ["ab"], "completion": ["b"]})).to_pydict()
    {'input_ids': [[3, 1, 2, 3, 2]], 'assistant_masks': [[0, 0, 0, 0, 1]]}

    The dataset has the columns of `export.encode_chats`; `field` names another column of messages. The result
    has `keep_columns` of the dataset, `input_ids`, and `assistant_masks` unless `chat` has none.
    """

    tokenizer: Tokenizer
    chat: ChatFormat = ChatFormat()  # noqa: RUF009 (it never changes)
    _: KW_ONLY
    field: str | None = None
    keep_columns: Sequence[str] = ()

    def __post_init__(self) -> None:
        _check(self.tokenizer, self.keep_columns, "EncodeChatsFunction")

    def __call__(self, table: Any) -> Any:
        """Return the kept columns of a table, ids and masks."""
        pa = _arrow_of(table, "EncodeChatsFunction")
        columns = {name: _column(table, "keep_columns", name) for name in self.keep_columns}
        encoded = encode_chats(
            self.tokenizer, without_nulls(table.to_pylist()), chat=self.chat, field=self.field
        )
        offsets = pa.array(encoded.batch.row_offsets, pa.int32())
        of_rows = {"input_ids": encoded.batch.ids.astype("int32")}
        if self.chat.has_mask:
            of_rows[MASK_NAME] = encoded.assistant_masks.astype("int8")
        for name, values in of_rows.items():
            columns[name] = pa.ListArray.from_arrays(offsets, pa.array(values))
        return pa.table(columns)


def _check(tokenizer: object, keep_columns: object, function: str) -> None:
    check_tokenizer(tokenizer)
    if isinstance(keep_columns, str):
        raise InputTypeError("keep_columns", "must be a collection of column names, not str")
    import_extra("pyarrow", "datasets", function)


def _arrow_of(table: Any, function: str) -> Any:
    """Return pyarrow, for a batch that is one of its tables."""
    pa = import_extra("pyarrow", "datasets", function)
    if not isinstance(table, pa.Table):
        raise InputTypeError(
            "batch",
            f"must be a pyarrow.Table, not {type(table).__name__}: "
            "dataset.with_format('arrow').map(..., batched=True)",
        )
    return pa


def _column(table: Any, argument: str, name: str) -> Any:
    """Return a column; raise `ArgumentError` if the table does not have it."""
    if name not in table.column_names:
        known = ", ".join(table.column_names)
        raise ArgumentError(argument, f"must be a column of the dataset, not {name!r}: {known}")
    return table.column(name)
