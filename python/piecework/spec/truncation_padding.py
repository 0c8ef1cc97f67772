"""Truncation and padding of encodings; lengths are in tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Truncation:
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
    strategy: Literal["longest_first", "only_first", "only_second"] = "longest_first"
    side: Literal["right", "left"] = "right"

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {
            "direction": self.side.capitalize(),
            "max_length": self.max_length,
            "strategy": _STRATEGIES[self.strategy],
            "stride": self.stride,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Truncation:
        """Read the `truncation` object of a `tokenizer.json`."""
        return cls(
            max_length=value["max_length"],
            stride=value["stride"],
            strategy={name: key for key, name in _STRATEGIES.items()}[value["strategy"]],  # type: ignore[arg-type]
            side=value["direction"].lower(),
        )


@dataclass(frozen=True)
class Padding:
    """Pad encodings to `length` tokens; None means the longest encoding of the batch.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[PAD]": 0, "a": 1}, unk_token="[PAD]"), padding=Padding())
    >>> tok.encode_batch(["a", "aa"]).to_lists()
    [[1, 0], [1, 1]]
    """

    length: int | None = None
    side: Literal["right", "left"] = "right"
    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = "[PAD]"
    pad_to_multiple_of: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {
            "strategy": "BatchLongest" if self.length is None else {"Fixed": self.length},
            "direction": self.side.capitalize(),
            "pad_to_multiple_of": self.pad_to_multiple_of,
            "pad_id": self.pad_id,
            "pad_type_id": self.pad_type_id,
            "pad_token": self.pad_token,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Padding:
        """Read the `padding` object of a `tokenizer.json`."""
        strategy = value["strategy"]
        return cls(
            length=strategy["Fixed"] if isinstance(strategy, dict) else None,
            side=value["direction"].lower(),
            pad_id=value["pad_id"],
            pad_type_id=value["pad_type_id"],
            pad_token=value["pad_token"],
            pad_to_multiple_of=value["pad_to_multiple_of"],
        )


_STRATEGIES = {
    "longest_first": "LongestFirst",
    "only_first": "OnlyFirst",
    "only_second": "OnlySecond",
}
