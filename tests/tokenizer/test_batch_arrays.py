"""`Batch` as arrays for training: dtypes, model inputs by name, and Arrow without copies."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from functools import partial
from typing import Any

import numpy as np
import polars
import pyarrow as pa
import pytest

import piecework as pw
from piecework.errors import ArgumentError, InputTypeError
from piecework.tokenizer.batch import arrow_table

VOCAB = {"[UNK]": 0, "a": 1, "b": 2, "[PAD]": 3, "[CLS]": 4, "[SEP]": 5}
BARE = pw.Tokenizer(pw.spec.Char(VOCAB))
TOK = BARE.with_added_tokens(["[PAD]", "[CLS]", "[SEP]"], special=True)
BERT = TOK.with_post_processor(pw.spec.TemplateProcessing.bert(cls_id=4, sep_id=5))
TEXTS = ["abab", "a", "ab"]


def rows_padded(rows: list[list[int]], filling: int, side: str) -> list[list[int]]:
    """Return the definition of padding to the longest row, in plain Python."""
    width = max(map(len, rows), default=0)
    fill = [[filling] * (width - len(row)) for row in rows]
    pairs = zip(rows, fill, strict=True)
    return [more + row if side == "left" else row + more for row, more in pairs]


# ---- dtypes


@pytest.mark.parametrize("dtype", ["int64", np.int32, "uint16", np.dtype(">i8")])
def test_rectangles_have_the_given_dtype(dtype: Any) -> None:
    filled = TOK.encode_batch(TEXTS).to_numpy(dtype=dtype)
    assert filled.dtype == np.dtype(dtype).newbyteorder("=")
    assert filled.tolist() == rows_padded([[1, 2, 1, 2], [1], [1, 2]], 3, "right")


@pytest.mark.parametrize(
    ("dtype", "pad", "place"),
    [
        *(("float32", 3, "dtype"), ("no", 3, "dtype"), (object, 3, "dtype"), (bool, 3, "dtype")),
        *(("uint8", 256, "pad_id"), ("int16", 2**15, "pad_id"), ("int32", 2**31, "pad_id")),
    ],
)
def test_dtypes_that_cannot_represent_ids_are_rejected(dtype: Any, pad: int, place: str) -> None:
    batch = TOK.encode_batch(TEXTS)
    for call in (batch.to_numpy, partial(batch.to_dict, return_tensors="np")):
        with pytest.raises(ArgumentError) as raised:
            call(pad, dtype=dtype)
        assert raised.value.place == place


def test_a_padding_id_that_does_not_fit_is_told_the_ids_that_do() -> None:
    message = "pad_id: 300 does not fit into uint8; use an id from 0 to 255, or another dtype"
    with pytest.raises(ArgumentError, match=f"^{message}$"):
        TOK.encode_batch(TEXTS).to_numpy(pad_id=300, dtype="uint8")


def test_ids_that_do_not_fit_a_dtype_are_named() -> None:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 300, "b": 70_000}))
    batch = tok.encode_batch(["ab", "ba"])
    with pytest.raises(
        ArgumentError,
        match="dtype: 70000 does not fit into int16; use a dtype that can represent 70000, such as",
    ):
        batch.to_numpy(dtype="int16")
    assert batch[:0].to_numpy(dtype="int16").shape == (0, 0)
    spans = TOK.encode_batch(TEXTS, offsets=True)
    assert spans.to_numpy(column="word_ids", dtype="int8").dtype == np.int8
    with pytest.raises(
        ArgumentError,
        match=(
            "dtype: -1 does not fit into uint8; use a dtype that can represent -1, such as int64"
        ),
    ):
        spans.to_numpy(column="word_ids", dtype="uint8")


# ---- to_dict


@pytest.mark.parametrize("side", ["right", "left"])
def test_model_inputs_have_the_names_and_the_order_of_transformers(side: Any) -> None:
    inputs = BERT.encode_batch(TEXTS, TEXTS[::-1]).to_dict(side=side, return_tensors="np")
    assert list(inputs) == ["input_ids", "token_type_ids", "attention_mask"]
    rows = [BERT.encode(*pair) for pair in zip(TEXTS, TEXTS[::-1], strict=True)]
    assert inputs["input_ids"].tolist() == rows_padded([row.ids for row in rows], 3, side)
    assert inputs["token_type_ids"].tolist() == rows_padded([r.type_ids for r in rows], 0, side)
    ones = [[1] * len(row) for row in rows]
    assert inputs["attention_mask"].tolist() == rows_padded(ones, 0, side)
    assert {values.dtype for values in inputs.values()} == {np.dtype(np.int64)}


def test_token_types_are_included_when_the_tokenizer_has_some() -> None:
    single = BERT.encode_batch(TEXTS)
    assert list(single.to_dict()) == ["input_ids", "attention_mask"]
    with_types = single.to_dict(return_tensors="np", return_token_type_ids=True)
    assert not with_types["token_type_ids"].any()
    assert with_types["token_type_ids"].shape == with_types["input_ids"].shape
    pairs = BERT.encode_batch(TEXTS, TEXTS)
    assert "token_type_ids" not in pairs.to_dict(return_token_type_ids=False)


def test_lists_are_rows_of_their_own_lengths() -> None:
    batch = BERT.encode_batch(TEXTS, TEXTS[::-1])
    lists = batch.to_dict()
    assert lists["input_ids"] == batch.to_lists()
    assert lists["attention_mask"] == [[1] * len(row) for row in batch.to_lists()]
    assert lists["token_type_ids"] == [row.type_ids for row in batch]
    assert len({len(row) for row in lists["input_ids"]}) > 1
    assert type(lists["attention_mask"][0][0]) is int
    assert BERT.encode_batch([]).to_dict() == {"input_ids": [], "attention_mask": []}
    assert BERT.encode_batch(["", "a"]).to_dict()["input_ids"][0] == BERT.encode("").ids
    with pytest.raises(ArgumentError, match="return_tensors.*tf"):
        batch.to_dict(return_tensors="tf")  # type: ignore[arg-type]


def test_lists_of_a_tokenizer_that_pads_are_padded() -> None:
    lists = BERT.with_padding(8).encode_batch(TEXTS).to_dict()
    assert {len(row) for column in lists.values() for row in column} == {8}


@pytest.mark.parametrize("argument", [{"pad_id": 0}, {"side": "left"}, {"dtype": "int32"}])
def test_lists_take_no_setting_of_rectangles(argument: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=r"return_tensors=\"np\" or \"pt\""):
        BERT.encode_batch(TEXTS).to_dict(**argument)


def test_padding_that_was_applied_is_masked() -> None:
    padded = BERT.with_padding(8, side="left", pad_type_id=1).encode_batch(TEXTS)
    inputs = padded.to_dict(return_tensors="np")
    assert inputs["input_ids"].shape == (3, 8)
    assert (inputs["attention_mask"] == (inputs["input_ids"] != 3)).all()
    assert (inputs["token_type_ids"] == (inputs["input_ids"] == 3)).all()
    assert (
        padded[1:].to_dict(return_tensors="np")["input_ids"].tolist()
        == inputs["input_ids"][1:].tolist()
    )


def test_empty_batches_and_empty_rows_have_empty_rectangles() -> None:
    for texts, shape in (([], (0, 0)), (["", ""], (2, 0))):
        batch = BARE.encode_batch(texts, offsets=True)
        for values in batch.to_dict(return_tensors="np").values():
            assert values.shape == shape
            assert values.dtype == np.int64
        assert batch.to_numpy(column="offsets").shape == (*shape, 2)
        assert pa.table(batch).num_rows == shape[0]
    assert TOK.encode_batch(["", "a"]).to_dict(return_tensors="np")["input_ids"].tolist() == [
        [3],
        [1],
    ]


def test_windows_and_slices_are_rows_as_others() -> None:
    tok = BERT.with_truncation(4, stride=1)
    windows = tok.encode_batch([*TEXTS, "bbbbbb"], overflow=True)
    for batch in (windows, windows[1:4], windows[::-2], windows[3:3]):
        inputs = batch.to_dict(return_tensors="np")
        assert inputs["input_ids"].tolist() == rows_padded(batch.to_lists(), 3, "right")
        table = pa.table(batch)
        assert table["input_ids"].to_pylist() == batch.to_lists()
        samples = table["overflow_to_sample_mapping"].to_pylist()
        assert samples == batch.overflow_to_sample_mapping.tolist()


def test_changing_the_result_does_not_change_the_batch() -> None:
    batch = TOK.encode_batch(["ab", "ba"])
    for filled in (
        batch.to_numpy(),
        batch.to_numpy(dtype="uint32"),
        batch.to_dict(return_tensors="np")["input_ids"],
    ):
        filled[:] = 0
    assert batch.to_lists() == [[1, 2], [2, 1]]


def test_an_invalid_pad_id_is_rejected() -> None:
    batch = TOK.encode_batch(TEXTS)
    for pad, error in ((-1, ArgumentError), (2**32, ArgumentError), ("x", InputTypeError)):
        with pytest.raises(error) as raised:
            batch.to_dict(pad, return_tensors="np")  # type: ignore[arg-type]
        assert raised.value.place == "pad_id"  # type: ignore[attr-defined]
    with pytest.raises(ArgumentError, match="pad_id"):
        BARE.encode_batch(TEXTS).to_dict(return_tensors="np")


# ---- Arrow


def address(column: Any) -> int:
    """Return the address of the flat values of a column of lists."""
    (chunk,) = column.chunks
    found: int = chunk.values.buffers()[-1].address
    return found


def test_pyarrow_reads_ids_without_a_copy() -> None:
    batch = TOK.encode_batch(TEXTS)
    table = pa.table(batch)
    assert table.schema == pa.schema({"input_ids": pa.list_(pa.uint32())})
    assert table["input_ids"].to_pylist() == batch.to_lists()
    assert address(table["input_ids"]) == batch.ids.ctypes.data


def test_every_column_of_the_batch_is_a_column_of_the_table() -> None:
    tok = BERT.with_padding(12).with_truncation(12)
    batch = tok.encode_batch(TEXTS, TEXTS[::-1], offsets=True, overflow=True)
    table = pa.table(batch)
    assert {field.name: str(field.type) for field in table.schema} == {
        "input_ids": "list<item: uint32>",
        "token_type_ids": "list<item: uint8>",
        "attention_mask": "list<item: uint8>",
        "special_tokens_mask": "list<item: uint8>",
        "offset_mapping": "list<item: fixed_size_list<item: uint32>[2]>",
        "word_ids": "list<item: int32>",
        "sequence_ids": "list<item: int8>",
        "overflow_to_sample_mapping": "int64",
    }
    names = {"input_ids": "ids", "token_type_ids": "type_ids", "offset_mapping": "offsets"}
    for name in table.column_names[:-1]:
        flat = getattr(batch, names.get(name, name))
        rows = np.split(flat, batch.row_offsets[1:-1])
        assert table[name].to_pylist() == [row.tolist() for row in rows], name
    for name in ("input_ids", "token_type_ids", "attention_mask", "word_ids"):
        flat = getattr(batch, names.get(name, name))
        assert address(table[name]) == flat.ctypes.data, name
    offsets = table["offset_mapping"].chunk(0).values.values
    assert offsets.buffers()[1].address == batch.offsets.ctypes.data


def test_polars_reads_a_batch() -> None:
    batch = BERT.encode_batch(TEXTS, TEXTS)
    frame = polars.DataFrame(batch)
    assert frame.columns == ["input_ids", "token_type_ids"]
    assert frame["input_ids"].to_list() == batch.to_lists()
    assert frame["input_ids"].dtype == polars.List(polars.UInt32)


def test_a_requested_schema_is_cast() -> None:
    batch = TOK.encode_batch(TEXTS)
    schema = pa.schema({"input_ids": pa.list_(pa.int64())})
    table = pa.table(batch, schema=schema)
    assert table.schema == schema
    assert table["input_ids"].to_pylist() == batch.to_lists()


def test_offsets_of_64_bits_are_used_for_many_tokens() -> None:
    values = np.arange(6, dtype=np.uint32)
    row_offsets = np.array([0, 2, 2, 6])
    for limit, kind in ((6, pa.list_(pa.uint32())), (5, pa.large_list(pa.uint32()))):
        table = arrow_table(row_offsets, {"input_ids": values}, {}, max_short_offset=limit)
        assert table.schema.field("input_ids").type == kind
        assert table["input_ids"].to_pylist() == [[0, 1], [], [2, 3, 4, 5]]
        assert address(table["input_ids"]) == values.ctypes.data


def test_a_table_outlives_its_batch_and_then_frees_it() -> None:
    batch = TOK.encode_batch(TEXTS * 1000)
    expected, ids = batch.to_lists(), weakref.ref(batch.ids)
    table = pa.table(batch)
    del batch
    gc.collect()
    assert ids() is not None
    assert table["input_ids"].to_pylist() == expected
    del table
    gc.collect()
    assert ids() is None


def test_missing_packages_are_named_with_their_extra() -> None:
    code = """
import sys
sys.modules.update(pyarrow=None, torch=None)
import piecework as pw
batch = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1})).encode_batch(["a"])
for call in (batch.__arrow_c_stream__, batch.to_torch, lambda: batch.to_dict(return_tensors="pt")):
    try:
        call()
    except pw.errors.MissingExtraError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    arrow, torch, tensors = done.stdout.splitlines()
    assert arrow.startswith("Batch.__arrow_c_stream__: needs pyarrow, which ")
    assert "the extra 'arrow' of piecework: pip install 'pyarrow>=14'" in arrow
    assert torch.startswith("Batch.to_torch: needs torch, which ")
    assert tensors.startswith("return_tensors: needs torch, which ")
    assert "pip install 'torch>=2.3'" in torch
    assert "pip install 'torch>=2.3'" in tensors
