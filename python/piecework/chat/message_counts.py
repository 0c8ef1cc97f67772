"""The tokens of a conversation: counted, or estimated for a model whose format is not public."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from piecework.chat.best_segmentation import best_only
from piecework.chat.messages import checked_messages
from piecework.errors import ArgumentError, InputTypeError

if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer

_PER_MESSAGE = 3
_PER_NAME = 1
_FOR_THE_REPLY = 3


def count_messages(
    tokenizer: Tokenizer,
    messages: Sequence[Mapping[str, Any]],
    *,
    tools: Sequence[Mapping[str, Any]] | None = None,
    estimate: bool = False,
) -> int:
    """Count the tokens of a conversation, with the beginning of the reply.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    >>> chatty = tok.with_chat_template("{{ messages[0].content }}")
    >>> pw.chat.count_messages(chatty, [{"content": "aaa"}])
    3
    >>> pw.chat.count_messages(tok, [{"role": "a", "content": "aaa"}], estimate=True)
    10

    With a chat template, the count is exact: it is the length of `apply_chat_template` with
    `add_generation_prompt`. A model behind an API has no public template, and **every count for it is an
    estimate**: `estimate=True` adds the formula that OpenAI published for its chat models, 3 tokens for
    each message, 1 for a name and 3 for the reply, to the tokens of the strings. Its error grows with
    the number of messages and with every change of the provider's format.

    Raises `UnknownNameError` without template, `ArgumentError` for `estimate` with tools, whose format
    is not public, and the errors of `apply_chat_template`.
    """
    if not estimate:
        chat = tokenizer.apply_chat_template(messages, tools=tools, add_generation_prompt=True)
        return len(chat.ids)
    if tools is not None:
        message = "estimate=True does not support tools=: their format is not public"
        raise ArgumentError("tools", message=message)
    return _estimated_tokens(tokenizer, messages)


def _estimated_tokens(tokenizer: Tokenizer, messages: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of tokens by the formula that OpenAI published for its chat models.

    Source: "How to count tokens with tiktoken" (OpenAI Cookbook), for gpt-3.5-turbo-0613 and later. Raises
    `InputTypeError` for content other than text.
    """
    rows = checked_messages(messages)
    texts = [text for number, row in enumerate(rows) for text in _texts(row, f"messages[{number}]")]
    counts = tokenizer.count_batch(
        texts, add_special_tokens=False, parse_special=False, sampling=best_only(), num_threads=1
    )
    names = sum("name" in row for row in rows)
    return sum(counts) + _PER_MESSAGE * len(rows) + _PER_NAME * names + _FOR_THE_REPLY


def _texts(row: Mapping[str, Any], place: str) -> Iterator[str]:
    for key, value in row.items():
        if value is None:
            continue
        parts = value if isinstance(value, (list, tuple)) else (value,)
        for part in parts:
            text = part.get("text") if isinstance(part, Mapping) else part
            if not isinstance(text, str):
                problem = f": tokens are estimated for text, not for a value of type {type(part).__name__}"
                raise InputTypeError(f"{place}.{key}", problem)
            yield text
