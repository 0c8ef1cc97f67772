"""The tokens of a conversation: counted, estimated, and the most recent turns that fit a budget."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from piecework import Sampling
from piecework._internal.validation import check_size, check_tokenizer
from piecework.chat.chat_format import apply_chat_template
from piecework.chat.messages import checked_messages
from piecework.corpus.conversations import ASSISTANTS
from piecework.errors import ArgumentError, InputTypeError

if TYPE_CHECKING:
    from piecework import Tokenizer


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
    """Count the tokens of a conversation, including the beginning of the reply.

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
    check_tokenizer(tokenizer)
    if not estimate:
        chat = apply_chat_template(tokenizer, messages, tools=tools, add_generation_prompt=True)
        return len(chat.ids)
    if tools is not None:
        message = "cannot be combined: the format of tools is not public"
        raise ArgumentError("tools", message, also=["estimate"])
    return _estimated_tokens(tokenizer, messages)


def _estimated_tokens(tokenizer: Tokenizer, messages: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of tokens by the formula that OpenAI published for its chat models.

    Source: "How to count tokens with tiktoken" (OpenAI Cookbook), for gpt-3.5-turbo-0613 and later. Raises
    `InputTypeError` for content other than text.
    """
    rows = checked_messages(messages)
    texts = [text for number, row in enumerate(rows) for text in _texts(row, f"messages[{number}]")]
    counts = tokenizer.count_batch(
        texts,
        add_special_tokens=False,
        parse_special=False,
        sampling=Sampling(nbest_size=1),
        num_threads=1,
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
                problem = (
                    f"tokens are estimated for text, not for a value of type {type(part).__name__}"
                )
                raise InputTypeError(f"{place}.{key}", problem)
            yield text


Message: TypeAlias = Mapping[str, Any]

# ---- the most recent turns

_SYSTEM = frozenset(("system", "developer"))
_RESULTS = frozenset(("tool", "function", "ipython", "observation", "environment"))


def fit_messages(
    tokenizer: Tokenizer,
    messages: Sequence[Mapping[str, Any]],
    max_tokens: int,
    **options: Any,
) -> list[Mapping[str, Any]]:
    """Return the system messages and the most recent turns whose prompt has at most `max_tokens` tokens.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    >>> tok = tok.with_chat_template("{% for message in messages %}{{ message.content }}{% endfor %}")
    >>> roles = ("system", "user", "assistant", "user")
    >>> messages = [{"role": role, "content": "aaa"} for role in roles]
    >>> [message["role"] for message in pw.chat.fit_messages(tok, messages, 11)]
    ['system', 'user']

    `options` are arguments of `apply_chat_template`, such as `tools` and `add_generation_prompt`. The count
    is exact: it is the length of `apply_chat_template(result, **options)`, without truncation and padding.
    With the next older turn, the prompt would have more than `max_tokens` tokens.

    A turn is a message of the user and all messages up to the next one. Those before the first one are a turn
    too. A tool result stays in the turn of its call, even if a user message came between, and results
    in messages of the user (blocks of the type "tool_result") begin no turn. Messages of the roles "system"
    and "developer" are kept wherever they are. The messages are those that were passed, not copies.

    The number of turns is doubled and then halved, so the time is near linear in the tokens of the result.
    Raises `ArgumentError` if the system messages and the last turn have more than `max_tokens` tokens, and
    the errors of `apply_chat_template`.
    """
    check_size("max_tokens", max_tokens)
    rows = checked_messages(messages)
    starts = turn_starts(rows)
    whole = tokenizer.without_truncation().without_padding()

    def tokens_of(turns: int) -> int:
        kept = _recent(rows, starts[-turns])
        return len(apply_chat_template(whole, kept, **options).ids)

    least = tokens_of(1)
    if least > max_tokens:
        problem = (
            f"{max_tokens} is too small: the last turn, with the system messages, "
            f"has {least} tokens"
        )
        raise ArgumentError("max_tokens", problem)
    fitting = 1
    while fitting < len(starts) and tokens_of(min(2 * fitting, len(starts))) <= max_tokens:
        fitting = min(2 * fitting, len(starts))
    more = range(fitting + 1, min(2 * fitting, len(starts)))
    fitting += bisect_right(more, max_tokens, key=tokens_of)
    return _recent(rows, starts[-fitting])


def turn_starts(messages: Sequence[Message]) -> list[int]:
    """Return the positions of the messages that begin a turn; there is at least one turn.

    >>> user, call = {"role": "user"}, {"role": "assistant", "tool_calls": [{"id": "a"}]}
    >>> turn_starts([{"role": "system"}, user, call, {"role": "tool", "tool_call_id": "a"}, user])
    [1, 4]
    """
    starts: list[int] = []
    called: dict[object, int] = {}
    reply: int | None = None
    for position, message in enumerate(messages):
        role, results = message.get("role"), list(_answered_calls(message))
        if (role == "user" and not results) if starts else role not in _SYSTEM:
            starts.append(position)
        if role in ASSISTANTS:
            reply = position
            called.update((id, position) for id in _called(message))
        calls = [at for at in (called.get(id, reply) for id in results) if at is not None]
        while calls and len(starts) > 1 and starts[-1] > min(calls):
            starts.pop()
    return starts or [0]


def _recent(messages: Sequence[Message], start: int) -> list[Message]:
    """Return the messages from a position on, and the system messages before it."""
    return [m for at, m in enumerate(messages) if at >= start or m.get("role") in _SYSTEM]


def _called(message: Message) -> Iterator[object]:
    """Yield the ids of the tool calls of a message."""
    for call in _mappings(message.get("tool_calls")):
        yield _id_of(call, "id")
    for block in _mappings(message.get("content")):
        if block.get("type") == "tool_use":
            yield _id_of(block, "id")


def _answered_calls(message: Message) -> Iterator[object]:
    """Yield the id of the call of each tool result in a message, None if it is not known."""
    if message.get("role") in _RESULTS:
        yield _id_of(message, "tool_call_id")
    for block in _mappings(message.get("content")):
        if block.get("type") == "tool_result":
            yield _id_of(block, "tool_use_id")


def _id_of(value: Message, name: str) -> object:
    id = value.get(name)
    return id if isinstance(id, str | int) else None


def _mappings(values: object) -> Iterator[Message]:
    if isinstance(values, list | tuple):
        yield from (value for value in values if isinstance(value, Mapping))
