"""Masks of the assistant's tokens from the origins of characters, without `{% generation %}`."""

from __future__ import annotations

import pickle
import re
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.chat.assistant_spans import frame_of
from piecework.chat.chat_format import ChatEncoding
from tests.chats import CALL, CHATML, CONVERSATIONS, TEMPLATES, chat_tokenizer
from tests.data import find, need

TAG = re.compile(r"\{%-? (?:end)?generation -?%\}")
TAGGED = [name for name, template in TEMPLATES.items() if TAG.search(template)]
STOCK = TAG.sub("", CHATML)
REASONING = [
    {"role": "user", "content": "Think"},
    {"role": "assistant", "reasoning_content": "hmm why", "content": "Because."},
    {"role": "user", "content": "Ok"},
    {"role": "assistant", "reasoning_content": "again\nmore", "content": "Fine"},
]
THINKING = """\
{%- for m in messages %}{{- '<|im_start|>' + m.role + '\\n' }}
{%- if m.reasoning_content %}{{- '<think>\\n' + m.reasoning_content + '\\n</think>\\n\\n' }}{% endif %}
{{- m.content }}
{%- for call in m.tool_calls or [] %}
{{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
{{- call.function.arguments | tojson + '}\\n</tool_call>' }}
{%- endfor %}{{- '<|im_end|>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}"""


def byte_level(template: str) -> pw.Tokenizer:
    texts = [template, *map(str, CONVERSATIONS.values())]
    tok = pw.Tokenizer.train_from_iterator(texts * 2, model="byte-bpe", vocab_size=400)
    return chat_tokenizer(tok, template)


def masked(chat: ChatEncoding) -> list[str]:
    """Return the text of each run of masked tokens."""
    bits = "".join(map(str, chat.assistant_mask))
    offsets = chat.encoding.offsets
    spans = [run.span() for run in re.finditer("1+", bits)]
    return [chat.text[offsets[first][0] : offsets[last - 1][1]] for first, last in spans]


def masked_parts(messages: Any, parts: list[str] | None, template: str = THINKING) -> list[str]:
    return masked(pw.chat.apply_chat_template(byte_level(template), messages, mask=parts))


@pytest.mark.parametrize("conversation", ["turns", "answered"])
@pytest.mark.parametrize("template", TAGGED)
def test_masks_without_the_tag_equal_those_with_it(template: str, conversation: str) -> None:
    tok = byte_level(TEMPLATES[template])
    messages = CONVERSATIONS[conversation]
    tagged = pw.chat.apply_chat_template(tok, messages)
    stock = pw.chat.apply_chat_template(
        tok.with_chat_template(TAG.sub("", TEMPLATES[template])), messages
    )
    assert stock.text == tagged.text
    assert sum(tagged.assistant_mask) > 0
    assert stock.assistant_mask == tagged.assistant_mask
    named = pw.chat.apply_chat_template(tok, messages, mask=pw.chat.MASK_PARTS)
    assert named.assistant_mask == tagged.assistant_mask


def test_a_mask_has_tool_calls_with_their_markers() -> None:
    chat = pw.chat.apply_chat_template(byte_level(STOCK), CONVERSATIONS["tools"])
    call = '{"name": "weather", "arguments": {"city": "Zürich", "days": 3, "exact": true}}'
    assert masked(chat) == [f"<tool_call>\n{call}\n</tool_call><|im_end|>", "Sunny.<|im_end|>"]
    tagged = pw.chat.apply_chat_template(byte_level(CHATML), CONVERSATIONS["tools"])
    assert chat.assistant_mask == tagged.assistant_mask


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("llama-3", ["2<|eot_id|>", "Yes.<|eot_id|>"]),
        ("gemma", ["2<end_of_turn>", "Yes.<end_of_turn>"]),
        ("mistral", [" 2</s>", " Yes.</s>"]),
        ("phi", [" 2 \n<|end|>", "Yes.<|end|>"]),
    ],
)
def test_a_turn_begins_after_its_header_and_ends_with_its_marker(
    template: str, expected: list[str]
) -> None:
    tok = byte_level(TEMPLATES[template])
    found = masked(pw.chat.apply_chat_template(tok, CONVERSATIONS["turns"]))
    assert [text.removeprefix("\n") for text in found] == expected


