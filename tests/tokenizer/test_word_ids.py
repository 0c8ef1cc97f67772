"""Word ids by the metaspace, for models whose pre-token is the whole text."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw

TEXT = st.text("ab ▁é\n<x>", max_size=20)
END = pw.spec.AddedToken("<x>", 50)


@cache
def split_and_whole() -> tuple[pw.Tokenizer, pw.Tokenizer]:
    """Return a model with Metaspace pre-tokenizer, and the same one as Llama writes it."""
    vocab = {
        "<unk>": 0,
        **{c: i for i, c in enumerate("▁abé\n<x>", 1)},
        "▁a": 20,
        "ab": 21,
        "▁b": 22,
    }
    merges = (("▁", "a"), ("a", "b"), ("▁", "b"))
    model = pw.spec.BPE(vocab, merges, unk_token="<unk>")
    split = pw.Tokenizer(
        model, pre_tokenizer=pw.spec.Metaspace(prepend_scheme="never"), added_tokens=[END]
    )
    whole = pw.Tokenizer(
        model,
        normalizer=pw.spec.Replace(" ", "▁"),
        added_tokens=[END],
    )
    return split, whole


@given(TEXT, TEXT | st.none())
@settings(max_examples=300)
def test_words_equal_those_of_a_metaspace_pre_tokenizer(text: str, pair: str | None) -> None:
    split, whole = split_and_whole()
    expected, found = split.encode(text, pair), whole.encode(text, pair)
    assert found.ids == expected.ids
    assert pw.tokenizer.stages.metaspace_word_ids(found) == expected.word_ids


def test_the_row_of_a_batch_needs_its_words() -> None:
    row = split_and_whole()[1].encode_batch(["a b"], offsets=True)[0]
    assert pw.tokenizer.stages.metaspace_word_ids(row) == [0, 1]
    with pytest.raises(pw.errors.ArgumentError, match="offsets: must be True in encode_batch"):
        pw.tokenizer.stages.metaspace_word_ids(split_and_whole()[1].encode_batch(["a b"])[0])
    with pytest.raises(pw.errors.InputTypeError, match="^encoding: must be an Encoding, not list"):
        pw.tokenizer.stages.metaspace_word_ids([1])  # type: ignore[arg-type]


def test_words_that_were_given_can_contain_several() -> None:
    encoding = split_and_whole()[1].encode(["a b", "a"], is_pretokenized=True)
    assert encoding.word_ids == [0, 0, 1]
    assert pw.tokenizer.stages.metaspace_word_ids(encoding) == [0, 1, 2]
