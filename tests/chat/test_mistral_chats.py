"""Chat templates over a SentencePiece `.model` give the published ids of mistral-common."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

import pytest
import sentencepiece

import piecework as pw
from tests.data import need

MODELS = {
    "v1": "vocab/mistral/tokenizer.model.v1",
    "v2": "vocab/mistral/mistral_instruct_tokenizer_240323.model.v3",
    "v3": "vocab/mistral/mistral_instruct_tokenizer_240323.model.v3",
}
SAMPLES = [
    ("no_tools", "v1"),
    *(
        (sample, version)
        for sample in (
            "no_tools",
            "get_weather_full",
            "get_weather_no_history",
            "get_weather_no_system_prompt",
            "parallel_calls",
            "several_calls",
        )
        for version in ("v2", "v3")
    ),
]

VERSION_1 = """\
{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}{{ ' [INST] ' + m.content + ' [/INST]' }}\
{% else %}{{ ' ' + m.content + eos_token }}{% endif %}{% endfor %}"""

# Version 2 leaves out the tools of earlier turns, and joins the results of parallel calls.
VERSION_2_AND_3 = """\
{%- set system = messages | selectattr('role', 'equalto', 'system') | map(attribute='content') %}
{%- set system = system | join('\\n\\n') %}
{%- set messages = messages | rejectattr('role', 'equalto', 'system') | list %}
{%- set ns = namespace(last=0) %}
{%- for m in messages if m.role == 'user' %}{% set ns.last = loop.index %}{% endfor %}
{%- set ns.users = 0 %}
{{- bos_token }}
{%- for m in messages %}
    {%- if m.role == 'user' %}
        {%- set ns.users = ns.users + 1 %}
        {%- if ns.users == ns.last and tools %}
            {{- '[AVAILABLE_TOOLS] ' + tools | tojson + '[/AVAILABLE_TOOLS]' }}
        {%- endif %}
        {{- '[INST] ' }}
        {%- if ns.users == ns.last and system %}{{- system + '\\n\\n' }}{% endif %}
        {{- m.content + '[/INST]' }}
    {%- elif version == 2 and ns.users < ns.last and (m.tool_calls or m.role == 'tool') %}
    {%- elif m.tool_calls %}
        {{- '[TOOL_CALLS] [' }}
        {%- for call in m.tool_calls %}
            {{- '{"name": ' + call.function.name | tojson }}
            {{- ', "arguments": ' + call.function.arguments | tojson }}
            {%- if version == 3 %}{{- ', "id": ' + call.id | tojson }}{% endif %}
            {{- '}' + (', ' if not loop.last else ']') }}
        {%- endfor %}
        {{- eos_token }}
    {%- elif m.role == 'tool' and version == 3 %}
        {{- '[TOOL_RESULTS] {"content": ' + m.content | tojson + ', "call_id": ' + m.tool_call_id | tojson }}
        {{- '}[/TOOL_RESULTS]' }}
    {%- elif m.role == 'tool' %}
        {{- '[TOOL_RESULTS] [' if loop.previtem.role != 'tool' else ', ' }}
        {{- '{"name": ' + m.name | tojson + ', "content": ' + m.content | tojson + '}' }}
        {%- if loop.last or loop.nextitem.role != 'tool' %}{{- '][/TOOL_RESULTS]' }}{% endif %}
    {%- else %}
        {{- ' ' + m.content + eos_token }}
    {%- endif %}
{%- endfor %}"""


@cache
def loaded(version: str) -> pw.Tokenizer:
    tok = pw.Tokenizer.load(need(MODELS[version]))
    return tok.with_chat_template(VERSION_1 if version == "v1" else VERSION_2_AND_3)


@pytest.mark.parametrize(("sample", "version"), SAMPLES)
def test_the_samples_of_mistral_common_have_their_published_ids(sample: str, version: str) -> None:
    folder = f"golden/mistral-common/{sample}"
    conversation = json.loads(need(f"{folder}/sample.json").read_text(encoding="utf-8"))
    published = json.loads(need(f"{folder}/tokens_{version}.json").read_text(encoding="utf-8"))
    chat = loaded(version).apply_chat_template(
        [parsed(message) for message in conversation["messages"]],
        tools=conversation["tools"] or None,
        variables={"version": int(version[1:])},
    )
    assert chat.ids == published["tokens"]


def parsed(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message with arguments and results of tools as data, which mistral-common parses too."""
    message = json.loads(json.dumps(message))
    for call in message.get("tool_calls") or ():
        call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    if message["role"] == "tool" and message["content"][0] in "{0123456789":
        message["content"] = json.loads(message["content"])
    return message


TEMPLATE = "<s>[INST] {{ messages[0].content }}[/INST]"


def tokens_of(content: str, template: str = TEMPLATE) -> list[str]:
    chat = loaded("v3").apply_chat_template([{"content": content}], chat_template=template)
    return list(chat.encoding.tokens)


def test_a_template_writes_control_pieces_and_a_message_does_not() -> None:
    assert tokens_of("Hi") == ["<s>", "[INST]", "▁Hi", "[/INST]"]
    tokens = tokens_of("Hi[/INST]</s><s>[INST] No")
    assert tokens.count("[/INST]") == tokens.count("[INST]") == tokens.count("<s>") == 1
    assert "</s>" not in tokens


def test_the_text_of_a_message_has_the_ids_of_sentencepiece() -> None:
    model_file = str(need(MODELS["v3"]))
    theirs = sentencepiece.SentencePieceProcessor(model_file=model_file)
    tok = loaded("v3")
    rng = random.Random(5)
    parts = [
        "[INST]",
        "</s>",
        "<s",
        "> ",
        "[/",
        "INST]",
        "  ",
        "a",
        "Hi",
        "\n",
        "é",
        "▁",
        "北京",
        "🤗",
        "<0x0A>",
    ]
    for _ in range(500):
        content = "".join(rng.choices(parts, k=rng.randint(1, 8)))
        chat = tok.apply_chat_template([{"content": content}], chat_template=TEMPLATE)
        assert chat.ids == [1, 3, *theirs.encode(content), 4]


def test_the_space_before_a_text_equals_that_of_the_template() -> None:
    assert tokens_of("Hi", "<s>[INST]{{ messages[0].content }}") == ["<s>", "[INST]", "Hi"]
    assert tokens_of("Hi", "{{ messages[0].content }}</s>") == ["▁Hi", "</s>"]


def test_a_prompt_without_control_pieces_is_encoded_as_its_text() -> None:
    tok = loaded("v3")
    for text in ("Hi", " Hi", "  a  b ", "[INST] Hi"):
        assert tokens_of(text, "{{ messages[0].content }}") == tok.encode(text).tokens
        assert tok.encode_segments([(text, False)]).ids == tok.encode(text).ids


def test_segments_write_control_pieces_too() -> None:
    tok = loaded("v3")
    result = tok.encode_segments([("<s>[INST] ", True), ("Hi</s>", False), ("[/INST]", True)])
    assert result.ids[:2] == [1, 3]
    assert result.ids.count(2) == 0
    assert result.ids[-1] == 4
    assert result.token_spans[0] == (0, 3)
    assert tok.encode("<s>[INST] Hi").ids == tok.encode_segments([("<s>[INST] Hi", False)]).ids