def test_mask_names_the_parts() -> None:
    messages = [*REASONING[:1], {**REASONING[1], "tool_calls": [CALL]}]
    call = '\n<tool_call>\n{"name": "weather", "arguments": {"city": "Zürich", "days": 3, "exact": true}}'
    assert masked_parts(messages, ["content"]) == ["Because."]
    assert masked_parts(messages, ["reasoning"]) == ["<think>\nhmm why\n</think>\n\n"]
    assert masked_parts(messages, ["tool-calls"]) == [f"{call}\n</tool_call>"]
    assert masked_parts(messages, ["end-of-turn"]) == ["<|im_end|>"]
    assert masked_parts(messages, ["content", "end-of-turn"]) == ["Because.", "<|im_end|>"]
    whole = f"<think>\nhmm why\n</think>\n\nBecause.{call}\n</tool_call><|im_end|>"
    assert masked_parts(messages, None) == masked_parts(messages, [*pw.chat.MASK_PARTS]) == [whole]
    assert masked_parts(messages, []) == []


def test_reasoning_inside_the_content_counts_as_reasoning() -> None:
    content = "<think>\nwell\n</think>\n\nHello"
    messages: Any = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": content}]
    assert masked_parts(messages, ["content"]) == ["Hello"]
    assert masked_parts(messages, ["reasoning"]) == ["<think>\nwell\n</think>\n\n"]
    blocks = [{"type": "thinking", "thinking": "well"}, {"type": "text", "text": "Hello"}]
    written = "{% for b in m.content %}{{ b[b.type] }}|{% endfor %}"
    template = f"{{% for m in messages %}}<a>{written}</s>{{% endfor %}}"
    messages = [{"role": "assistant", "content": blocks}]
    assert masked_parts(messages, ["content"], template) == ["Hello"]


@pytest.mark.parametrize("template", [STOCK, CHATML])
def test_a_message_with_weight_0_is_not_masked(template: str) -> None:
    messages: Any = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "One", "weight": 0},
        {"role": "assistant", "content": "Two", "weight": 1},
        {"role": "user", "content": "So"},
        {"role": "assistant", "content": "Three"},
    ]
    chat = pw.chat.apply_chat_template(byte_level(template), messages)
    assert masked(chat) == ["Two<|im_end|>", "Three<|im_end|>"]
    alone = pw.chat.apply_chat_template(byte_level(template), messages[:2])
    assert not any(alone.assistant_mask)


def test_adjacent_messages_of_the_assistant_are_turns_of_their_own() -> None:
    replies = [{"role": "assistant", "content": text} for text in ("One", "Two", "Three")]
    assert masked_parts(replies, None) == [f"{reply['content']}<|im_end|>" for reply in replies]


def test_text_of_others_ends_a_turn_where_the_template_drops_a_message() -> None:
    texts = ["One", "mine", " ", "mine too", "Three"]
    roles = ["assistant", "user"]
    messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]
    chat = pw.chat.apply_chat_template(byte_level(TEMPLATES["gemma"]), messages)
    assert masked(chat) == ["One<end_of_turn>", "Three<end_of_turn>"]


def test_a_name_that_a_template_repeats_before_the_result_is_not_of_the_assistant() -> None:
    template = """{% for m in messages %}{% if m.role == 'tool' %}
<result name={{ messages[loop.index0 - 1].tool_calls[0].function.name }}>{{ m.content }}
{% elif m.tool_calls %}<a>{% for c in m.tool_calls %}<call>{{ c.function.name }}</call>{% endfor %}</s>
{% else %}<a>{{ m.content }}</s>{% endif %}{% endfor %}"""
    call = {"function": {"name": "add", "arguments": {}}}
    result = {"role": "tool", "content": "3"}
    for calls in (1, 2):
        messages = [
            {"role": "user", "content": "?"},
            {"role": "assistant", "tool_calls": [call] * calls},
        ]
        [found] = masked_parts([*messages, result], None, template)
        assert found.rstrip("\n") == "<call>add</call>" * calls + "</s>"


def test_numbers_at_the_end_of_a_tool_call_belong_to_it() -> None:
    template = """{% for m in messages %}<|im_start|>{{ m.role }}|{{ m.content }}
{%- for call in m.tool_calls or [] %}{% for key, value in call.function.arguments.items() %}
{{- '<' ~ key ~ '>' ~ value ~ '</' ~ key ~ '>' }}{% endfor %}{% endfor %}{% endfor %}"""
    call = {"function": {"name": "f", "arguments": {"days": 3}}}
    messages = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": "so", "tool_calls": [call]},
    ]
    assert masked_parts(messages, None, template) == ["so<days>3</days"]


