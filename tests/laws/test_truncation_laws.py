"""What truncation keeps equals the truncation of the whole text, for published vocabularies of every route.

The whole text is encoded where windows are asked for, and by tokenizers that truncate nothing.
"""

from __future__ import annotations

import gzip
from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import piecework as pw
from tests.data import need

# Byte-level, BERT's, metaspace and SentencePiece's Unigram; some of them without cuts.
VOCABULARIES = (
    "vocab/bert-base-uncased/tokenizer.json",
    "vocab/gpt2/tokenizer.json.gz",
    "vocab/roberta-base/tokenizer.json.gz",
    "vocab/qwen2.5/tokenizer.json.gz",
    "vocab/deepseek-v3/tokenizer.json.gz",
    "vocab/tiktoken/o200k_base.tiktoken",
    "vocab/mistral-7b-v0.1/tokenizer.json.gz",
    "vocab/mistral/tokenizer.model.v1",
    "vocab/maxtext-default/tokenizer.model",
    "vocab/xlm-roberta-base/tokenizer.json.gz",
    "vocab/t5-small/tokenizer.json.gz",
    "vocab/albert-v2/tokenizer.json.gz",
)
WORDS = (
    "the of Tokenizers segment text unaffable hundreds 1234567 3.14 don't I'll x=y; return self._ids",
    "naïve café Größe Straße слово предложения Ελληνικά ΟΔΟΣ עברית العربية हिन्दी ไทยคำ 日本語のテキスト",
    "漢字，分詞。 한국어 🤗🤗 a\u0301e\u0323\u0302 \ufb01ne \u2581ab <s> </s> <mask> [MASK] <|endoftext|> ",
)
SPACES = (" ", " ", " ", " ", "  ", "\n", "\t", "\u3000", "")

patiently = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    max_examples=25,
)


@st.composite
def long_texts(draw: st.DrawFn) -> str:
    words = st.sampled_from([*" ".join(WORDS).split(), "a" * 300])
    spaces = st.sampled_from(draw(st.sampled_from([SPACES, SPACES, SPACES[-1:]])))
    text = "".join(draw(st.lists(st.tuples(words, spaces), max_size=60).map(_joined)))
    return text * draw(st.integers(1, 8))


def _joined(parts: list[tuple[str, str]]) -> str:
    return "".join(word + space for word, space in parts)


@cache
def load(name: str) -> pw.Tokenizer:
    path = need(name)
    if path.suffix == ".gz":
        return pw.Tokenizer.from_bytes(gzip.decompress(path.read_bytes()))
    if path.suffix != ".tiktoken":
        return pw.Tokenizer.load(path)
    ranks = pw.Tokenizer.load(path, encoding_name=path.stem)
    return ranks.with_parse_special(True)


@pytest.mark.parametrize("name", VOCABULARIES)
@given(data=st.data())
@patiently
def test_what_is_kept_equals_the_first_window_of_the_whole(name: str, data: Any) -> None:
    whole = load(name).without_truncation().without_padding()
    texts = data.draw(st.lists(long_texts(), min_size=1, max_size=4))
    side = data.draw(st.sampled_from(["right", "left"]))
    length = data.draw(st.integers(8, 90))
    special = data.draw(st.booleans())
    tok = whole.with_truncation(length, side=side)
    ids = [whole.encode(text, add_special_tokens=False).ids for text in texts]
    bare = [row[:length] if side == "right" else row[max(len(row) - length, 0) :] for row in ids]
    assert tok.encode_batch(texts, add_special_tokens=False).to_lists() == bare

    windows = tok.encode_batch(texts, add_special_tokens=special, overflow=True, offsets=True)
    first = [windows.overflow_to_sample_mapping.tolist().index(text) for text in range(len(texts))]
    rows = [windows[row] for row in first]
    column = pa.array(texts, pa.large_string())
    for given_texts, offsets in [(texts, False), (column, False), (texts, True), (column, True)]:
        found = tok.encode_batch(given_texts, add_special_tokens=special, offsets=offsets)
        assert found.to_lists() == [row.ids for row in rows]
        if offsets:
            assert [row.offsets for row in found] == [row.offsets for row in rows]
            assert [row.word_ids for row in found] == [row.word_ids for row in rows]
    for text, row in zip(texts, rows, strict=True):
        one = tok.encode(text, add_special_tokens=special)
        assert (one.ids, one.offsets, one.word_ids) == (row.ids, row.offsets, row.word_ids)
        assert one.special_tokens_mask == row.special_tokens_mask
    counts = windows.overflow_to_sample_mapping.tolist()
    assert [
        len(tok.encode(text, add_special_tokens=special).overflowing) + 1 for text in texts
    ] == [counts.count(text) for text in range(len(texts))]


@pytest.mark.parametrize("name", VOCABULARIES)
@given(data=st.data())
@patiently
def test_what_is_kept_of_a_pair_equals_the_first_window_of_the_whole(name: str, data: Any) -> None:
    texts, pairs = (data.draw(st.lists(long_texts(), min_size=2, max_size=2)) for _ in range(2))
    strategy = data.draw(st.sampled_from(["longest_first", "only_first", "only_second"]))
    side = data.draw(st.sampled_from(["right", "left"]))
    settings = {"strategy": strategy, "side": side}
    tok = load(name).without_padding().with_truncation(data.draw(st.integers(8, 90)), **settings)

    def seen(**options: Any) -> Any:
        try:
            batch = tok.encode_batch(texts, pairs, **options)
        except pw.errors.ArgumentError as error:
            return str(error)
        samples = batch.overflow_to_sample_mapping.tolist()
        rows = [batch[samples.index(text)] for text in range(len(texts))]
        columns = ("ids", "offsets", "word_ids", "sequence_ids")
        return [[getattr(row, column) for column in columns] for row in rows]

    assert seen(offsets=True) == seen(offsets=True, overflow=True)


@pytest.mark.parametrize("name", VOCABULARIES)
def test_invalid_text_beyond_what_is_kept_is_an_error(name: str) -> None:
    tok = load(name).without_padding().with_truncation(8)
    for before in ("some words ", "слово 漢 "):
        text = before * 200 + "\ud800"
        for encode in (tok.encode, lambda text: tok.encode_batch([text])):
            with pytest.raises(pw.errors.ArgumentError, match="lone surrogate"):
                encode(text)
        content = before.encode() * 200 + b"\xff"
        column = pa.array([content], pa.large_binary()).view(pa.large_string())
        with pytest.raises(pw.errors.InvalidUtf8Error):
            tok.encode_batch(column)
