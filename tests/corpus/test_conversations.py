"""Conversations from records of the usual shapes, and what is wrong with others."""

from __future__ import annotations

from typing import Any

import pytest

from piecework.corpus.conversations import Conversation
from piecework.errors import CorpusError

HI = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]
TOOL = {"type": "function", "function": {"name": "add"}}


def messages_of(record: dict[str, Any], field: str | None = None) -> list[dict[str, Any]]:
    return Conversation.of(record, "a.jsonl line 7", field).messages


@pytest.mark.parametrize(
    "record",
    [
        {"messages": HI, "id": 3},
        {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Ho"}]},
        {"conversations": HI},
        {"prompt": "Hi", "completion": "Ho"},
        {"prompt": HI[:1], "completion": HI[1:]},
        {"messages": None, "prompt": "Hi", "completion": HI[1:]},
    ],
)
def test_shapes_have_the_same_messages(record: dict[str, Any]) -> None:
    conversation = Conversation.of(record, "a.jsonl line 7")
    assert conversation.messages == HI
    assert conversation == "Hi\nHo"


def test_replies_in_a_prompt_are_not_masked() -> None:
    prompt = [*HI, {"role": "user", "content": "So?"}]
    messages = messages_of({"prompt": prompt, "completion": "Yes."})
    assert [message.get("weight") for message in messages] == [None, 0, None, None]
    messages = messages_of({"prompt": HI[:1], "completion": HI[1:]})
    assert messages == HI


def test_a_field_names_the_messages() -> None:
    assert messages_of({"chat": HI, "messages": "no"}, "chat") == HI


def test_a_system_message_in_a_field_of_its_own_comes_first() -> None:
    speakers = [{"from": "user", "value": "Hi"}]
    record = {"conversations": speakers, "system": "Be short."}
    assert messages_of(record)[0] == {"role": "system", "content": "Be short."}
    assert messages_of({"messages": HI, "system": ""}) == HI
    own = [{"role": "system", "content": "Mine"}, *HI]
    assert messages_of({"messages": own, "system": "Other"}) == own


def test_roles_of_tool_messages_are_read() -> None:
    call = '{"name": "add", "arguments": {"a": 1}}'
    speakers = [
        {"from": "human", "value": "?"},
        {"from": "function_call", "value": call},
        {"from": "observation", "value": "2"},
    ]
    record = {"conversations": speakers, "tools": '[{"name": "add"}]'}
    conversation = Conversation.of(record, "a.jsonl line 7")
    assert [row["role"] for row in conversation.messages] == ["user", "assistant", "tool"]
    [found] = conversation.messages[1]["tool_calls"]
    assert found["function"] == {"name": "add", "arguments": {"a": 1}}
    assert conversation.tools == [{"name": "add"}]
    assert Conversation.of({"messages": HI, "tools": [TOOL]}, "x").tools == [TOOL]
    assert Conversation.of({"messages": HI, "tools": []}, "x").tools is None


def test_messages_with_tool_calls_need_no_content() -> None:
    messages = [*HI[:1], {"role": "assistant", "content": None, "tool_calls": [TOOL]}]
    assert messages_of({"messages": messages}) == messages


BAD: list[tuple[dict[str, Any], str]] = [
    (
        {"messages": []},
        "a.jsonl line 7: found an empty conversation, expected at least one message",
    ),
    ({"text": "x"}, "field 'messages': is missing: there is only 'text'"),
    ({}, "field 'messages': is missing: there is only no fields"),
    (
        {"messages": "Hi"},
        "field 'messages': found a value of type str, expected a list of messages",
    ),
    ({"messages": {"role": "user"}}, "field 'messages': found a value of type dict"),
    ({"messages": ["Hi"]}, r"field 'messages\[0\]': found a value of type str, expected a message"),
    ({"messages": [*HI, {"content": "x"}]}, r"field 'messages\[2\]\.role': is missing"),
    (
        {"messages": [{"role": "bot", "content": "x"}]},
        r"'messages\[0\]\.role': found 'bot', expected a known",
    ),
    (
        {"messages": [{"role": 3, "content": "x"}]},
        r"'messages\[0\]\.role': found 3, expected a known role",
    ),
    (
        {"messages": [{"role": "user"}]},
        r"'messages\[0\]\.content': is missing: there is only 'role'",
    ),
    (
        {"messages": [{"role": "assistant", "content": None}]},
        r"'messages\[0\]\.content': is missing",
    ),
    (
        {"conversations": [{"from": "bing", "value": "x"}]},
        r"\.from': found 'bing', expected a known",
    ),
    ({"conversations": [{"from": "human"}]}, r"'conversations\[0\]\.value': is missing"),
    ({"conversations": [{"from": "function_call", "value": "{"}]}, "found broken JSON"),
    ({"prompt": "Hi"}, "field 'completion': is missing: a prompt needs a completion"),
    ({"messages": HI, "tools": "{"}, "field 'tools': found broken JSON"),
    ({"messages": HI, "tools": [1]}, "field 'tools': found a value of type list"),
]


@pytest.mark.parametrize(("record", "message"), BAD)
def test_other_records_are_errors_with_their_place(record: dict[str, Any], message: str) -> None:
    with pytest.raises(CorpusError, match=message) as raised:
        messages_of(record)
    assert str(raised.value).startswith("a.jsonl line 7")