def test_a_template_without_text_of_the_assistant_has_no_mask() -> None:
    tok = byte_level("{% for m in messages %}<|{{ m.role }}|>{% endfor %}")
    chat = pw.chat.apply_chat_template(tok, CONVERSATIONS["answered"])
    assert chat.assistant_spans is None
    assert len(chat.ids) == 2
    with pytest.raises(
        pw.errors.TemplateError, match=r"^assistant_mask: does not exist: no character"
    ):
        chat.assistant_mask  # noqa: B018
    # Without a message of the assistant there is nothing to mask.
    assert pw.chat.apply_chat_template(tok, CONVERSATIONS["one"]).assistant_mask == [0]


def test_a_mask_is_all_zeros_for_a_tag_without_text() -> None:
    template = "{% generation %}{% endgeneration %}{{ messages[1].content }}"
    chat = pw.chat.apply_chat_template(byte_level(template), CONVERSATIONS["answered"])
    assert chat.assistant_spans == ()
    assert not any(chat.assistant_mask)


def test_unknown_parts_of_a_mask_are_errors() -> None:
    tok = byte_level(STOCK)
    with pytest.raises(pw.errors.ArgumentError, match="mask"):
        pw.chat.apply_chat_template(tok, CONVERSATIONS["one"], mask=["contents"])
    with pytest.raises(pw.errors.InputTypeError, match="mask"):
        pw.chat.apply_chat_template(tok, CONVERSATIONS["one"], mask="content")


def test_masks_follow_truncation_and_padding() -> None:
    tok = byte_level(STOCK).with_roles(pad_token="</s>")
    whole = pw.chat.apply_chat_template(tok, CONVERSATIONS["answered"])
    size = len(whole.ids)
    padded = pw.chat.apply_chat_template(
        tok.with_padding(length=size * 4), CONVERSATIONS["answered"]
    )
    assert padded.assistant_mask == [*whole.assistant_mask, *[0] * (size * 3)]
    cut = pw.chat.apply_chat_template(tok.with_truncation(size - 4), CONVERSATIONS["answered"])
    assert cut.assistant_mask == whole.assistant_mask[: size - 4]


def test_results_with_masks_pickle() -> None:
    chat = pw.chat.apply_chat_template(byte_level(STOCK), CONVERSATIONS["answered"])
    again = pickle.loads(pickle.dumps(chat))
    assert again.assistant_mask == chat.assistant_mask
    assert again == chat


def test_trusted_roles_do_not_change_masks() -> None:
    tok = byte_level(STOCK)
    chat = pw.chat.apply_chat_template(
        tok, CONVERSATIONS["turns"], trusted_roles={"assistant", "user"}
    )
    assert (
        chat.assistant_mask
        == pw.chat.apply_chat_template(tok, CONVERSATIONS["turns"]).assistant_mask
    )


@pytest.mark.parametrize(
    ("template", "header", "end"),
    [
        ("chatml", "<|im_end|>\n<|im_start|>assistant\n", "<|im_end|>"),
        ("llama-3", "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"),
        ("mistral", " [/INST]", "</s>"),
        ("gemma", "<end_of_turn>\n<start_of_turn>model\n", "<end_of_turn>"),
        ("deepseek", "<｜Assistant｜>", "<｜end▁of▁sentence｜>"),
    ],
)
def test_frames_of_templates(template: str, header: str, end: str) -> None:
    frame = frame_of(TEMPLATES[template], {"eos_token": "</s>", "bos_token": "<s>"})
    assert frame == (header, end)


def test_a_template_for_one_question_has_a_frame() -> None:
    single = "{% if messages | length > 2 %}{{ raise_exception('one') }}{% endif %}"
    frame = frame_of(single + TEMPLATES["gemma"], {"bos_token": "<s>"})
    assert frame == ("<end_of_turn>\n<start_of_turn>model\n", "<end_of_turn>")


def test_a_template_that_cannot_be_rendered_for_a_question_has_no_frame() -> None:
    template = "{% if messages | length < 9 %}{{ raise_exception('more') }}{% endif %}"
    assert frame_of(template, {}) == ("", "")


# ---- any conversation

# Digits of the assistant and of others, which no template writes, among markers as templates write them.
MARKERS = [
    "<|im_end|>",
    "<|im_start|>assistant\n",
    "</think>",
    "<think>",
    "[/INST]",
    "</s>",
    "\n",
    " ",
]


