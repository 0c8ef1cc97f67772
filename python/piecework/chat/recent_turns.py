"""The most recent turns of a conversation that fit a token budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from piecework._internal.validation import check_size
from piecework.chat.messages import checked_messages
from piecework.corpus.conversations import ASSISTANTS
from piecework.errors import ArgumentError

if TYPE_CHECKING:
    from piecework.tokenizer import Tokenizer


Message: TypeAlias = Mapping[str, Any]

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

    `options` are those of `apply_chat_template`, such as `tools` and `add_generation_prompt`. The count is
    exact: it is the length of `apply_chat_template(result, **options)`, without truncation and padding. With
    the next older turn, the prompt would have more than `max_tokens` tokens.

    A turn is a message of the user and all messages up to the next one. Those before the first one are a turn
    too. A tool result stays in the turn of its call, also if a message of the user came between, and results
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
        return len(whole.apply_chat_template(kept, **options).ids)

    least = tokens_of(1)
    if least > max_tokens:
        problem = (
            f"{max_tokens} is too small: the last turn, with the system messages, "
            f"has {least} tokens"
        )
        raise ArgumentError("max_tokens", problem)
    return _recent(rows, starts[-_most(len(starts), lambda turns: tokens_of(turns) <= max_tokens)])


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


def _most(turns: int, fits: Callable[[int], bool]) -> int:
    """Return a number of turns that fits, as 1 does, and with one turn more does not."""
    most, exceeding = 1, turns + 1
    while most < turns and exceeding > turns:
        tried = min(2 * most, turns)
        if fits(tried):
            most = tried
        else:
            exceeding = tried
    while exceeding - most > 1:
        tried = (most + exceeding) // 2
        if fits(tried):
            most = tried
        else:
            exceeding = tried
    return most


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
