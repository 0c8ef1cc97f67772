"""The most recent turns of a conversation that fit a token budget: exact, by whole turns, in linear time."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import ArgumentError, InputTypeError, UnknownNameError
from tests.chats import CONVERSATIONS, TEMPLATES, TOOLS, chat_tokenizer

pytest.importorskip("jinja2")

Messages = list[dict[str, Any]]
CALL = {"function": {"name": "weather", "arguments": {"city": "Zürich"}}}
TEXT = st.sampled_from(
    ["Hello!", "What's 1 + 1?\n", " 2 ", "北京 🤗 é", "yes " * 9, "<|im_end|>", "a"]
)
CHARACTERS = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).with_chat_template(
    "{% for message in messages %}{{ message.content }}{% endfor %}"
)


@cache
def tokenizer(template: str) -> pw.Tokenizer:
    texts = [*TEMPLATES.values(), *map(str, CONVERSATIONS.values())]
    tok = pw.Tokenizer.train_from_iterator(texts, model="byte-bpe", vocab_size=400)
    return chat_tokenizer(tok, TEMPLATES[template])


@st.composite
def turns(draw: st.DrawFn) -> Messages:
    """Draw a turn: a question, and perhaps calls with their results, and an answer."""
    turn: Messages = [{"role": "user", "content": draw(TEXT)}]
    for _ in range(draw(st.integers(0, 2))):
        turn.append({"role": "assistant", "content": draw(TEXT), "tool_calls": [CALL]})
        turn.append({"role": "tool", "name": "weather", "content": draw(TEXT)})
    if draw(st.booleans()):
        turn.append({"role": "assistant", "content": draw(TEXT)})
    return turn


def size(tok: pw.Tokenizer, messages: Messages, **options: Any) -> int:
    return len(tok.apply_chat_template(messages, **options).ids)


@given(
    st.sampled_from(sorted(TEMPLATES)),
    st.lists(st.fixed_dictionaries({"role": st.just("system"), "content": TEXT}), max_size=1),
    st.lists(turns(), min_size=1, max_size=9),
    st.booleans(),
    st.booleans(),
    st.data(),
)
@settings(max_examples=150)
def test_the_result_equals_that_of_trying_each_number_of_turns(
    template: str,
    system: Messages,
    conversation: list[Messages],
    prompts: bool,
    has_tools: bool,
    data: st.DataObject,
) -> None:
    tok = tokenizer(template)
    options: dict[str, Any] = {
        "add_generation_prompt": prompts,
        "tools": TOOLS if has_tools else None,
    }
    recent = [
        [*system, *(one for turn in conversation[start:] for one in turn)]
        for start in range(len(conversation))
    ][::-1]
    sizes = [size(tok, messages, **options) for messages in recent]
    budget = data.draw(st.one_of(st.sampled_from(sizes), st.integers(sizes[0] - 2, sizes[-1] + 2)))
    messages = [*system, *(one for turn in conversation for one in turn)]
    if sizes[0] > budget:
        with pytest.raises(
            ArgumentError, match=f"max_tokens: {budget} is too small: .* has {sizes[0]} tokens"
        ):
            pw.chat.fit_messages(tok, messages, budget, **options)
        return
    result = pw.chat.fit_messages(tok, messages, budget, **options)
    turns = recent.index(result)
    assert sizes[turns] <= budget
    assert budget < [*sizes, budget + 1][turns + 1]
    if sizes == sorted(sizes):  # a template can write less with more messages
        assert turns == sum(tokens <= budget for tokens in sizes) - 1
    assert all(any(one is other for other in messages) for one in result)


ROLES = ("system", "developer", "user", "assistant", "tool")
WILD = st.lists(
    st.builds(
        lambda role, id: {
            "role": role,
            "content": "a",
            **({"tool_calls": [{**CALL, "id": id}]} if role == "assistant" and id else {}),
            **({"tool_call_id": id} if role == "tool" and id else {}),
        },
        st.sampled_from(ROLES),
        st.sampled_from([None, "x", "y"]),
    ),
    min_size=1,
    max_size=12,
)


@given(WILD, st.integers(0, 12))
@settings(max_examples=400)
def test_no_result_loses_its_call_and_no_system_message_is_dropped(
    messages: Messages, budget: int
) -> None:
    try:
        kept = pw.chat.fit_messages(CHARACTERS, messages, budget)
    except ArgumentError:
        return
    assert size(CHARACTERS, kept) == len(kept) <= budget
    positions = [next(at for at, m in enumerate(messages) if m is one) for one in kept]
    assert positions == sorted(positions)
    dropped = [m for m in messages if not any(m is one for one in kept)]
    assert all(m["role"] not in ("system", "developer") for m in dropped)
    for at, message in enumerate(messages):
        if message["role"] != "tool" or message in dropped or not any(message is m for m in kept):
            continue
        id = message.get("tool_call_id")
        calls = [m for m in messages[:at] if m["role"] == "assistant"]
        named = [m for m in calls if id and any(c["id"] == id for c in m.get("tool_calls", []))]
        if named or calls:
            call = (named or calls)[-1]
            assert any(call is m for m in kept)


def roles(messages: Any) -> list[str]:
    return [message["role"] for message in messages]


def test_turns_begin_with_messages_of_the_user() -> None:
    greeting = {"role": "assistant", "content": "a"}
    user, answer = {"role": "user", "content": "a"}, {"role": "assistant", "content": "a"}
    system, later = {"role": "system", "content": "a"}, {"role": "developer", "content": "a"}
    messages = [system, greeting, user, answer, later, user, answer]
    fitting = {budget: pw.chat.fit_messages(CHARACTERS, messages, budget) for budget in range(4, 8)}
    assert roles(fitting[4]) == ["system", "developer", "user", "assistant"]
    assert fitting[5] == fitting[4]
    assert fitting[6] == messages[:1] + messages[2:]
    assert fitting[7] == messages
    assert pw.chat.fit_messages(CHARACTERS, [system], 1) == [system]


def test_a_result_that_comes_after_the_next_question_keeps_its_call() -> None:
    user = {"role": "user", "content": "a"}
    call = {"role": "assistant", "content": "a", "tool_calls": [{**CALL, "id": "x"}]}
    result = {"role": "tool", "content": "a", "tool_call_id": "x"}
    messages = [user, user, call, user, result, user]
    assert pw.chat.fit_messages(CHARACTERS, messages, 4) == [user]
    assert pw.chat.fit_messages(CHARACTERS, messages, 5) == messages[1:]
    with pytest.raises(
        ArgumentError, match="the last turn, with the system messages, has 4 tokens"
    ):
        pw.chat.fit_messages(CHARACTERS, messages[:-1], 3)


def test_results_in_messages_of_the_user_stay_with_their_call() -> None:
    template = "{% for message in messages %}a{% endfor %}"
    tok = CHARACTERS.with_chat_template(template)
    user = {"role": "user", "content": "a"}
    call = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "x", "name": "f", "input": {}}],
    }
    result = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "x", "content": "a"}],
    }
    messages = [user, user, call, result]
    assert pw.chat.fit_messages(tok, messages, 3) == messages[1:]
    with pytest.raises(ArgumentError, match="has 3 tokens"):
        pw.chat.fit_messages(tok, messages, 2)


def test_truncation_and_padding_do_not_change_the_count() -> None:
    messages = [{"role": "user", "content": "aaa"}] * 4
    for tok in (CHARACTERS.with_truncation(2), CHARACTERS.with_padding(40, pad_id=0)):
        assert len(pw.chat.fit_messages(tok, messages, 7)) == 2


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: pw.chat.fit_messages(CHARACTERS, [], 9), ArgumentError, "messages: must contain"),
        (
            lambda: pw.chat.fit_messages(CHARACTERS, "a", 9),
            InputTypeError,
            "messages: must be a list",
        ),
        (
            lambda: pw.chat.fit_messages(CHARACTERS, [{"role": "user"}], -1),
            ArgumentError,
            "max_tokens",
        ),
        (
            lambda: pw.chat.fit_messages(CHARACTERS, [{"role": "user"}], 9, tokenize=False),
            InputTypeError,
            "tokenize: is not an argument of apply_chat_template",
        ),
        (
            lambda: pw.chat.fit_messages(
                CHARACTERS.with_chat_template(None), [{"role": "user"}], 9
            ),
            UnknownNameError,
            "template",
        ),
    ],
)
def test_wrong_arguments_are_refused(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_a_long_conversation_takes_time_near_its_result(monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: list[int] = []
    original = pw.Tokenizer.apply_chat_template

    def counted(tok: pw.Tokenizer, messages: Messages, **options: Any) -> Any:
        rendered.append(len(messages))
        return original(tok, messages, **options)

    monkeypatch.setattr(pw.Tokenizer, "apply_chat_template", counted)
    pair = [{"role": "user", "content": "a" * 50}, {"role": "assistant", "content": "a" * 50}]
    for turns, budget in ((100, 100), (1_000, 10_000), (20_000, 10_000), (1_000, 90_000)):
        rendered.clear()
        kept = pw.chat.fit_messages(CHARACTERS, pair * turns, budget)
        assert len(kept) == budget // 100 * 2
        assert max(rendered) <= 2 * len(kept)
        assert sum(rendered) <= (4 + 2 * math.log2(len(kept))) * len(kept)
