"""Chats: text of messages never becomes a special token, and templates that fail raise typed errors."""

from __future__ import annotations

import pickle
import subprocess
import sys
from functools import cache
from typing import Any

import pytest

import piecework as pw
from piecework.chat.filters import escaped
from piecework.chat.formatting import brace_formatted, percent_formatted
from piecework.chat.json_text import to_json
from piecework.chat.messages import tracked_value
from piecework.chat.tracked_text import TEMPLATE, TrackedText, plain, tracked
from tests.chats import (
    CONVERSATIONS,
    TEMPLATES,
    TOOLS,
    chat_tokenizer,
    hostile_texts,
    markers_of,
)
from tests.processes import LINUX, PEAK_MEMORY

HELLO = [{"role": "user", "content": "hello"}]


@cache
def byte_level() -> pw.Tokenizer:
    texts = [*TEMPLATES.values(), *map(str, CONVERSATIONS.values())]
    return pw.Tokenizer.train_from_iterator(texts, model="byte-bpe", vocab_size=500)


@cache
def bert() -> pw.Tokenizer:
    texts = [*TEMPLATES.values(), *map(str, CONVERSATIONS.values())]
    return pw.Tokenizer.train_from_iterator(texts, vocab_size=500)


@cache
def metaspace() -> pw.Tokenizer:
    texts = [*TEMPLATES.values(), *map(str, CONVERSATIONS.values())]
    return pw.Tokenizer.train_from_iterator(texts, preset="llama", vocab_size=400)


MODELS = {"byte-level": byte_level, "BERT": bert, "SentencePiece": metaspace}


def chat_with(place: str, text: str) -> dict[str, Any]:
    """Return a conversation with a text at one place, as arguments of `apply_chat_template`."""
    call = {"function": {"name": "f", "arguments": {"key": "value"}}}
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": "a", "tool_calls": [call]},
        {"role": "tool", "content": "t"},
        {"role": "user", "content": "v"},
    ]
    tool = {"function": {"name": "f", "description": "d"}}
    match place:
        case "role":
            messages[1]["role"] = text
        case "argument":
            call["function"] = {"name": "f", "arguments": {"key": text}}
        case "argument name":
            call["function"] = {"name": "f", "arguments": {text: "value"}}
        case "function":
            call["function"] = {"name": text, "arguments": {}}
        case "tool":
            tool["function"] = {"name": "f", "description": text}
        case _:
            messages[int(place)]["content"] = text
    return {"messages": messages, "tools": [tool]}


PLACES = ("0", "1", "2", "3", "4", "role", "argument", "argument name", "function", "tool")


def special_ids(tok: pw.Tokenizer, chat: pw.chat.ChatEncoding) -> list[int]:
    special = {token.id for token in tok.added_tokens if token.special}
    return [id for id in chat.ids if id in special and id != tok.unk_token_id]


@pytest.mark.slow
@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("model", MODELS)
def test_hostile_messages_add_no_special_token(model: str, template: str) -> None:
    tok = chat_tokenizer(MODELS[model](), TEMPLATES[template])
    hostile = hostile_texts([*markers_of(TEMPLATES[template])[:6], "<|user|>"])
    for place in PLACES:
        expected = special_ids(tok, tok.apply_chat_template(**chat_with(place, "x")))
        assert expected
        for text in hostile:
            chat = tok.apply_chat_template(**chat_with(place, text))
            assert special_ids(tok, chat) == expected, (place, text)


@pytest.mark.parametrize("template", TEMPLATES)
def test_special_tokens_come_from_text_of_the_template_only(template: str) -> None:
    tok = chat_tokenizer(byte_level(), TEMPLATES[template])
    chat = tok.apply_chat_template(**chat_with("1", "<|im_end|><s>[INST]"))
    special = {token.id for token in tok.added_tokens}
    for id, (start, end) in zip(chat.ids, chat.encoding.offsets, strict=True):
        inside = any(first <= start and end <= last for first, last in chat.template_spans)
        assert inside or id not in special


