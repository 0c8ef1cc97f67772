"""Estimates of the tokens of a conversation with a model whose format is not public."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from piecework._core import Core
from piecework._internal.lazy import typing
from piecework.chat.messages import checked_messages
from piecework.errors import InputTypeError

_PER_MESSAGE = 3
_PER_NAME = 1
_FOR_THE_REPLY = 3


def estimated_tokens(core: Core, messages: Sequence[Mapping[str, typing.Any]]) -> int:
    """Return the number of tokens by the formula that OpenAI published for its chat models.

    Source: "How to count tokens with tiktoken" (OpenAI Cookbook), for gpt-3.5-turbo-0613 and later. Raises
    `InputTypeError` for content other than text.
    """
    rows = checked_messages(messages)
    texts = [text for number, row in enumerate(rows) for text in _texts(row, f"messages[{number}]")]
    counts = core.count_batch(
        texts, add_special_tokens=False, parse_special=[], sampling=None, num_threads=1
    )
    names = sum("name" in row for row in rows)
    return sum(counts) + _PER_MESSAGE * len(rows) + _PER_NAME * names + _FOR_THE_REPLY


def _texts(row: Mapping[str, typing.Any], place: str) -> Iterator[str]:
    for key, value in row.items():
        if value is None:
            continue
        parts = value if isinstance(value, (list, tuple)) else (value,)
        for part in parts:
            text = part.get("text") if isinstance(part, Mapping) else part
            if not isinstance(text, str):
                raise InputTypeError(
                    f"{place}.{key}", type(part).__name__, "text to estimate its tokens"
                )
            yield text
