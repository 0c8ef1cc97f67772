"""Conversations from records of JSON lines and of tables: the shapes in which data sets have them.

A conversation becomes messages with `role` and `content`. Rendering them is up to `piecework.chat`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from piecework._internal.surrogates import replace_surrogates
from piecework.corpus.field_path import FieldPath
from piecework.corpus.rows import ReadOptions
from piecework.errors import CorpusError

Message: TypeAlias = dict[str, Any]
Record: TypeAlias = Mapping[str, Any]

FIELDS = ("messages", "conversations", "prompt", "completion", "tools", "system")
"""The fields of a record that make a conversation."""

ROLES = frozenset(
    "assistant developer environment function ipython model observation system tool user".split()
)
"""Values of `role` that are fixed words, not text of a user: templates build special tokens from them."""

ASSISTANTS = frozenset(("assistant", "model"))
"""Values of `role` of the messages that a model writes."""

REASONING_FIELDS = ("reasoning_content", "thinking", "reasoning")
"""The fields of a message that can have its reasoning."""

_PARTS = ("content", "tool_calls", "function_call", *REASONING_FIELDS)
_LISTS = ("messages", "conversations")
_ROLE_OF_SPEAKER = {
    "system": "system",
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "function_call": "assistant",
    "observation": "tool",
    "function_response": "tool",
    "tool": "tool",
}
_LIST_OF_MESSAGES = "a list of messages"
_MISSING = "a missing field"
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class Conversation(str):
    """A conversation; as a string, the text of its messages.

    `messages` and `tools` are the arguments of `apply_chat_template`, `place` says where the record is.
    `label` is what output formats write beside the ids.
    """

    messages: list[Message]
    tools: list[Any] | None
    place: str
    label: dict[str, Any]

    @classmethod
    def of(cls, record: Record, place: str, field: str | None = None) -> Conversation:
        """Read a conversation from a record.

        >>> record = {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Ho"}]}
        >>> Conversation.of(record, "a.jsonl line 1").messages[1]
        {'role': 'assistant', 'content': 'Ho'}

        The record has `messages` (with `role` and `content`), `conversations` (ShareGPT, with `from` and
        `value`), or `prompt` and `completion`, texts or messages; `field` names another field of messages.
        `tools` are a list or JSON. Raises `CorpusError` with the place for a missing field, a role that
        templates do not support, a message without content, and a conversation without messages.
        """
        messages = _messages_of(record, place, field)
        if not messages:
            raise CorpusError(place, "found an empty conversation, expected at least one message")
        self = cls("\n".join(filter(None, map(_text_of, messages))))
        self.messages = messages
        self.tools = _tools_of(record, place)
        self.place = place
        self.label = {}
        return self


def _messages_of(record: Record, place: str, field: str | None) -> list[Message]:
    names = _LISTS if field is None else (field,)
    name = next((name for name in names if record.get(name) is not None), None)
    if name is not None:
        return _with_system(record, _checked_list(record[name], place, name))
    if field is None and record.get("prompt") is not None:
        return [
            *_turn(record, "prompt", "user", place),
            *_turn(record, "completion", "assistant", place),
        ]
    wanted = " and ".join(map(repr, (*names, *(("prompt",) if field is None else ()))))
    known = ", ".join(map(repr, list(record)[:8])) or "no fields"
    problem = f"is missing: there is only {known}; expected one of {wanted}"
    raise CorpusError(f"{place} field {names[0]!r}", problem, kind=_MISSING)


def _turn(record: Record, name: str, role: str, place: str) -> list[Message]:
    """Return the messages of a prompt or a completion, which is a text or messages."""
    value = record.get(name)
    if value is None:
        problem = "is missing: a prompt needs a completion"
        raise CorpusError(f"{place} field {name!r}", problem, kind=_MISSING)
    if isinstance(value, str):
        return [{"role": role, "content": value}]
    messages = _checked_list(value, place, name)
    return messages if role == "assistant" else list(map(_unmasked, messages))


def _unmasked(message: Message) -> Message:
    """Return a message of a prompt, which is not in the mask."""
    return {**message, "weight": 0} if message["role"] in ASSISTANTS else message


def _with_system(record: Record, messages: list[Message]) -> list[Message]:
    """Return the messages after the system message that some records have in a field of their own."""
    system = record.get("system")
    if not isinstance(system, str) or not system or not messages or messages[0]["role"] == "system":
        return messages
    return [{"role": "system", "content": system}, *messages]


def _checked_list(value: object, place: str, name: str) -> list[Message]:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Sequence):
        reason = "messages that are not a list"
        problem = f"found a value of type {type(value).__name__}, expected {_LIST_OF_MESSAGES}"
        raise CorpusError(f"{place} field {name!r}", problem, kind=reason)
    return [_message(row, place, f"{name}[{position}]") for position, row in enumerate(value)]


def _message(row: object, place: str, name: str) -> Message:
    """Return a message with a role that templates support, and with content or tool calls."""
    if not isinstance(row, Mapping):
        problem = f"found a value of type {type(row).__name__}, expected a message"
        raise CorpusError(f"{place} field {name!r}", problem)
    is_of_speaker = "from" in row and "role" not in row
    message = _of_speaker(row, place, name) if is_of_speaker else dict(row)
    role = message.get("role")
    if role is None:
        raise _missing(row, place, f"{name}.role")
    if role not in ROLES:
        raise _unknown_role(role, sorted(ROLES), place, f"{name}.role")
    is_written = message.get("content") is not None
    if not is_written and not (role in ASSISTANTS and has_parts(message)):
        raise _missing(row, place, f"{name}.content")
    return message


def _of_speaker(row: Mapping[str, Any], place: str, name: str) -> Message:
    """Return a message of ShareGPT's `from` and `value` as one with `role` and `content`."""
    speaker, value = row["from"], row.get("value")
    if speaker not in _ROLE_OF_SPEAKER:
        raise _unknown_role(speaker, _ROLE_OF_SPEAKER, place, f"{name}.from")
    if value is None:
        raise _missing(row, place, f"{name}.value")
    if speaker != "function_call":
        return {"role": _ROLE_OF_SPEAKER[speaker], "content": value}
    place = f"{place} field {f'{name}.value'!r}"
    calls = _json(value, place, "a function call as JSON")
    calls = calls if isinstance(calls, list) else [calls]
    functions = [{"type": "function", "function": call} for call in calls]
    return {"role": "assistant", "content": "", "tool_calls": functions}


def _missing(row: Mapping[str, Any], place: str, name: str) -> CorpusError:
    names = ", ".join(map(repr, list(row)[:8])) or "no fields"
    problem = f"is missing: there is only {names}"
    return CorpusError(f"{place} field {name!r}", problem, kind=_MISSING)


def _unknown_role(role: object, known: Iterable[str], place: str, name: str) -> CorpusError:
    place = f"{place} field {name!r}"
    problem = f"found {role!r}, expected a known role ({', '.join(known)})"
    return CorpusError(place, problem, kind="an unknown role")


def _tools_of(record: Record, place: str) -> list[Any] | None:
    tools = record.get("tools") or None
    if isinstance(tools, str):
        tools = _json(tools, f"{place} field 'tools'", "a list of tools as JSON") or None
    if tools is not None and not (isinstance(tools, list) and all(map(_is_mapping, tools))):
        problem = f"found a value of type {type(tools).__name__}, expected tools"
        raise CorpusError(f"{place} field 'tools'", problem)
    return tools


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


def _json(text: object, place: str, expected: str) -> Any:
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorpusError(place, f"found broken JSON, expected {expected}") from error


def _text_of(message: Message) -> str:
    """Return the text of a message, which is never empty if the message has something else."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return "".join(text for text in texts if isinstance(text, str)) or "."


def has_parts(message: Mapping[str, Any]) -> bool:
    """Return whether a message has content, reasoning or tool calls.

    >>> has_parts({"role": "assistant", "content": ""}), has_parts({"content": "hi"})
    (False, True)
    """
    return any(message.get(field) for field in _PARTS)


def conversation_of(
    record: Mapping[str, Any], place: str, options: ReadOptions, line: str = ""
) -> tuple[Conversation, int]:
    """Return the conversation of a record, and the number of lone surrogates that became U+FFFD.

    `line` is the JSON of the record, if it has such text.
    """
    replaced = 0
    if _ESCAPED_SURROGATE.search(line):
        record, replaced = _without_surrogates(record, place, options.encoding_errors)
    if not options.field_is_given:
        return Conversation.of(record, place), replaced
    return Conversation.of(_with_field(record, options.field), place, options.field.key), replaced


def _with_field(record: Mapping[str, Any], field: FieldPath) -> Mapping[str, Any]:
    """Return a record that has a nested field by its whole name, if it exists."""
    value: Any = record
    for name in () if field.key in record else field.path:
        if not isinstance(value, Mapping) or name not in value:
            return record
        value = value[name]
    return record if value is record else {**record, field.key: value}


def conversation_columns(names: Sequence[str], place: str, options: ReadOptions) -> list[str]:
    """Return the columns of a table that make conversations; raises `CorpusError` without any."""
    field = options.field
    wanted = list(FIELDS)
    if options.field_is_given:
        wanted = [field.key if field.key in names else field.path[0], "tools"]
    found = [name for name in wanted if names.count(name) == 1]
    if found in ([], ["tools"], ["system"], ["tools", "system"]):
        listed = ", ".join(map(repr, names[:8])) or "no columns"
        expected = " or ".join(map(repr, wanted[:1] if options.field_is_given else FIELDS[:3]))
        problem = f"has no column {expected}; it has {listed}"
        raise CorpusError(place, problem, kind="a table without messages")
    return found


def without_nulls(value: Any) -> Any:
    """Return data without the fields that are None, which columns of structs add to each row.

    >>> without_nulls([{"role": "user", "name": None}])
    [{'role': 'user'}]
    """
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return list(map(without_nulls, value)) if isinstance(value, list) else value


def _without_surrogates(value: Any, place: str, encoding_errors: str) -> tuple[Any, int]:
    """Return data with U+FFFD for lone surrogates in its strings, and their number."""
    if isinstance(value, str):
        return replace_surrogates(value, place, encoding_errors)
    if isinstance(value, dict):
        pairs = _without_surrogates([list(pair) for pair in value.items()], place, encoding_errors)
        return dict(pairs[0]), pairs[1]
    if isinstance(value, list):
        items = [_without_surrogates(item, place, encoding_errors) for item in value]
        return [item for item, _ in items], sum(replaced for _, replaced in items)
    return value, 0