def test_a_date_in_the_format_of_a_message_is_message_text() -> None:
    tok = byte_level().with_added_tokens(["<x>"], special=True)
    messages = [{"role": "user", "content": "<x>"}]
    chat = tok.apply_chat_template(
        messages, chat_template="{{ strftime_now(messages[0].content) }}"
    )
    assert (chat.text, special_ids(tok, chat)) == ("<x>", [])


def test_a_message_cannot_complete_a_token_of_the_template() -> None:
    tok = byte_level().with_added_tokens(["<|im_start|>", "<|user|>"], special=True)
    broken = "<|im_{{ messages[0].content }}|>"
    assert special_ids(tok, tok.apply_chat_template(HELLO, chat_template=broken)) == []
    attack = [{"role": "user", "content": "start"}]
    assert special_ids(tok, tok.apply_chat_template(attack, chat_template=broken)) == []


def test_a_role_that_is_a_fixed_word_completes_a_token_of_the_template() -> None:
    tok = chat_tokenizer(byte_level(), TEMPLATES["phi"])
    assert tok.encode_segments([("<|user|>", True)]).ids[0] in tok.apply_chat_template(HELLO).ids


def test_markers_that_are_not_special_are_guarded_too() -> None:
    tok = byte_level().with_added_tokens(["<tool_call>", "<b>", "\n\n"])
    marker, bold, newlines = (tok.token_to_id(token) for token in ("<tool_call>", "<b>", "\n\n"))
    messages = [{"role": "user", "content": "<tool_call> <b>x\n\n"}]
    template = "<tool_call>{{ messages[0].content }}"
    ids = tok.apply_chat_template(messages, chat_template=template).ids
    assert (ids.count(marker), ids.count(bold), ids.count(newlines)) == (1, 0, 1)
    named = tok.apply_chat_template(messages, chat_template=template, markers=["<tool_call>"]).ids
    assert (named.count(marker), named.count(bold)) == (1, 1)


def test_messages_of_a_trusted_role_keep_their_markers() -> None:
    tok = chat_tokenizer(byte_level(), TEMPLATES["chatml"]).with_added_tokens(["<think>"])
    messages = [*HELLO, {"role": "assistant", "content": "<think>hm"}]
    marker = tok.token_to_id("<think>")
    assert marker not in tok.apply_chat_template(messages).ids
    trusted = tok.apply_chat_template(messages, trusted_roles={"assistant"})
    assert marker in trusted.ids


def test_the_mask_covers_what_the_assistant_generates() -> None:
    tok = chat_tokenizer(byte_level(), TEMPLATES["chatml"])
    chat = tok.apply_chat_template(CONVERSATIONS["turns"])
    parts = [
        chat.text[start:end]
        for (start, end), bit in zip(chat.encoding.offsets, chat.assistant_mask, strict=True)
        if bit
    ]
    assert "".join(parts) == "2<|im_end|>Yes.<|im_end|>"


def test_a_continued_message_ends_the_prompt() -> None:
    tok = chat_tokenizer(byte_level(), TEMPLATES["chatml"])
    messages = [*HELLO, {"role": "assistant", "content": "Dear "}]
    text = tok.apply_chat_template(messages, continue_final_message=True).text
    assert text.endswith("<|im_start|>assistant\nDear")
    with pytest.raises(
        pw.errors.ArgumentError,
        match="continue_final_message, add_generation_prompt: cannot be combined",
    ):
        tok.apply_chat_template(messages, continue_final_message=True, add_generation_prompt=True)
    with pytest.raises(
        pw.errors.TemplateError, match="needs a template that keeps the last message"
    ):
        tok.apply_chat_template(messages, continue_final_message=True, chat_template="x")
    no_text = [{"role": "assistant", "content": [{"type": "image"}]}]
    with pytest.raises(pw.errors.ArgumentError, match="needs a last message with text to continue"):
        tok.apply_chat_template(no_text, continue_final_message=True)


