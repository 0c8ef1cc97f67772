"""Columns of texts that other libraries hold are encoded as lists of their strings are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw

pa = pytest.importorskip("pyarrow")
TEXTS = ["hugs pug", "", "a rather long text, beyond what a view holds", "žába 蛙 🐸", "pun"]
TOK = pw.Tokenizer.train_from_iterator(["hug hugs pug pun bun"] * 5, vocab_size=26)


def polars_series(texts: list[str]) -> Any:
    return pytest.importorskip("polars").Series(texts)


COLUMNS: dict[str, Callable[[list[str]], Any]] = {
    "tuple": tuple,
    "arrow string": lambda texts: pa.array(texts, pa.string()),
    "arrow large_string": lambda texts: pa.array(texts, pa.large_string()),
    "arrow string_view": lambda texts: pa.array(texts, pa.string_view()),
    "arrow binary": lambda texts: pa.array([text.encode() for text in texts], pa.binary()),
    "arrow slice": lambda texts: pa.array(["x", *texts, "y"], pa.string()).slice(1, len(texts)),
    "arrow chunks": lambda texts: pa.chunked_array([texts[:1], [], texts[1:]], pa.string()),
    "no chunk": lambda texts: pa.chunked_array([texts] if texts else [], pa.string()),
    "numpy objects": lambda texts: np.array(texts, dtype=object),
    "numpy bytes": lambda texts: np.array([text.encode() for text in texts], dtype="S"),
    "numpy bytes apart": lambda texts: np.array(
        [part for text in texts for part in (text.encode(), b"-")], dtype="S"
    )[::2],
    "polars": polars_series,
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("texts", [TEXTS, [], ["only"]], ids=["some", "none", "one"])
def test_every_column_gives_the_ids_of_the_list(kind: str, texts: list[str]) -> None:
    column = COLUMNS[kind](texts)
    batch = TOK.encode_batch(column)
    assert batch.to_lists() == TOK.encode_batch(texts).to_lists()
    assert TOK.count_batch(column) == TOK.count_batch(texts)
    for row, text in enumerate(texts):
        assert batch[row].tokens == TOK.encode(text).tokens


def misaligned(buffer: Any) -> Any:
    """Return a copy of a buffer that begins one byte after a multiple of 64."""
    if buffer is None:
        return None
    memory = pa.allocate_buffer(buffer.size + 65)
    copy = np.frombuffer(memory, np.uint8)
    copy[1 : 1 + buffer.size] = np.frombuffer(buffer, np.uint8)
    moved = memory.slice(1, buffer.size)
    assert moved.address % 64 == 1
    return moved


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.large_binary()]
)
@pytest.mark.parametrize("with_nulls", [False, True])
def test_arrow_buffers_need_not_be_aligned(kind: Any, with_nulls: bool) -> None:
    texts = ["before", *TEXTS, "after"]
    values: list[Any] = [text.encode() for text in texts] if kind == pa.large_binary() else texts
    whole = pa.array([*values, None] if with_nulls else values, kind)
    moved = pa.Array.from_buffers(
        kind, len(whole), [misaligned(buffer) for buffer in whole.buffers()]
    )
    expected = TOK.encode_batch(texts).to_lists()
    assert TOK.encode_batch(moved.slice(0, len(texts))).to_lists() == expected
    for start, length in ((1, len(TEXTS)), (3, 2), (len(texts), 0)):
        rows = slice(start, start + length)
        sliced = moved.slice(start, length)
        assert sliced.buffers()[1].address % 4 == 1
        assert TOK.encode_batch(sliced).to_lists() == expected[rows]
        assert TOK.encode_batch(pa.chunked_array([sliced, sliced])).to_lists() == expected[rows] * 2


def test_a_capsule_of_another_name_is_refused() -> None:
    class Lends:
        def __init__(self, schema: Any, array: Any) -> None:
            self.capsules = (schema, array)

        def __arrow_c_array__(self, requested_schema: object = None) -> Any:
            return self.capsules

    schema, array = pa.array(TEXTS).__arrow_c_array__()
    for swapped in (Lends(array, schema), Lends(schema, schema), Lends("no", "capsule")):
        with pytest.raises((ValueError, TypeError)):
            TOK.encode_batch(swapped)
    expected = TOK.encode_batch(TEXTS).to_lists()
    column = Lends(schema, array)
    assert TOK.encode_batch(column).to_lists() == expected
    with pytest.raises(pw.errors.ArgumentError, match="taken before"):
        TOK.encode_batch(column)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40)))
def test_arrow_columns_of_any_text(texts: list[str]) -> None:
    expected = TOK.encode_batch(texts).to_lists()
    for kind in ("arrow string", "arrow large_string", "arrow string_view", "arrow chunks"):
        assert TOK.encode_batch(COLUMNS[kind](texts)).to_lists() == expected, kind


def test_pairs_may_be_columns() -> None:
    pairs = pa.array(TEXTS[::-1])
    expected = TOK.encode_batch(TEXTS, TEXTS[::-1]).to_lists()
    assert TOK.encode_batch(pa.array(TEXTS), pairs).to_lists() == expected


def test_special_tokens_in_a_column_are_refused_where_they_are_in_a_list() -> None:
    strict = TOK.with_parse_special("refuse")
    column = pa.array(["hug", "[SEP]"])
    with pytest.raises(pw.errors.SpecialTokenError, match=r"\[SEP\]"):
        strict.encode_batch(column)
    assert strict.encode_batch(column, parse_special=False)[1].tokens[1] != "[SEP]"


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_a_null_is_named(kind: Any) -> None:
    column = pa.chunked_array([["a", "b"], ["c", None]], kind)
    with pytest.raises(
        pw.errors.InputTypeError,
        match=r"texts\[3\]: must be str, not null; drop nulls, or call encode_column of",
    ):
        TOK.encode_batch(column)


def test_bytes_that_are_not_utf8_are_named() -> None:
    for column in (np.array([b"a", b"b\xff"]), pa.array([b"a", b"b\xff"], pa.binary())):
        with pytest.raises(pw.errors.InvalidUtf8Error, match=r"texts\[1\].* from byte 1 on"):
            TOK.count_batch(column)


def test_columns_of_something_else_are_refused() -> None:
    cases = [
        (pa.array([1, 2]), ".*, not an Arrow column of integers"),
        (pa.array([[1]]), ".*, not an Arrow column of lists"),
        (pa.array([0.5]), ".*, not an Arrow column of floating-point numbers"),
        (pa.table({"a": ["b"]}), ".*such as one of a table's columns; .*, not an Arrow table"),
        (
            pa.array(["a"]).dictionary_encode(),
            ".*encoded with encode_column of .*, not an Arrow dictionary",
        ),
    ]
    for column, message in cases:
        with pytest.raises(pw.errors.ArgumentError, match=f"^texts: must be {message}"):
            TOK.encode_batch(column)
    with pytest.raises(pw.errors.ArgumentError, match="must have one dimension, not 2"):
        TOK.encode_batch(np.array([[b"a"]]))


def test_a_batch_keeps_its_column_alive() -> None:
    batch = TOK.encode_batch(pa.array(["hugs pug"] * 3))
    assert batch[2].tokens == TOK.encode("hugs pug").tokens
