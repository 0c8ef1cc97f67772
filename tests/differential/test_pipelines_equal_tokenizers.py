"""Pipelines that hypothesis composes give here what they give in `tokenizers`.

Each component alone with random options, and random sequences of them, over text that troubles them.
Differences on purpose are left out by name (docs/reference/conformance.md says why).
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import tokenizers
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import piecework as pw
from tests import components
from tests.differential import peer
from tests.differential.peer import their_failures
from tests.tie_texts import tie_texts

TEXTS = st.lists(
    st.text(st.sampled_from("aab b.#[]é É\u0301▁☃\t\n1２漢かー 한ﬁ\u200d\u00a0Ġ'st"), max_size=14)
    | st.sampled_from(["[CLS]ab[SEP]", "<x>a <x>", "ab</w>", " ab  b"]),
    min_size=1,
    max_size=4,
)
MODEL = {
    "type": "WordLevel",
    "vocab": {"[UNK]": 0, "a": 1, "ab": 2, "▁ab": 3, "Ġb": 4, "b": 5, "é": 6},
    "unk_token": "[UNK]",
}


def both(document: dict[str, Any]) -> tuple[pw.Tokenizer, tokenizers.Tokenizer]:
    text = json.dumps(document)
    try:
        theirs = tokenizers.Tokenizer.from_str(text)
    except Exception:
        assume(False)
    try:
        return pw.Tokenizer.from_str(text), theirs
    except pw.PieceworkError:
        # What they take and ours refuses is tested where the reader is.
        assume(False)
    raise AssertionError


def offsets_are_known_wrong(document: dict[str, Any]) -> bool:
    """Whether offsets differ for a reason: characters that BPE drops, text put before nothing, the
    spaces of an unknown Unigram piece trimmed as if they were a byte-level token's.
    """
    model, text = document["model"], json.dumps(document)
    drops = model["type"] == "BPE" and (model["unk_token"] is None or model["byte_fallback"])
    trims = model["type"] == "Unigram" and '"trim_offsets": true' in text
    return drops or trims or '"prepend": ""' in text


def doubles_text(document: dict[str, Any]) -> bool:
    """Whether the byte level meets, there, a text whose alignment was lost as nothing was put before it."""
    return '"prepend": ""' in json.dumps(document) and "ByteLevel" in json.dumps(
        document["pre_tokenizer"]
    )


def assert_same(document: dict[str, Any], texts: list[str]) -> None:
    assume(not doubles_text(document))
    ours, theirs = both(document)
    for text in texts:
        with their_failures():
            expected = theirs.encode(text)
            decoded = theirs.decode(expected.ids, skip_special_tokens=False)
        encoding = ours.encode(text)
        assert encoding.ids == expected.ids, text
        if not offsets_are_known_wrong(document):
            assert encoding.offsets == expected.offsets, text
        assert encoding.word_ids == expected.word_ids, text
        assert encoding.type_ids == expected.type_ids, text
        if (document["post_processor"] or {}).get("type") != "Sequence":
            # A second processor makes them forget which tokens the first one put in.
            assert encoding.special_tokens_mask == expected.special_tokens_mask, text
        assert encoding.attention_mask == expected.attention_mask, text
        assert ours.encode_batch([text]).ids.tolist() == expected.ids, text
        assert ours.decode(expected.ids, skip_special_tokens=False) == decoded, text


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(components.NORMALIZERS))
def test_each_normalizer_equals_tokenizers(kind: str) -> None:
    @settings(max_examples=150)
    @given(components.NORMALIZERS[kind], TEXTS)
    def check(normalizer: Any, texts: list[str]) -> None:
        assert_same(components.document(normalizer=normalizer, model=MODEL), texts)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(components.PRE_TOKENIZERS))
def test_each_pre_tokenizer_equals_tokenizers(kind: str) -> None:
    @settings(max_examples=150)
    @given(components.PRE_TOKENIZERS[kind], TEXTS)
    def check(pre_tokenizer: Any, texts: list[str]) -> None:
        assert_same(components.document(pre_tokenizer=pre_tokenizer, model=MODEL), texts)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(components.DECODERS))
def test_each_decoder_equals_tokenizers(kind: str) -> None:
    @settings(max_examples=150)
    @given(components.DECODERS[kind], TEXTS)
    def check(decoder: Any, texts: list[str]) -> None:
        pre_tokenizer = {"type": "WhitespaceSplit"}
        assert_same(
            components.document(decoder=decoder, pre_tokenizer=pre_tokenizer, model=MODEL), texts
        )

    check()


@settings(max_examples=1500)
@given(components.DOCUMENTS, TEXTS)
def test_random_pipelines_equal_tokenizers(document: dict[str, Any], texts: list[str]) -> None:
    if document["model"]["type"] == "BPE":
        # With dropout they encode at random.
        document = {**document, "model": {**document["model"], "dropout": None}}
    assert_same(document, texts)


WORDS = {"type": "WhitespaceSplit"}
MARKS = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
UNIGRAM_STAGES = [
    {"type": "Sequence", "pretokenizers": [WORDS, MARKS]},
    MARKS,
    {**MARKS, "split": False},
    WORDS,
    None,
]


ADDED_SPACES = ("<m>", "  ", "\u3000", "\t", " x")
SPACED_TEXT = st.text(st.sampled_from(" \u3000\tx\n"), max_size=6) | st.just("<m>")


@st.composite
def tokens_within_whitespace(draw: st.DrawFn) -> dict[str, Any]:
    """Added tokens of whitespace beside others that include whitespace, so that some overlap."""
    added = [
        {
            "id": 256 + number,
            "content": content,
            "single_word": False,
            "lstrip": draw(st.booleans()),
            "rstrip": draw(st.booleans()),
            "normalized": draw(st.booleans()),
            "special": draw(st.booleans()),
        }
        for number, content in enumerate(ADDED_SPACES)
    ]
    byte_level = {"type": "ByteLevel", "add_prefix_space": draw(st.booleans()), "use_regex": True}
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocab = {letter: id for id, letter in enumerate(letters)}
    trims = draw(st.booleans())
    return {
        "version": "1.0",
        "added_tokens": added,
        "pre_tokenizer": {**byte_level, "trim_offsets": True},
        "post_processor": {**byte_level, "trim_offsets": trims} if trims else None,
        "model": {"type": "BPE", "vocab": vocab, "merges": []},
    }


@settings(max_examples=400)
@given(tokens_within_whitespace(), st.lists(SPACED_TEXT, max_size=8).map("".join))
def test_added_tokens_within_whitespace_of_others(document: dict[str, Any], text: str) -> None:
    ours, theirs = both(document)
    with their_failures():
        expected = theirs.encode(text)
    peer.assert_same_fields(ours, theirs, [text])
    [row] = ours.encode_batch([text], offsets=True)
    assert (row.ids, row.offsets) == (expected.ids, expected.offsets)


@st.composite
def tie_models(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a Unigram model of runs and pairs whose scores are random floats: equal sums are rounded."""
    piece = st.text("0149", min_size=1, max_size=4) | st.text("aeno", min_size=1, max_size=3)
    marked = st.tuples(st.sampled_from(["", "", "▁"]), piece).map("".join)
    pieces = draw(st.lists(marked, min_size=4, max_size=30, unique=True))
    scores = draw(st.lists(st.floats(-14, -0.5), min_size=len(pieces), max_size=len(pieces)))
    vocab = [["<unk>", 0.0], ["▁", -3.0817], *map(list, zip(pieces, scores, strict=True))]
    return {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": False}


@settings(max_examples=300)
@given(tie_models(), st.sampled_from(UNIGRAM_STAGES), st.integers(0, 1000))
def test_random_unigram_models_break_ties_alike(
    model: dict[str, Any], pre_tokenizer: dict[str, Any] | None, seed: int
) -> None:
    document = components.document(pre_tokenizer=pre_tokenizer, model=model)
    ours, theirs = both(document)
    texts = tie_texts(60, seed)
    expected = [theirs.encode(text).ids for text in texts]
    assert [ours.encode(text).ids for text in texts] == expected
    assert ours.encode_batch(texts).to_lists() == expected
    assert [ours.encode(text).ids for text in texts] == expected
