"""Truncation and padding of encodings; lengths are in tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from piecework.spec.component import JsonData, camel_case_form, json_form


@dataclass(frozen=True)
class Truncation(JsonData):
    """Truncate encodings to `max_length` tokens, special tokens included.

    >>> import piecework as pw
    >>> model = pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2})
    >>> encoding = pw.Tokenizer(model, truncation=Truncation(max_length=2)).encode("abab")
    >>> encoding.ids, [window.ids for window in encoding.overflowing]
    ([1, 2], [[1, 2]])

    The remaining windows are in `Encoding.overflowing`. Each window overlaps the one before by `stride`
    tokens.
    """

    max_length: int = 512
    stride: int = 0
    strategy: Literal["longest_first", "only_first", "only_second"] = field(
        default="longest_first", metadata=camel_case_form()
    )
    side: Literal["right", "left"] = field(default="right", metadata=camel_case_form("direction"))


def _length_to_json(length: int | None) -> Any:
    return "BatchLongest" if length is None else {"Fixed": length}


def _length_from_json(strategy: Any) -> int | None:
    return strategy["Fixed"] if isinstance(strategy, dict) else None


@dataclass(frozen=True)
class Padding(JsonData):
    """Pad encodings to `length` tokens; None means the longest encoding of the batch.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[PAD]": 0, "a": 1}, unk_token="[PAD]"), padding=Padding())
    >>> tok.encode_batch(["a", "aa"]).to_lists()
    [[1, 0], [1, 1]]
    """

    length: int | None = field(
        default=None, metadata=json_form(_length_to_json, _length_from_json, name="strategy")
    )
    side: Literal["right", "left"] = field(default="right", metadata=camel_case_form("direction"))
    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = "[PAD]"
    pad_to_multiple_of: int | None = None