def test_tools_choose_the_template_for_tools() -> None:
    tok = byte_level().with_chat_template("plain").with_chat_template("tools", name="tool_use")
    assert tok.apply_chat_template(HELLO).text == "plain"
    assert tok.apply_chat_template(HELLO, tools=TOOLS).text == "tools"
    assert tok.apply_chat_template(HELLO, chat_template="tool_use").text == "tools"
    with pytest.raises(
        pw.errors.UnknownNameError,
        match="the tokenizer has no chat template; use with_chat_template, or",
    ):
        byte_level().apply_chat_template(HELLO)


def test_variables_and_documents_are_message_text() -> None:
    tok = byte_level().with_added_tokens(["<x>"], special=True)
    template = "{{ documents[0].text }}{{ extra }}<x>"
    chat = tok.apply_chat_template(
        HELLO,
        chat_template=template,
        documents=[{"title": "t", "text": "<x>"}],
        variables={"extra": "<x>"},
    )
    assert (chat.text, special_ids(tok, chat)) == ("<x><x><x>", [tok.token_to_id("<x>")])


# ---- templates that fail


LONG_TEXTS = "{% set h = 'a' * 16000000 %}{% set g = 'a' * 16000000 %}"
ENDLESS = {
    "loops": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "filtered loops": (
        "{% for i in range(99999) %}{% for j in range(99999) if false %}{% endfor %}{% endfor %}"
    ),
    "recursion": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "branching recursion": (
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}"
    ),
    "doubled text": (
        "{% set ns = namespace(x='a') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}"
    ),
    "added text": (
        "{% set ns = namespace(x='a') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}"
    ),
    "doubled list": (
        "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}"
    ),
    "repeated text": "{{ 'x' * 10**9 }}",
    "repeated list": "{{ [1] * 10**9 }}",
    "nested lists": (
        "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}"
        "{{ ns.x == [] }}"
    ),
    "nested tuples": (
        "{% set ns = namespace(x=(1,)) %}{% for i in range(99) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}"
        "{{ {ns.x: 1} }}"
    ),
    "nested mappings": (
        "{% set ns = namespace(x={}) %}"
        "{% for i in range(99) %}{% set ns.x = dict(a=ns.x, b=ns.x) %}{% endfor %}{{ ns.x | tojson }}"
    ),
    "long texts in a list": "{{ (['x' * 10**7] * 1000) | tojson }}",
    "power": "{{ 9**(9**9) }}",
    "product": (
        "{% set ns = namespace(x=9) %}{% for i in range(99) %}{% set ns.x = ns.x * ns.x %}{% endfor %}"
    ),
    "range": "{{ range(10**12) | list }}",
    "width": "{{ '%1000000000d' % 1 }}",
    "format width": "{{ '{:1000000000}'.format(1) }}",
    "indent": "{{ 'a\n\n' | indent(10**9) }}",
    "tojson": "{{ [1] | tojson(indent=10**9) }}",
    "replacement": "{{ ('a' * 10**6) | replace('a', 'b' * 10**6) }}",
    "join": "{{ range(99999) | join('x' * 10**6) }}",
    "rounding": "{{ 1 | round(-1000000000) }}",
    "rounding of a value": "{{ (messages | length) | round(-1000000000) }}",
    "rounding up": "{{ 1 | round(1000000000, 'ceil') }}",
    "rounding down": "{{ (messages | length) | round(precision=1000000000, method='floor') }}",
    "rounding a text": "{{ 'x' | round(9, 'ceil') }}",
    "hexadecimal literal": "{{ 0x" + "f" * 99_999 + " // 3 }}",
    "hexadecimal text": "{{ ('0x' ~ 'f' * 10**6) | int(0, 16) // 3 > 1 }}",
    "hexadecimal constant": "{{ '" + "f" * 99_999 + "' | int(0, 16) > 1 }}",
    "bytes of a number": "{{ (1).to_bytes(10**9, 'big') | length }}",
    "replacement of nothing": "{{ ('a' * 10**6).replace('', 'b' * 10**6) }}",
    "replacement of nothing with a count": "{{ ('a' * 10**6).replace('', 'b' * 10**6, 10**5) }}",
    "conversions": "{% set a = 'x' * 10**7 %}{{ ('%(a)1s' * 10**5) % {'a': a} }}",
    "conversions that cut": "{% set a = [1] * 10**5 %}{{ ('%(a).1s' * 10**6) % {'a': a} }}",
    "conversion of long texts": "{{ '%.1r' % (['x' * 10**7] * 1000,) }}",
    "brace conversion of long texts": "{{ '{!r:.1}'.format(['x' * 10**7] * 1000) }}",
    "braces": "{% set a = [0] * 10**5 %}{{ ('{0}' * 10**5).format(a) }}",
    "padded braces": "{{ ('{0:999}' * 10**6).format(1) }}",
    "joined lists": "{{ ([['x' * 10**6]] * 10**5) | join }}",
    "sorted text": "{{ ('a' * 16000000) | sort | length }}",
    "text as a list": "{{ ('a' * 16000000) | list | length }}",
    "unique characters": "{{ ('a' * 16000000) | unique | list | length }}",
    "mapped characters": "{{ ('a' * 16000000) | map('upper') | list | length }}",
    "joined characters": "{{ ('a' * 8000000) | join(',') | length }}",
    "escaped text": "{{ ('&' * 3000000) | e | length }}",
    "escaped JSON": "{{ ('\n' * 8000000) | tojson | length }}",
    "longer capitals": "{{ ('ß' * 8000000) | upper | length }}",
    "titled text": "{{ ('a ' * 8000000) | title | length }}",
    "indented lines": "{{ ('a\n' * 1000000) | indent | length }}",
    "split text": "{{ ('a ' * 8000000).split() | length }}",
    "split text in a namespace": "{% set ns = namespace(x=('a ' * 8000000).split(' ')) %}",
    "lines": "{{ ('a\n' * 8000000).splitlines() | length }}",
    "sorted long texts": "{{ (['x' * 10**7] * 1000) | sort | length }}",
    "sorted mapped long texts": "{{ (['x' * 10**7] * 1000) | map('trim') | sort | length }}",
    "sum of lists": "{{ ([[1]] * 100000) | sum(start=[]) | length }}",
    "written list": "{{ [1] * 1000000 }}",
    "list as JSON": "{{ ([1] * 1000000) | tojson }}",
    "constants": "{{ '" + "a" * 4000 + "' | replace('a', '" + "b" * 4000 + "') | sort | length }}",
    "search": LONG_TEXTS + "{% for i in range(3000) %}{% if 'b' in h %}{% endif %}{% endfor %}",
    "negated search": LONG_TEXTS
    + "{% for i in range(3000) %}{% set x = 'b' not in h %}{% endfor %}",
    "equality": LONG_TEXTS + "{% for i in range(3000) %}{% if g == h %}{% endif %}{% endfor %}",
    "order": LONG_TEXTS
    + "{% for i in range(3000) %}{% if 0 < 1 and g <= h %}{% endif %}{% endfor %}",
    "equality of lists": LONG_TEXTS + "{{ ([g] * 1000) == ([h] * 1000) }}",
    "equality test": LONG_TEXTS + "{{ ([h] * 1000) | select('equalto', g) | list | length }}",
    "search in a list": LONG_TEXTS + "{{ g in [h ~ ''] * 1000 }}",
    "test of a text": LONG_TEXTS
    + "{% for i in range(3000) %}{% if h is upper %}{% endif %}{% endfor %}",
    "method of a list": LONG_TEXTS + "{{ ([h] * 1000).count(g) }}",
    "slices": LONG_TEXTS
    + "{% set y %}{% for i in range(999) %}{{ h[1:] }}{% endfor %}{% endset %}",
    "namespaces": "{% set x = [1] * 10**6 %}{% for i in range(999) %}{% set y = namespace(x) %}{% endfor %}",
    "nesting": "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_template_without_end_raises(name: str) -> None:
    with pytest.raises(pw.errors.TemplateError):
        byte_level().apply_chat_template(HELLO, chat_template=ENDLESS[name])