def texts_with(digits: str) -> st.SearchStrategy[str]:
    parts = st.lists(st.sampled_from([*digits, *MARKERS]), max_size=6)
    return parts.map(lambda found: f"{digits[0]}{''.join(found)}{digits[1]}")


TURNS = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant", "system", "tool"]),
        texts_with("12"),
        texts_with("78") | st.just(" "),
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize("template", TEMPLATES)
@settings(max_examples=40)
@given(turns=TURNS)
def test_masks_have_all_text_of_the_assistant_and_none_of_others(
    template: str, turns: list[tuple[str, str, str]]
) -> None:
    messages = [
        {"role": role, "content": mine if role == "assistant" else other}
        for role, other, mine in turns
    ]
    chat = pw.chat.apply_chat_template(cached(template), messages, mask=pw.chat.MASK_PARTS)
    spans = chat.assistant_spans
    if spans is None:
        assert not any(letter in chat.text for letter in "78")
        return
    inside = "".join(chat.text[start:end] for start, end in spans)
    assert not {"1", "2"}.intersection(inside)
    assert [inside.count(digit) for digit in "78"] == [chat.text.count(digit) for digit in "78"]


@cache
def cached(template: str) -> pw.Tokenizer:
    return byte_level(TEMPLATES[template])


# ---- templates of published models, each with a variant for training that has the tag

# What the tag includes before the text of a turn and after its end, where that is not the same here: the
# header, which the model is given, and line breaks after the marker that ends the turn.
BEFORE_TURNS = {
    "deepseek_r1_distill": "<｜Assistant｜>|<｜tool▁outputs▁end｜>",
    "deepseekv3": "<｜Assistant｜>|<｜tool▁outputs▁end｜>",
    "gptoss": r"<\|start\|>assistant",
    "muse_glimmer": r"<\|start\|>assistant",
    "qwen2_5": r"\n",
}
AFTER_TURNS = {"phi3": r"\n(?:</s>)?$", "phi3_5": r"\n(?:</s>)?$"}


def models() -> list[str]:
    """Return the models whose templates are in the test data with and without the tag."""
    folder = find("chat-templates")
    files = folder.glob("*_training.jinja") if folder else ()
    return sorted(file.name.removesuffix("_training.jinja") for file in files)


def accepted(tok: pw.Tokenizer, messages: Any) -> Any:
    """Return messages with text or blocks as content, which the template writes; None if it does not."""
    blocks = [{**row, "content": [{"type": "text", "text": row["content"]}]} for row in messages]
    for rows in (messages, blocks):
        try:
            if pw.chat.apply_chat_template(tok, rows, mask=["content"]).assistant_spans is not None:
                return rows
        except pw.errors.TemplateError:
            continue
    return None


@pytest.mark.parametrize("model", models() or ["none"])
def test_masks_of_published_templates_equal_those_of_the_tag(model: str) -> None:
    stock = need(f"chat-templates/{model}.jinja").read_text(encoding="utf-8")
    training = need(f"chat-templates/{model}_training.jinja").read_text(encoding="utf-8")
    tok = byte_level(training)
    before = re.compile(BEFORE_TURNS.get(model, ""))
    after = re.compile(AFTER_TURNS.get(model, r"\n$"))
    compared = 0
    for conversation in (CONVERSATIONS["turns"], CONVERSATIONS["answered"], REASONING):
        messages = accepted(tok, conversation)
        if messages is None:
            continue
        tagged = pw.chat.apply_chat_template(tok, messages)
        expected = [after.sub("", before.sub("", text, count=1)) for text in masked(tagged)]
        ours = pw.chat.apply_chat_template(tok, messages, mask=pw.chat.MASK_PARTS)
        assert masked(ours) == expected
        published = pw.chat.apply_chat_template(tok.with_chat_template(stock), messages)
        if published.text == ours.text:
            assert masked(published) == [text.removesuffix("<|user|>") for text in expected]
        compared += 1
    assert compared


def test_messages_are_read_a_bounded_number_of_times_each() -> None:
    reads = 0

    class Read(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            nonlocal reads
            reads += 1
            return super().get(key, default)

    def reads_of(turns: int) -> int:
        nonlocal reads
        reads = 0
        roles = ("user", "assistant") * turns
        pw.chat.apply_chat_template(tok, [Read(role=role, content="a") for role in roles])
        return reads

    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).with_chat_template(
        "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %};{% endfor %}"
    )
    assert reads_of(400) <= 5 * reads_of(100)
