"""Word ids by the metaspace, for models whose pre-token is the whole text."""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.rows import word_numbers

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
    return split, pw.stages.with_word_ids(whole, "metaspace")


@given(TEXT, TEXT | st.none())
@settings(max_examples=300)
def test_words_equal_those_of_a_metaspace_pre_tokenizer(text: str, pair: str | None) -> None:
    split, whole = split_and_whole()
    expected, found = split.encode(text, pair), whole.encode(text, pair)
    assert found.ids == expected.ids
    assert found.word_ids == expected.word_ids
    texts: Any = [text, "a b"] if pair is None else [(text, pair), ("a b", "b")]
    batch = whole.encode_batch(texts, offsets=True)
    assert batch.word_ids.tolist() == split.encode_batch(texts, offsets=True).word_ids.tolist()


@given(TEXT, st.integers(1, 5), st.sampled_from(["left", "right"]))
@settings(max_examples=300)
def test_windows_count_the_words_of_the_whole_text(text: str, length: int, side: Any) -> None:
    split, whole = (
        tok.with_truncation(length, stride=length - 1, side=side) for tok in split_and_whole()
    )
    expected, found = split.encode(text), whole.encode(text)
    assert found.word_ids == expected.word_ids
    assert [w.word_ids for w in found.overflowing] == [w.word_ids for w in expected.overflowing]
    batch, theirs = (
        t.encode_batch([text, "a b"], offsets=True, overflow=True) for t in (whole, split)
    )
    assert batch.word_ids.tolist() == theirs.word_ids.tolist()


def test_lookups_between_words_and_tokens_follow() -> None:
    encoding = split_and_whole()[1].encode("ab ab<x>b")
    assert encoding.tokens == ["ab", "▁a", "b", "<x>", "b"]
    assert encoding.word_to_tokens(1) == (1, 3)
    assert [encoding.char_to_word(at) for at in (0, 3, 5, 8)] == [0, 1, 2, 3]


def test_the_setting_is_kept_by_variants_and_pickles() -> None:
    whole = split_and_whole()[1]
    for tok in (
        pickle.loads(pickle.dumps(whole)),
        whole.with_padding(pad_id=0),
        whole.with_roles(),
    ):
        assert tok.encode("a b").word_ids == [0, 1]
    assert pw.stages.with_word_ids(whole, "pre-token").encode("a b").word_ids == [0, 0]
    assert whole == pw.stages.with_word_ids(whole, "pre-token")
    assert whole.encode(["a b", "a"], is_pretokenized=True).word_ids == [0, 0, 1]
    with pytest.raises(pw.errors.ArgumentError, match="kind: must be .*, not 'word'"):
        pw.stages.with_word_ids(whole, "word")  # type: ignore[arg-type]


@pytest.mark.parametrize("batched", [False, True])
def test_many_windows_of_a_long_text_are_numbered(
    batched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    for name in ("_starts", "_is_of"):
        original = getattr(word_numbers, name)

        def counted(*args: Any, original: Any = original) -> Any:
            calls.append(args)
            return original(*args)

        monkeypatch.setattr(word_numbers, name, counted)
    windows, words = 3000, 2 * 3000
    _, whole = split_and_whole()
    tok = whole.with_truncation(4, stride=0)
    text = " ab" * words
    if batched:
        batch = tok.encode_batch([text], offsets=True, overflow=True)
        numbers = batch.word_ids[batch.word_ids >= 0]
        # Both sequences of each window, and the text once for each.
        assert len(calls) <= 2 * len(batch) + 2
    else:
        encoding = tok.encode(text)
        numbers = [id for one in (encoding, *encoding.overflowing) for id in one.word_ids]
        assert len(calls) == 1
    assert sorted(set(map(int, numbers))) == list(range(words))
    assert windows <= len(numbers)