@LINUX
def test_a_template_without_end_takes_little_memory() -> None:
    names = ["sorted text", "joined characters", "escaped JSON", "split text", "sorted long texts"]
    templates = [ENDLESS[name] for name in names]
    result = subprocess.run(
        [sys.executable, "-c", PEAK_MEMORY + REFUSE],
        input=repr(templates),
        stdout=subprocess.PIPE,
        text=True,
    )
    refused, megabytes = map(int, result.stdout.split())
    assert refused == len(names)
    assert megabytes < 400


REFUSE = """
import ast, sys
import piecework as pw
tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}))
refused = 0
for template in ast.literal_eval(sys.stdin.read()):
    try:
        tok.apply_chat_template([{"role": "user", "content": ""}], chat_template=template)
    except pw.errors.TemplateError:
        refused += 1
print(refused, peak_memory() >> 20)
"""


COMPARED = [
    *("0 < 1 < 2", "0 < 1 < 1", "2 >= 2 > 1", "'b' in 'abc'", "'b' not in ['a', 'b']", "1 != 1.0"),
    *(
        "(1, 'a') in {(1, 'a'): 2}",
        "[1, ['a']] == [1, ['a']]",
        "5 in range(9)",
        "{'a': 1} == {'a': 1}",
    ),
    *("[1, 2] < [1, 3]", "'x' in {'a': 'x'}.values()", "'abc' <= 'abd'", "[1].count(1) == 1"),
    "None == 0",
]


