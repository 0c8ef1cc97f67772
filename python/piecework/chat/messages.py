"""Messages, tools and documents as data of a template, each string with its origin."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from piecework._internal.surrogates import first_surrogate
from piecework._internal.validation import check_type
from piecework.chat.tracked_text import (
    CONTENT,
    FINAL,
    ODD_TURN,
    OTHERS,
    REASONING,
    TEMPLATE,
    TOOL_CALL,
    TOOL_NAME,
    TrackedText,
    plain,
)
from piecework.corpus.conversations import ASSISTANTS, REASONING_FIELDS, ROLES, has_parts
from piecework.errors import ArgumentError, InputTypeError

_PART_OF_FIELD = {
    "content": CONTENT,
    "tool_calls": TOOL_CALL,
    "function_call": TOOL_CALL,
    **dict.fromkeys(REASONING_FIELDS, REASONING),
}
_END_OF_REASONING = re.compile(r"</think>\s*")
_MAX_DEPTH = 100


def checked_messages(messages: object) -> list[Mapping[str, Any]]:
    """Return the messages of a conversation.

    >>> checked_messages([{"role": "user", "content": "hi"}])
    [{'role': 'user', 'content': 'hi'}]

    Raises `InputTypeError` unless they are mappings, and `ArgumentError` if there are none.
    """
    if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Sequence):
        problem = f"must be a list of messages, not {type(messages).__name__}"
        raise InputTypeError("messages", problem)
    for position, message in enumerate(messages):
        if not isinstance(message, Mapping):
            problem = f"must be a mapping with role and content, not {type(message).__name__}"
            raise InputTypeError(f"messages[{position}]", problem)
    if not messages:
        raise ArgumentError("messages", "must contain at least one message")
    return list(messages)


def tracked_messages(
    messages: Sequence[Mapping[str, Any]],
    trusted_roles: Collection[str],
    continued: bool,
) -> list[dict[str, Any]]:
    """Return messages whose strings have origins; fields that are None are left out.

    >>> tracked_messages([{"role": "user", "content": "hi", "name": None}], (), False)
    [{'role': 'user', 'content': 'hi'}]

    Reasoning is available under the names `reasoning_content` and `thinking`, as in transformers. Content,
    reasoning and tool calls of replies have the bits of these parts, and other messages `OTHERS`. With
    `continued`, the content of the last message is marked.
    """
    rows = []
    turns = 0
    for position, message in enumerate(messages):
        place = f"messages[{position}]"
        named = message.get("role")
        check_type(f"{place}.role", named, str | None, "str")
        common = TEMPLATE if named in trusted_roles else 0
        is_masked = is_reply(message)
        if is_masked:
            common |= ODD_TURN if turns % 2 else 0
            turns += 1
        row = {
            _field_name(key, place): _tracked_field(key, value, f"{place}.{key}", is_masked, common)
            for key, value in message.items()
            if value is not None
        }
        role = row.get("role")
        if isinstance(role, str) and role in ROLES:
            row[TrackedText("role", 0)] = TrackedText(role, TEMPLATE)
        reasoning = next((row[key] for key in REASONING_FIELDS if key in row), None)
        if reasoning is not None:
            names = (TrackedText("thinking", 0), TrackedText("reasoning_content", 0))
            row = {names[0]: reasoning, **row, names[1]: reasoning}
        rows.append(row)
    if continued:
        _mark_final(rows[-1])
    return rows


def is_reply(message: Mapping[str, Any]) -> bool:
    """Return whether a message belongs to the mask: one of the assistant with text, and without `weight` 0.

    >>> is_reply({"role": "assistant", "content": "hi"}), is_reply({"role": "user", "content": "hi"})
    (True, False)
    """
    role = message.get("role")
    return role in ASSISTANTS and has_parts(message) and message.get("weight") != 0


def called_names(message: Mapping[str, Any]) -> list[str]:
    """Return the names in the tool calls of a message.

    >>> called_names({"tool_calls": [{"function": {"name": "add", "arguments": {}}}]})
    ['add']
    """
    calls = message.get("tool_calls") or []
    calls = [*calls, message.get("function_call")] if isinstance(calls, (list, tuple)) else []
    places = [
        place
        for call in calls
        if isinstance(call, Mapping)
        for place in (call, call.get("function"))
        if isinstance(place, Mapping)
    ]
    return [place["name"] for place in places if isinstance(place.get("name"), str)]


def _tracked_field(name: str, value: object, place: str, is_masked: bool, common: int) -> Any:
    """Return a field of a message; `common` has the bits of all its characters."""
    if not is_masked:
        return tracked_value(value, place, common | OTHERS)
    part = _PART_OF_FIELD.get(name, 0)
    tracked = tracked_value(value, place, common | part)
    if part == CONTENT:
        return _with_reasoning(tracked)
    if part == TOOL_CALL:
        for call in tracked if isinstance(tracked, list) else [tracked]:
            _mark_name(call)
    return tracked


def _mark_name(call: Any) -> None:
    """Mark the name in a tool call, which is in the call itself or in its function."""
    for place in (call, call.get("function")) if isinstance(call, dict) else ():
        if isinstance(place, dict) and isinstance(place.get("name"), TrackedText):
            place["name"] = place["name"].with_bits(TOOL_NAME)


def _with_reasoning(content: Any) -> Any:
    """Return content in which blocks of reasoning and the characters up to `</think>` count as reasoning."""
    if isinstance(content, TrackedText):
        end = _END_OF_REASONING.search(content)
        return content if end is None else _as_reasoning(content, end.end())
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") in REASONING_FIELDS:
            block |= {k: _as_reasoning(v) for k, v in block.items() if isinstance(v, TrackedText)}
    return content


def _as_reasoning(text: TrackedText, end: int | None = None) -> TrackedText:
    """Return text whose characters up to `end` count as reasoning."""
    table = bytes((origin & ~CONTENT) | REASONING for origin in range(256))
    end = len(text) if end is None else end
    return TrackedText(plain(text), text.origins[:end].translate(table) + text.origins[end:])


def tracked_value(value: object, place: str, origin: int, depth: int = 0) -> Any:
    """Return plain data with an origin for each string.

    >>> tracked_value({"a": ["b"]}, "tools", 0)["a"][0].origins
    b'\\x00'

    Raises `InputTypeError` for anything but strings, numbers, None, lists and mappings of these.
    """
    if depth > _MAX_DEPTH:
        raise ArgumentError(place, f"is nested more than {_MAX_DEPTH} levels deep")
    if isinstance(value, str):
        surrogate = first_surrogate(value)
        if surrogate is not None:
            problem = f"has a lone surrogate at character {surrogate}, which UTF-8 cannot encode"
            raise ArgumentError(place, problem)
        return TrackedText(str.__str__(value), origin)
    if value is None or isinstance(value, bool):
        return value
    # A subclass may have methods that a template could call.
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, Mapping):
        return {
            tracked_value(key, place, origin, depth + 1): tracked_value(
                item, f"{place}.{key}", origin, depth + 1
            )
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        items = (
            tracked_value(item, f"{place}[{at}]", origin, depth + 1)
            for at, item in enumerate(value)
        )
        return type(value)(items) if type(value) in (list, tuple) else list(items)
    raise InputTypeError(
        place,
        "must be a JSON value (a string, a number, None, a list or a mapping), not "
        f"{type(value).__name__}",
    )


def _field_name(name: object, place: str) -> str:
    if not isinstance(name, str):
        problem = f"the name of a field must be str, not {type(name).__name__}"
        raise InputTypeError(place, problem)
    return cast("str", tracked_value(name, place, 0))


def _mark_final(row: dict[str, Any]) -> None:
    content = row.get("content")
    if isinstance(content, TrackedText):
        row["content"] = content.with_bits(FINAL)
        return
    blocks: list[Any] = content if isinstance(content, list) else []
    for block in reversed(blocks):
        if isinstance(block, dict) and isinstance(block.get("text"), TrackedText):
            block["text"] = block["text"].with_bits(FINAL)
            return
    problem = "needs a last message with text to continue"
    raise ArgumentError("continue_final_message", problem)
