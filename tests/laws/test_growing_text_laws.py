"""A text that grows has the ids of the whole text after each step, and stable ids never change."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import piecework as pw
from tests.cuts import PRESETS, tokenizers_with_cuts
from tests.laws.test_segment_laws import (
    CONTENTS,
    TEXT,
    added_tokens,
    byte_level,
    lowercased,
    metaspace,
    plain,
)

PARTS = st.lists(
    TEXT | st.sampled_from(["<a>", "<", "a", ">", "b", "[x]", " ", "b<a>", "]"]), max_size=8
)


@given(
    st.sampled_from([byte_level, metaspace, lowercased, plain]),
    st.data(),
    PARTS,
    st.sampled_from([True, False, None]),
)
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=500)
def test_a_growing_text_has_the_ids_of_the_whole_text(
    pipeline: Any, data: st.DataObject, parts: list[str], parse_special: bool | None
) -> None:
    tok = pw.Tokenizer.from_spec(pipeline(data.draw(added_tokens(300))))
    growing = pw.chat.GrowingText(tok, parse_special=parse_special)
    text, stable = "", []
    for part in parts:
        text += part
        growing.append(part)
        whole = tok.encode(text, add_special_tokens=False, parse_special=parse_special)
        assert growing.ids == whole.ids
        assert growing.ids[: len(stable)] == stable
        stable = growing.ids[: growing.num_stable]


def test_turns_of_a_conversation_become_stable() -> None:
    assert CONTENTS
    ranks = {bytes([byte]): byte for byte in range(256)}
    tok = pw.Tokenizer.from_ranks(ranks, pattern="gpt2").with_parse_special(True)
    tok = tok.with_added_tokens(["<|end|>"], special=True)
    growing = pw.chat.GrowingText(tok)
    for turn in range(50):
        growing.append(f"Turn {turn}.<|end|>")
        assert len(growing.ids) - growing.num_stable < 20


WORDS = [
    "a hug ",
    "hugs",
    "  ",
    " ",
    "\n",
    " \n\n ",
    "\t",
    "Σας",
    "'s",
    " 'll",
    "19 911",
    ", b.",
    "\xa0",
    "é",
    "\u0301",
    "漢字",
    "ab",
]


@pytest.fixture(scope="module")
def trained() -> list[pw.Tokenizer]:
    lines = ["".join(random.Random(seed).choices(WORDS, k=20)) for seed in range(300)]
    return tokenizers_with_cuts(lines)


@given(data=st.data())
@settings(max_examples=500)
def test_plain_text_grows_to_the_ids_of_the_whole_text(
    trained: list[pw.Tokenizer], data: st.DataObject
) -> None:
    tok = data.draw(st.sampled_from(trained))
    growing = pw.chat.GrowingText(tok)
    text, stable = "", []
    for part in data.draw(st.lists(TEXT | st.sampled_from(WORDS), max_size=12)):
        text += part
        growing.append(part)
        assert growing.ids == tok.encode(text, add_special_tokens=False).ids
        assert growing.ids[: len(stable)] == stable
        stable = growing.ids[: growing.num_stable]


@pytest.fixture(scope="module")
def others() -> list[pw.Tokenizer]:
    """Tokenizers of other kinds, each also with an added token that letters and spaces touch."""
    lines = ["".join(random.Random(seed).choices(WORDS, k=20)) for seed in range(300)]
    sizes = {"t5": 240, "xlnet": 160, "albert": 160, "metaspace": 320}
    made = [
        pw.Tokenizer.train_from_iterator(lines, vocab_size=sizes.get(preset, 340), preset=preset)
        for preset in (*sizes, "llama", "llama-superwords", "sentencepiece")
    ]
    made.append(pw.Tokenizer.train_from_iterator(lines, vocab_size=340, model="unigram"))
    ranks = {bytes([byte]): byte for byte in range(256)}
    made.append(pw.Tokenizer.from_ranks(ranks, pattern="cl100k").with_parse_special(True))
    added = [["ab"], [pw.spec.AddedToken("b.", normalized=False)], ["<a>", " a"]]
    return [
        *made,
        *(tok.with_added_tokens(added[at % 3]) for at, tok in enumerate(made)),
        *(tok.with_added_tokens(added[(at + 1) % 3], special=True) for at, tok in enumerate(made)),
    ]


@given(data=st.data())
@settings(max_examples=500)
def test_text_of_other_models_grows_to_the_ids_of_the_whole_text(
    others: list[pw.Tokenizer], data: st.DataObject
) -> None:
    tok = data.draw(st.sampled_from(others))
    words = st.sampled_from([*WORDS, "<a>", "ab", "b.", "a b", " a a", "ab b", "\u2581"])
    text = "".join(data.draw(st.lists(TEXT | words, max_size=9)))
    ends = data.draw(st.lists(st.integers(0, len(text)), max_size=6).map(sorted))
    growing, done, stable = pw.chat.GrowingText(tok), 0, list[int]()
    for end in [*ends, len(text)]:
        growing.append(text[done:end])
        assert growing.ids == tok.encode(text[:end], add_special_tokens=False).ids
        assert growing.ids[: len(stable)] == stable
        done, stable = end, growing.ids[: growing.num_stable]


def test_each_place_can_be_the_end_of_a_part(
    trained: list[pw.Tokenizer], others: list[pw.Tokenizer]
) -> None:
    text = 'a hug, e\u0301 \u0301a\u200d b.\n\n ab <a>\'ll x = 1; {"a": "b"}  '
    text += "漢 字\r\n Σας \U0001f468\u200d\U0001f469"
    for tok in [*trained, *others]:
        growing = pw.chat.GrowingText(tok)
        for end, character in enumerate(text, 1):
            growing.append(character)
            assert growing.ids == tok.encode(text[:end], add_special_tokens=False).ids


@pytest.mark.parametrize("number", range(2 * len(PRESETS)))
def test_words_of_plain_text_become_stable(trained: list[pw.Tokenizer], number: int) -> None:
    growing = pw.chat.GrowingText(trained[number])
    for _ in range(50):
        growing.append("a hug of ab hugs,")
        assert len(growing.ids) - growing.num_stable < 12


def test_a_longer_token_can_still_replace_the_last_one() -> None:
    added = [pw.spec.AddedToken(content, 300 + at) for at, content in enumerate(["<a>", "b<a>]"])]
    tok = pw.Tokenizer.from_spec(byte_level(tuple(added)))
    growing = pw.chat.GrowingText(tok, "b<a>")
    assert (growing.ids, growing.num_stable) == ([98, 300], 0)
    growing.append("]")
    assert growing.ids == [301]