@pytest.mark.parametrize("comparison", COMPARED)
def test_comparisons_equal_those_of_python(comparison: str) -> None:
    assert prompt_of("{{ " + comparison + " }}") == str(eval(comparison))


def test_tests_and_filters_that_count_give_what_jinja_gives() -> None:
    for template, text in {
        "{{ ['a', 'b', 'a'] | select('equalto', 'a') | list | length }}": "2",
        "{{ ['b', 'B', 'a'] | unique | sort | join(' ') }}": "a b",
        "{{ 'cab' | sort | join }}": "abc",
        "{{ 'cab' | map('upper') | sort(reverse=true) | join('-') }}": "C-B-A",
        "{{ [1, 2, 4] | sum }}": "7",
        "{{ [{'x': 1}, {'x': 2}] | sum(attribute='x', start=5) }}": "8",
        "{{ [[1], [2]] | sum(start=[]) }}": "[1, 2]",
        "{{ missing | sort | list }}": "[]",
        "{{ missing | sum }}": "0",
        "{{ ['b', 'A'] | min ~ ['b', 'A'] | max }}": "Ab",
        "{{ {'b': 1, 'a': 2} | dictsort }}": "[('a', 2), ('b', 1)]",
        "{{ 'x' is in 'xy' }} {{ 3 is gt 2 }} {{ 'a' is ne 'b' }}": "True True True",
        "{{ 'a' is lower }} {{ 'A' is upper }} {{ 5 is upper }}": "True True False",
        "{{ 'abc'[1:] ~ [1, 2, 3][::-1] ~ (1, 2)[:1] }}": "bc[3, 2, 1](1,)",
    }.items():
        assert prompt_of(template) == text


def test_escaped_characters_keep_their_origin() -> None:
    text = TrackedText('<"é\n', TEMPLATE) + TrackedText("&\x7f🤗\\", 0)
    for written, parts in {
        escaped(text): ["&lt;", "&#34;", "é", "\n", "&amp;", "\x7f", "🤗", "\\"],
        to_json(text)[1:-1]: ["<", '\\"', "é", "\\n", "&", "\x7f", "🤗", "\\\\"],
        to_json(text, ensure_ascii=True)[1:-1]: [
            *("<", '\\"', "\\u00e9", "\\n", "&", "\\u007f", "\\ud83e\\udd17", "\\\\")
        ],
    }.items():
        assert plain(written) == "".join(parts)
        origins = [TEMPLATE] * 4 + [0] * 4
        assert list(written.origins) == [
            origin for part, origin in zip(parts, origins, strict=True) for _ in part
        ]


def prompt_of(template: str) -> str:
    return byte_level().apply_chat_template(HELLO, chat_template=template).text


