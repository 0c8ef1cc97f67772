"""Keep fields of records as columns of shards."""

from __future__ import annotations

import csv
import datetime
import json
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.errors import (
    CorpusError,
    CorpusWarning,
)
from piecework.export import (
    encode_corpus,
)
from tests.export.encode_corpus.shards import ids_of, main_files, texts_of


def test_kept_fields_become_columns(tok: pw.Tokenizer, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    objects = [
        {"text": "hug", "id": "x", "url": "http://a"},
        {"text": " ", "id": "dropped"},
        {"text": "hugs", "id": 7, "url": None},
        {"text": "a", "id": {"b": ["é", 1]}},
        {"text": "cafe", "id": "\ud800"},
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(item) + "\n" for item in objects))
    encode_corpus(tok, tmp_path / "a.jsonl", tmp_path / "out", format="parquet", keep=["id", "url"])
    table = parquet.read_table(tmp_path / "out" / "a.parquet").to_pydict()
    assert table["id"] == ["x", "7", '{"b": ["é", 1]}', "\ufffd"]
    assert table["url"] == ["http://a", None, None, None]
    assert table["ids"] == ids_of(tok, ["hug", "hugs", "a", "cafe"])


def write_table(path: Path, columns: dict[str, list[Any]]) -> Path:
    """Write columns in the format of the suffix."""
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    table = pa.table(columns)
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=2)
    elif path.suffix == ".arrow":
        with pa.ipc.new_stream(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    else:
        delimiter = "\t" if path.suffix == ".tsv" else ","
        with path.open("w", newline="") as stream:
            writer = csv.writer(stream, delimiter=delimiter)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow"])
def test_kept_columns_of_tables(tok: pw.Tokenizer, tmp_path: Path, suffix: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    texts = ["hug", " ", "hugs", "a, b", "cafe"]
    urls = ["http://a", "http://b", 'q"', "x\ty", "http://e"]
    source = write_table(
        tmp_path / f"a.{suffix}", {"n": [0, 1, 2, 3, 4], "text": texts, "url": urls}
    )
    encode_corpus(tok, source, tmp_path / "out", format="parquet", keep=["url", "n"])
    table = parquet.read_table(tmp_path / "out" / "a.parquet").to_pydict()
    assert table["url"] == [urls[row] for row in (0, 2, 3, 4)]
    assert table["n"] == ["0", "2", "3", "4"]
    assert table["ids"] == ids_of(tok, [texts[row] for row in (0, 2, 3, 4)])
    with pytest.raises(CorpusError, match=rf"a\.{suffix} column 'id': must be one column.*'n'"):
        encode_corpus(tok, source, tmp_path / "bad", format="parquet", keep=["id"])


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_kept_columns_have_no_values_of_skipped_rows(
    tok: pw.Tokenizer, tmp_path: Path, suffix: str
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    columns = {
        "text": ["hug", None, "hugs", None, "cafe"],
        "made": [datetime.date(2026, 1, day) for day in range(1, 6)],
        "tags": [["a"], ["b"], None, [], ["é"]],
    }
    source = write_table(tmp_path / f"a.{suffix}", columns)
    with pytest.warns(CorpusWarning, match="2 "):
        encode_corpus(
            tok,
            source,
            tmp_path / "out",
            format="parquet",
            keep=["made", "tags"],
            on_error="skip",
        )
    table = parquet.read_table(tmp_path / "out" / "a.parquet").to_pydict()
    assert table["made"] == ["2026-01-01", "2026-01-03", "2026-01-05"]
    assert table["tags"] == ['["a"]', None, '["é"]']


@pytest.mark.parametrize("form", ["arrow", "arrow-stream", "parquet", "datasets"])
def test_columns_stay_with_their_documents(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path, form: Any
) -> None:
    dataset = pytest.importorskip("pyarrow.dataset", reason="needs pyarrow")
    encode_corpus(tok, corpus[3], tmp_path, format=form, shards=2, keep=["n"], shuffle_seed=3)
    texts = [json.loads(line)["text"] for line in corpus[3].read_text().splitlines()]
    numbers = []
    for path in main_files(tmp_path):
        kind = "parquet" if form == "parquet" else "ipc"
        if form in ("arrow-stream", "datasets"):
            table = pytest.importorskip("pyarrow").ipc.open_stream(path.read_bytes()).read_all()
        else:
            table = dataset.dataset(path, format=kind).to_table()
        ids = table.column(0).to_pylist()
        mine = [int(number) for number in table.column("n").to_pylist()]
        assert ids == ids_of(tok, [texts[number] for number in mine])
        assert mine != sorted(mine)
        numbers += mine
    assert len(set(numbers)) == len(numbers) == len(texts_of(corpus[3:]))
