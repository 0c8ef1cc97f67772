"""Chat templates give the ids and masks of transformers, for messages that contain no special token."""

from __future__ import annotations

import json
import re
import warnings
from functools import cache
from typing import Any

import pytest

import piecework as pw
from tests.chats import CHATML, CONVERSATIONS, TEMPLATES, TOOLS, chat_tokenizer
from tests.data import find, need
from tests.short_vocabularies import read_short

transformers = pytest.importorskip("transformers")

TOKENIZERS = {
    "byte-level BPE": "vocab/qwen2.5/tokenizer.json.gz",
    "SentencePiece BPE": "vocab/mistral-7b-v0.1/tokenizer.json.gz",
    "tokens in normalized text": "vocab/deepseek-v3/tokenizer.json.gz",
}


@cache
def loaded(name: str) -> pw.Tokenizer:
    return pw.Tokenizer.from_str(read_short(need(TOKENIZERS[name])))


def both(tok: pw.Tokenizer, folder: Any) -> tuple[pw.Tokenizer, Any]:
    """Return a tokenizer and transformers' class for the folder that it saves."""
    folder.mkdir(exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tok.save(f"{folder}/")
    return tok, transformers.PreTrainedTokenizerFast.from_pretrained(folder)


def has_tag(tok: pw.Tokenizer) -> bool:
    return re.search(r"generation -?%}", tok.chat_template or "") is not None


def outcomes(tok: pw.Tokenizer, theirs: Any, messages: Any, **options: Any) -> tuple[Any, Any]:
    """Return (text, ids, mask) of both, the mask for a template with the tag; None for one that raises."""
    try:
        text = theirs.apply_chat_template(messages, tokenize=False, **options)
        with_mask = has_tag(tok) and not options.get("continue_final_message")
        found = theirs.apply_chat_template(
            messages, return_dict=True, return_assistant_tokens_mask=with_mask, **options
        )
        mask = found["assistant_masks"] if with_mask else None
        expected = text, found["input_ids"], mask
    except Exception:
        expected = None
    try:
        ours = pw.chat.apply_chat_template(tok, messages, **options)
        got = ours.text, ours.ids, ours.assistant_mask if has_tag(tok) else None
    except pw.errors.TemplateError as error:
        if expected is not None:
            raise AssertionError(f"transformers renders what raises here: {error}") from error
        got = None
    if options.get("continue_final_message") and expected and got:
        expected, got = (*expected[:2], None), (*got[:2], None)
    return got, expected


@pytest.mark.slow
@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("name", TOKENIZERS)
def test_families_of_templates_give_the_same_ids_and_masks(
    name: str, template: str, tmp_path: Any
) -> None:
    tok, theirs = both(chat_tokenizer(loaded(name), TEMPLATES[template]), tmp_path / "saved")
    compared = 0
    for messages in CONVERSATIONS.values():
        for options in OPTIONS:
            if options.get("continue_final_message") and messages[-1]["role"] != "assistant":
                continue
            got, expected = outcomes(tok, theirs, messages, **options)
            if expected is None and options.get("continue_final_message"):
                continue  # They search the prompt for the message, which a template may change.
            assert got == expected, (messages, options)
            compared += expected is not None
    assert compared >= len(CONVERSATIONS)


SENTENCEPIECE = {
    "Mistral v1": ("vocab/mistral/tokenizer.model.v1", "LlamaTokenizer", "tokenizer.model"),
    "Mistral v3": (
        "vocab/mistral/mistral_instruct_tokenizer_240323.model.v3",
        "LlamaTokenizer",
        "tokenizer.model",
    ),
    "XLNet": ("vocab/xlnet/spiece.model", "XLNetTokenizer", "spiece.model"),
}
# Transformers segments runs of spaces by merges, SentencePiece by scores; and it takes each of XLNet's
# user-defined pieces, such as `.` and `"`, for a special token with spaces of its own.
OTHERWISE = {
    "Mistral v1": ["spaces"],
    "Mistral v3": ["spaces"],
    "XLNet": ["turns", "tools"],
}
TURNS = """{{ bos_token }}{% for message in messages %}[INST]{{ message.role }} [/INST] {{ message.role }}:\
{{ message.content }} {{ eos_token }}{% endfor %}"""


@pytest.mark.parametrize("name", SENTENCEPIECE)
def test_templates_over_a_sentencepiece_model_give_the_same_ids(name: str, tmp_path: Any) -> None:
    path, tokenizer_class, file_name = SENTENCEPIECE[name]
    (tmp_path / file_name).write_bytes(need(path).read_bytes())
    config = {"tokenizer_class": tokenizer_class, "bos_token": "<s>", "eos_token": "</s>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    tok = pw.Tokenizer.load(need(path))
    markers = CHATML.replace("<|im_start|>", "<s>").replace("<|im_end|>", "</s>")
    for template in (TEMPLATES["mistral"], TURNS, markers):
        tok, theirs.chat_template = tok.with_chat_template(template), template
        for case, messages in CONVERSATIONS.items():
            if case not in OTHERWISE[name]:
                got, expected = outcomes(tok, theirs, messages)
                assert got == expected, (template, messages)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"add_generation_prompt": True},
    {"tools": TOOLS},
    {"continue_final_message": True},
]


# Jinja escapes what is added to the result of `safe`.
WITH_ESCAPES = ("meetkai-functionary-medium-v3.1.jinja",)


def published() -> list[str]:
    """Return the names of published templates in the test data."""
    folder = find("chat-templates")
    files = sorted(folder.glob("*.jinja")) if folder else []
    return [file.name for file in files]


@pytest.mark.slow
@pytest.mark.parametrize("template", published() or ["none"])
def test_published_templates_give_the_same_ids_and_masks(template: str, tmp_path: Any) -> None:
    text = need(f"chat-templates/{template}").read_text(encoding="utf-8")
    if template in WITH_ESCAPES:
        pytest.skip("text after `safe` is escaped as HTML there: see docs/how-to/chat.md")
    small = pw.Tokenizer.train_from_iterator(
        [text, *map(str, CONVERSATIONS.values())], model="byte-bpe", vocab_size=400
    )
    tok, theirs = both(chat_tokenizer(small, text), tmp_path / "saved")
    for messages in CONVERSATIONS.values():
        for options in OPTIONS[:3]:
            got, expected = outcomes(tok, theirs, messages, **options)
            assert got == expected, (messages, options)