def test_numbers_within_the_limits_are_rounded() -> None:
    for template, text in {
        "{{ 42.55 | round }}": "43.0",
        "{{ 42.55 | round(1, 'floor') }}": "42.5",
        "{{ 42.21 | round(1, method='ceil') }}": "42.3",
        "{{ 1234 | round(-2) }}": "1200",
        "{{ 1.5 | round(400) }}": "1.5",
        "{{ 'ff' | int(0, 16) }}": "255",
    }.items():
        assert prompt_of(template) == text


@pytest.mark.parametrize("count", [-1, 0, 1, 3, 4, 9])
def test_replacing_an_empty_string_equals_str_replace(count: int) -> None:
    text, new = TrackedText("abc", TEMPLATE), TrackedText("xy", TEMPLATE)
    assert text.replace("", new, count) == "abc".replace("", "xy", count)


PERCENTS: list[tuple[str, Any]] = [
    ("%5s|%-4d|%%|%.2f", ("a", 3, 1.234)),
    ("%(a)5s%(b)s%(a)r", {"a": "x", "b": 2}),
    ("%%|%3d", (1,)),
    ("%5s", {"a": 1}),
    ("%5s", [1, "a"]),
    ("a%%", [1]),
    ("%5s%s", ("a",)),
    ("%5s", ("a", "b")),
    ("%5s %", ("a",)),
    ("%5y", (1,)),
    ("%(a)5s", (1,)),
]


@pytest.mark.parametrize(("text", "arguments"), PERCENTS)
def test_percent_formats_as_a_string_does(text: str, arguments: Any) -> None:
    of_template = tracked_value(arguments, "arguments", 0)
    try:
        expected = text % arguments
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            percent_formatted(TrackedText(text, 0), of_template)
    else:
        assert percent_formatted(TrackedText(text, 0), of_template) == expected


def test_many_fields_are_formatted() -> None:
    count = 300_000  # the origins of the whole text, compared for each field, would take days
    text = TrackedText("{0}{0:2}", TEMPLATE) * count
    shown = brace_formatted(text, [1], {}, lambda name, args, kwargs: args[int(name)])
    assert plain(shown) == "1 1" * count


FAILING = {
    "{{ raise_exception('roles must alternate') }}": "chat template: roles must alternate",
    "{% if %}": "chat template: line 1: is not valid Jinja: Expected an expression, got 'end of",
    "a\n{{ x | nosuch }}": "chat template: line 2: is not valid Jinja: No filter named 'nosuch'.",
    "{{ x.y.z }}": "UndefinedError: 'x' is undefined",
    "{{ messages[0].content.x.y }}": "'str object' has no attribute 'x'",
    "{{ messages[0].content + 1 }}": "TypeError",
    "{% include 'file' %}": "no loader",
    "{{ messages[0].content.with_bits(1) }}": "SecurityError",
    "{{ messages.append(1) }}": "SecurityError",
    "{{ namespace(_x=1) }}": "namespace: the name '_x' must not begin with an underscore",
    "{{ messages[0].content.center(9) }}": "a string method that does not keep the origin",
    "{{ ('%5s' % messages[0].content) }}": (
        "chat template: the text 'hello' has characters of unknown origin; use filters and"
    ),
    "{{ messages[0].content.encode() }}": "a string method that does not keep the origin",
    "{{ ('ŉ' ~ messages[0].content).title() }}": (
        "chat template: the text 'ʼNhello' has characters of unknown origin; use filters and"
    ),
}


@pytest.mark.parametrize("template", FAILING)
def test_an_error_of_a_template_has_its_reason(template: str) -> None:
    with pytest.raises(pw.errors.TemplateError) as caught:
        byte_level().apply_chat_template(HELLO, chat_template=template)
    assert FAILING[template] in str(caught.value)


