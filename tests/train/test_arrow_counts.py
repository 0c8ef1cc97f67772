"""Counts as Arrow tables: sums equal counts of the whole, ids of columns, errors of workers."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import (
    ArgumentError,
    FileError,
    InputTypeError,
    TrainingError,
    WorkerError,
)
from piecework.integrations.distributed import (
    count_batch,
    counts_of_table,
    counts_table,
    encode_batch_column,
    merge_counts,
)
from piecework.integrations.distributed.engines import file_groups, output_paths
from piecework.integrations.distributed.tasks import (
    error_of_worker,
    from_signed,
    signed_batches,
    worker_function,
)
from tests.distributed.laws import columns

TEXTS = st.lists(st.text("ab ä\n", max_size=8), max_size=12)


def positions_of(sources: list[list[str]]) -> list[tuple[int, str]]:
    """Return all texts with their positions: one byte between the texts of a source."""
    rows = []
    for source, texts in enumerate(sources):
        at = source << 40
        for text in texts:
            rows.append((at, text))
            at += len(text.encode()) + 1
    return rows


@given(st.lists(TEXTS, max_size=3), st.randoms(), st.integers(1, 5))
def test_the_sum_of_batches_equals_one_count(sources, random, batches) -> None:  # type: ignore[no-untyped-def]
    rows = positions_of(sources)
    random.shuffle(rows)
    tables = []
    for start in range(batches):
        part = rows[start::batches]
        batch = pa.table(
            {
                "at": pa.array([at for at, _ in part], pa.uint64()),
                "text": pa.array([text for _, text in part], pa.string()),
            }
        )
        tables.append(count_batch(batch, "text", preset="bert-uncased", position_column="at"))
    pipeline = pw.count_texts(()).pipeline
    expected = sum(
        (pw.count_texts(texts, source=source) for source, texts in enumerate(sources)),
        start=pw.Counts([], [], [], pipeline),
    )
    random.shuffle(tables)
    assert columns(counts_of_table(merge_counts(tables), pipeline)) == columns(expected)
    nested = merge_counts([merge_counts(tables[:2]), merge_counts(tables[2:])])
    assert columns(counts_of_table(nested, pipeline)) == columns(expected)


def test_a_table_has_the_replacements_of_its_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"hug \xff\xfe pug\n")
    with pytest.warns(pw.errors.TrainingWarning):
        counts = pw.count_files(path)
    table = merge_counts([counts_table(counts), counts_table(counts)])
    assert counts_of_table(table).replacements == 4
    signed = pa.Table.from_batches(list(signed_batches(counts_table(counts))))
    assert columns(counts_of_table(from_signed(signed))) == columns(counts)


def test_positions_are_unknown_if_one_table_lacks_them() -> None:
    known = counts_table(pw.count_texts(["hug"]))
    unknown = count_batch(pa.table({"text": ["hug pug"]}), "text", preset="bert-uncased")
    assert counts_of_table(merge_counts([known, unknown])).first is None


def test_a_sum_over_64_bits_is_an_error() -> None:
    half = counts_table(pw.Counts(["hug", "pug"], np.array([1 << 63, 1], np.uint64)))
    below = counts_table(pw.Counts(["hug"], np.array([(1 << 63) - 1], np.uint64)))
    assert counts_of_table(merge_counts([half, below])).counts.tolist() == [(1 << 64) - 1, 1]
    with pytest.raises(TrainingError, match=r"counts: must have sums below 2\*\*64"):
        merge_counts([half, half])
    with pytest.raises(TrainingError, match="below 2\\*\\*63"):
        list(signed_batches(half))
    with pytest.raises(TrainingError, match=r"counts: must have sums below 2\*\*63 with Spark"):
        from_signed(pa.table({"word": ["hug"], "count": pa.nulls(1, pa.int64()), "first": [1]}))


@pytest.mark.parametrize(
    ("batch", "column", "message"),
    [
        (
            pa.table({"text": [1]}),
            "text",
            "column 'text': must contain texts, not values of type int64",
        ),
        (
            pa.table({"a": ["x"]}),
            "text",
            "column 'text': must be one column; the table has the columns a",
        ),
        (
            pa.table({"text": ["x"], "at": [-1]}),
            "at",
            (
                r"column 'at': must contain integers from 0 to 2\*\*64 - 1: Integer value "
                r"-1 not in range: 0"
            ),
        ),
        (
            pa.table({"text": ["x"], "at": ["0"]}),
            "at",
            "column 'at': must contain integers, not values of type string",
        ),
        (
            pa.table({"text": ["x"], "at": pa.nulls(1, "int64")}),
            "at",
            "column 'at': must not have empty cells; it has 1",
        ),
    ],
)
def test_a_wrong_column_is_named(batch: pa.Table, column: str, message: str) -> None:
    position_column = column if column == "at" else None
    with pytest.raises(ArgumentError, match=message):
        count_batch(batch, "text", preset="bert-uncased", position_column=position_column)


def test_only_arrow_batches_are_counted() -> None:
    with pytest.raises(InputTypeError, match="batch: must be a pyarrow.Table.*, not dict"):
        count_batch({"text": ["a"]}, "text", preset="bert-uncased")


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.null()])
def test_a_batch_without_texts_counts_and_encodes_to_nothing(kind: pa.DataType) -> None:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    for rows in (0, 2):
        batch = pa.table({"text": pa.nulls(rows, kind)})
        assert len(count_batch(batch, "text", preset="gpt2")) == 0
        assert encode_batch_column(batch, "text", tok).to_pylist() == [None] * rows


def test_ids_of_a_column_equal_those_of_a_list() -> None:
    tok = pw.Tokenizer.train_from_iterator(["hug hugs pug pun bun"] * 5, vocab_size=19)
    texts = ["hugs", "", "pun bun", "x"]
    for kind in (pa.string(), pa.large_string()):
        whole = pa.chunked_array([pa.array(texts[:1], kind), pa.array(texts[1:], kind)])
        ids = encode_batch_column(pa.table({"text": whole}), "text", tok)
        assert ids.type == pa.large_list(pa.uint32())
        assert ids.to_pylist() == tok.encode_batch(texts).to_lists()


def test_files_are_grouped_in_order_by_bytes(tmp_path: Path) -> None:
    for name, size in zip("abcde", (5, 5, 20, 1, 1), strict=True):
        (tmp_path / f"{name}.txt").write_text("x" * size)
    groups = file_groups(tmp_path, task_bytes=10, first_source=3)
    names = [(first, [Path(path).stem for path in paths]) for first, paths in groups]
    assert names == [(3, ["a", "b"]), (5, ["c"]), (6, ["d", "e"])]
    assert output_paths(["a"], tmp_path, "megatron") == [str(tmp_path / "part-00000.bin")]
    with pytest.raises(ArgumentError, match="task_bytes: must be .*, not 0"):
        file_groups(tmp_path, task_bytes=0)


def test_errors_of_workers_are_recognized_in_tracebacks() -> None:
    expected = f"piecework {pw.__version__} on every worker"
    text = f"Traceback\nRuntimeError: worker x: found piecework 0.0.0, expected {expected}\n"
    found = error_of_worker(text)
    assert isinstance(found, WorkerError)
    assert str(found) == f"worker x: found piecework 0.0.0, expected {expected}"
    assert isinstance(error_of_worker("piecework.errors.FileError: a: found b\n\n"), FileError)
    assert error_of_worker("ValueError: x\npiecework.errors.NoSuchError: a") is None


def test_a_worker_with_another_version_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    run = worker_function("version_of_worker", pickle.dumps(None))
    assert run() == pw.__version__
    monkeypatch.setattr(pw, "__version__", "0.0.0")
    with pytest.raises(RuntimeError, match=r"worker .*: found piecework 0.0.0, expected piecework"):
        run()
