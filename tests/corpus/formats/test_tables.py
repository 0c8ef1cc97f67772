"""Parquet and Arrow files: types, damage, dictionaries and bounds."""

from __future__ import annotations

import gzip
import io
import struct
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.corpus import columns, csv_rows, read_corpus, rows
from tests.corpus.formats.samples import TABLES, TEXTS, arrow_data, parquet_data, skip, texts, write

pyarrow = pytest.importorskip("pyarrow", reason="Parquet and Arrow files need pyarrow")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"body": ["x"]},
            "column 'text': must be one column with strings; the file has only 'body'",
        ),
        ({"text": [3]}, "column 'text': found values of type int64, expected strings"),
        ({"text": ["a", None]}, "row 2 column 'text': found a null, expected a string"),
    ],
)
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_a_table_without_the_texts_is_rejected(
    tmp_path: Path, table: dict[str, Any], message: str, name: str
) -> None:
    made = pyarrow.table(table)
    data = parquet_data(made) if name == "a.parquet" else arrow_data("stream", made)
    with pytest.raises(pw.errors.CorpusError, match=rf"{name} {message}"):
        texts(write(tmp_path / name, data))


@pytest.mark.parametrize("name", TABLES)
def test_damaged_tables_are_rejected_at_any_end(tmp_path: Path, name: str) -> None:
    data = TABLES[name]()
    for end in [0, 3, 8, *range(10, len(data) - 1, 97)]:
        path = write(tmp_path / name, data[:end])
        try:
            found = texts(path)
        except pw.errors.CorpusError as error:
            assert str(path) in str(error)  # noqa: PT017
        else:  # a stream may end after a batch
            assert name == "stream.arrow"
            assert found == TEXTS[: len(found)]


@pytest.mark.parametrize("name", TABLES)
def test_changed_bytes_in_a_table_raise_typed_errors_only(tmp_path: Path, name: str) -> None:
    data = TABLES[name]()
    for position in range(0, len(data), 7):
        changed = bytearray(data)
        changed[position] ^= 0xFF
        path = write(tmp_path / name, bytes(changed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                texts(path)
            except (pw.errors.CorpusError, pw.errors.FileError) as error:
                assert name in str(error)  # noqa: PT017


def test_invalid_utf8_in_a_table_is_replaced_and_counted_or_rejected(tmp_path: Path) -> None:
    binary = pyarrow.array([b"ok", b"a\xffb", None], pyarrow.binary())
    table = pyarrow.table({"text": binary.view(pyarrow.string()).slice(0, 2)})
    path = write(tmp_path / "a.arrow", arrow_data("file", table))
    assert [(p.texts, p.replacements) for p in read_corpus(path)] == [(["ok", "a\ufffdb"], 1)]
    with pytest.raises(pw.errors.InvalidUtf8Error, match=r"a\.arrow row 2 column 'text'"):
        texts(path, encoding_errors="strict")


@pytest.mark.parametrize("form", ["file", "stream"])
@pytest.mark.parametrize("is_dictionary", [False, True])
def test_a_record_batch_longer_than_its_buffers_is_rejected(
    tmp_path: Path, form: str, is_dictionary: bool
) -> None:
    rows = 12_345
    column = pyarrow.array(["hug"] * rows)
    table = pyarrow.table({"text": column.dictionary_encode() if is_dictionary else column})
    sink = io.BytesIO()
    with getattr(pyarrow.ipc, f"new_{form}")(sink, table.schema) as writer:
        writer.write_table(table)
    data = sink.getvalue()
    length = struct.pack("<q", rows)
    assert length in data
    path = write(tmp_path / "a.arrow", data.replace(length, struct.pack("<q", 1 << 33)))
    with pytest.raises(pw.errors.CorpusError, match=r"a\.arrow: found damaged Arrow data"):
        texts(path)


def dictionary_data(indices: list[int | None], values: list[str | None]) -> bytes:
    column = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array(indices, pyarrow.int32()), pyarrow.array(values, pyarrow.string()), safe=False
    )
    return arrow_data("file", pyarrow.table({"text": column}))


def test_a_null_of_a_dictionary_is_a_null(tmp_path: Path) -> None:
    path = write(tmp_path / "a.arrow", dictionary_data([0, 1, None, 0], ["a", None]))
    with pytest.raises(pw.errors.CorpusError, match=r"row 2 column 'text': found a null"):
        texts(path)
    found, summary = skip(path)
    assert found == ["a", "a"]
    assert "a field that is not a string: 2" in summary


@pytest.mark.parametrize("index", [2, 900, -1])
def test_an_index_outside_a_dictionary_is_rejected(tmp_path: Path, index: int) -> None:
    path = write(tmp_path / "a.arrow", dictionary_data([0, index], ["a", "b"]))
    with pytest.raises(
        pw.errors.CorpusError, match=rf"a\.arrow: .*index {index} of a dictionary with 2 values"
    ):
        texts(path)


def test_another_format_under_the_name_of_a_table_is_rejected(tmp_path: Path) -> None:
    for data, found in (
        (gzip.compress(parquet_data()), "gzip data"),
        (b"text", "another format"),
        (b"", "no bytes"),
    ):
        for name in ("a.parquet", "a.arrow"):
            with pytest.raises(pw.errors.CorpusError, match=rf"{name}: found {found}"):
                texts(write(tmp_path / name, data))


def test_tables_without_their_extra_say_which_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.arrow", arrow_data("file"))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(pw.errors.MissingExtraError, match="pip install 'pyarrow>=14'"):
        texts(path)


def test_lists_of_texts_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (rows, csv_rows, columns):
        monkeypatch.setattr(module, "LIST_CHARS", 1000)
    many = ["x" * 100] * 500
    table = pyarrow.table({"text": many})
    paths = [
        write(tmp_path / "a.csv", "text\n" + "\n".join(many)),
        write(tmp_path / "a.parquet", parquet_data(table)),
        write(tmp_path / "a.arrow", arrow_data("file", table)),
    ]
    for path in paths:
        sizes = [len(piece.texts) for piece in read_corpus(path)]
        assert sum(sizes) == 500
        assert max(sizes) <= 11