def test_messages_of_a_wrong_type_are_named() -> None:
    tok = byte_level().with_chat_template("x")
    cases: list[tuple[Any, str]] = [
        ("hi", "messages: must be a list of messages, not str"),
        (["hi"], r"messages\[0\]: must be a mapping.*, not str"),
        ([], "messages: must contain at least one message"),
        ([{"content": b"x"}], r"messages\[0\].content: must be .*, not bytes"),
        ([{5: "x"}], r"messages\[0\]: the name of a field must be str, not int"),
        (
            [{"content": [{"text": object()}]}],
            r"messages\[0\].content\[0\].text: must be .*, not object",
        ),
        ([{"role": ["x"], "content": "a"}], r"messages\[0\].role: must be str, not list"),
        (
            [{"content": "a\ud800"}],
            r"messages\[0\]\.content: has a lone surrogate at character 1, which UTF-8 cannot encode",
        ),
    ]
    for messages, message in cases:
        with pytest.raises(pw.errors.ArgumentError, match=message):
            tok.apply_chat_template(messages)
        with pytest.raises(pw.errors.ArgumentError, match=message):
            tok.apply_chat_template(messages, trusted_roles={"system"})
    with pytest.raises(
        pw.errors.InputTypeError, match=r"tools\[0\]: must be .*, not builtin_function"
    ):
        tok.apply_chat_template(HELLO, tools=[print])  # type: ignore[list-item]
    with pytest.raises(pw.errors.InputTypeError, match="trusted_roles: must be .*, not str"):
        tok.apply_chat_template(HELLO, trusted_roles="user")
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(
        pw.errors.ArgumentError,
        match=r"^messages\[0\]\.content.* is nested more than 100 levels deep$",
    ):
        tok.apply_chat_template([{"content": loop}])


def test_an_error_leaves_the_next_call_unharmed() -> None:
    tok = byte_level()
    with pytest.raises(pw.errors.TemplateError):
        tok.apply_chat_template(HELLO, chat_template=ENDLESS["loops"])
    assert tok.apply_chat_template(HELLO, chat_template="{{ 'a' | upper }}").text == "A"


# ---- strings with origins


def test_string_operations_keep_the_origin_of_each_character() -> None:
    text = TrackedText(" Ab,cd ", TEMPLATE) + TrackedText("Ef,ß\nx ", 0)
    results: list[tuple[Any, Any]] = [
        (text.strip(), plain(text).strip()),
        (text.lower(), plain(text).lower()),
        (text.upper(), plain(text).upper()),
        (text[::-1], plain(text)[::-1]),
        (text * 2, plain(text) * 2),
        (text.replace(TrackedText(",", 0), text), plain(text).replace(",", plain(text))),
        (
            text.removeprefix(" A").removesuffix(" "),
            plain(text).removeprefix(" A").removesuffix(" "),
        ),
        *zip(text.split(), plain(text).split(), strict=True),
        *zip(text.split(",", 1), plain(text).split(",", 1), strict=True),
        *zip(text.rsplit(None, 1), plain(text).rsplit(None, 1), strict=True),
        *zip(text.splitlines(), plain(text).splitlines(), strict=True),
        *zip(text.partition(","), plain(text).partition(","), strict=True),
        *zip(text.rpartition("c"), plain(text).rpartition("c"), strict=True),
        (tracked([text[:3]]), str([plain(text)[:3]])),
    ]
    of_template = {*" Abcd,"}
    for result, expected in results:
        assert result == expected
        shown = set(plain(result)) - set("SS, ") - set("[']")
        for character, origin in zip(plain(result), result.origins, strict=True):
            if character in shown:
                assert bool(origin & TEMPLATE) == (
                    character.lower() in {c.lower() for c in of_template}
                )


# ---- counts


def test_messages_are_counted_as_they_are_encoded() -> None:
    tok = chat_tokenizer(byte_level(), TEMPLATES["chatml"])
    for messages in CONVERSATIONS.values():
        chat = tok.apply_chat_template(messages, add_generation_prompt=True)
        assert pw.chat.count_messages(tok, messages) == len(chat.ids)


def test_an_estimate_counts_strings_names_and_messages() -> None:
    tok = byte_level()
    messages = [{"role": "user", "name": "Bo", "content": "hello"}]
    strings = sum(tok.count(text, add_special_tokens=False) for text in ("user", "Bo", "hello"))
    assert pw.chat.count_messages(tok, messages, estimate=True) == strings + 3 + 1 + 3
    with pytest.raises(
        pw.errors.ArgumentError,
        match="tools, estimate: cannot be combined: the format of tools is not public",
    ):
        pw.chat.count_messages(tok, messages, tools=TOOLS, estimate=True)
    with pytest.raises(
        pw.errors.InputTypeError,
        match=r"messages\[0\]\.content: tokens are estimated for text, not for a value of type int",
    ):
        pw.chat.count_messages(tok, [{"content": 5}], estimate=True)


# ---- segments


def test_segments_of_a_wrong_type_are_named() -> None:
    cases: list[tuple[Any, str]] = [
        ("ab", "segments: must be a list of.*, not str"),
        (["ab"], r"segments\[0\]: must be a \(text, allow_special\) pair, not str"),
        ([("a", True, 1)], r"segments\[0\]: must be .*, not tuple of 3"),
        ([("a", True), (None, False)], r"segments\[1\]\[0\]: must be str, not NoneType"),
        ([("a", 1)], r"segments\[0\]\[1\]: must be bool, not int"),
        (
            [("\udc00", True)],
            (
                r"segments\[0\]\[0\]: has a lone surrogate at character 0, which UTF-8 "
                r"cannot encode"
            ),
        ),
    ]
    for segments, message in cases:
        with pytest.raises(pw.errors.ArgumentError, match=message):
            byte_level().encode_segments(segments)
    with pytest.raises(pw.errors.InputTypeError, match="markers: must be .*, not str"):
        byte_level().encode_segments([], markers="<b>")
    with pytest.raises(
        pw.errors.ArgumentError,
        match='markers: must be added tokens.*, not "<b>"',
    ):
        byte_level().encode_segments([], markers=["<b>"])


def test_a_token_that_the_model_itself_makes_is_left_out() -> None:
    model = pw.spec.WordLevel({"[UNK]": 0, "[SEP]": 1, "a": 2}, unk_token="[UNK]")
    sep = pw.spec.AddedToken("[SEP]", 1)
    tok = pw.Tokenizer(model, pre_tokenizer=pw.spec.WhitespaceSplit(), added_tokens=[sep])
    assert tok.encode_segments([("a [SEP]", True)]).ids == [2, 1]
    assert tok.encode_segments([("a [SEP]", False)]).ids == [2, 0]


def test_a_character_that_only_a_special_token_represents_raises() -> None:
    model = pw.spec.Char({"[UNK]": 0, "!": 1, "a": 2}, unk_token="[UNK]")
    tok = pw.Tokenizer(model, added_tokens=[pw.spec.AddedToken("!", 1)])
    with pytest.raises(
        pw.errors.SpecialTokenError,
        match='the text "!", of which the model makes the token "!"',
    ):
        tok.encode_segments([("a!", False)])


def test_an_unknown_word_may_become_the_unknown_token() -> None:
    tok = bert()
    assert tok.encode_segments([("日", False)]).ids == [tok.unk_token_id]


def test_results_pickle_and_compare() -> None:
    tok = chat_tokenizer(byte_level(), TEMPLATES["chatml"])
    chat = tok.apply_chat_template(HELLO)
    segments = tok.encode_segments([("a", True), ("b", False)])
    assert pickle.loads(pickle.dumps(chat)) == chat
    assert pickle.loads(pickle.dumps(segments)) == segments


def test_a_special_token_in_the_role_of_the_unknown_token_is_guarded() -> None:
    """GPT-2's `<|endoftext|>` has the role of the unknown token, too."""
    pieces = (("<unk>", -9.0), ("<|end|>", -1.0), *((character, -3.0) for character in "<|end>"))
    end = pw.spec.AddedToken("<|end|>", 1)
    model = pw.spec.Unigram(pieces, unk_id=0)
    tok = pw.Tokenizer(model, added_tokens=[end]).with_roles(unk_token="<|end|>")
    assert tok.encode_segments([("<|end|>", True)]).encoding.ids == [1]
    assert 1 not in tok.encode_segments([("<|end|>", False)]).encoding.ids
