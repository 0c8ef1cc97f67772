"""A file of each format with the same texts, and how tests read them."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.corpus import read_corpus

pyarrow = pytest.importorskip("pyarrow", reason="Parquet and Arrow files need pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
zstandard = pytest.importorskip("zstandard")


TEXTS = ["hug pug", 'a "quoted", text\nof two lines', "", "日本語 é 😀", "tab\there"]
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda data: zstandard.ZstdCompressor().compress(data),
    ".xz": lzma.compress,
    ".bz2": lambda data: bz2.compress(data, 1),
}


def write(path: Path, data: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def texts(path: object, **options: Any) -> list[str]:
    """Read a corpus by blocks, as counting does, and by whole lines, as encoding does."""
    found = [text for rows in read_corpus(path, **options) for text in rows.texts]
    if options.get("on_error") != "skip":  # the caller counts warnings
        whole = read_corpus(path, **options, whole_lines=True)
        assert [text for rows in whole for text in rows.texts] == found
    return found


def csv_data(delimiter: str = ",", column: str = "text") -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter)
    writer.writerow(["id", column, "n"])
    writer.writerows([index, text, "x"] for index, text in enumerate(TEXTS))
    return stream.getvalue().encode()


def jsonl_data() -> bytes:
    return b"".join(json.dumps({"id": i, "text": t}).encode() + b"\n" for i, t in enumerate(TEXTS))


def parquet_data(table: Any = None, **options: Any) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(table or pyarrow.table({"id": range(5), "text": TEXTS}), sink, **options)
    return sink.getvalue()


def arrow_data(form: str, table: Any = None, **options: Any) -> bytes:
    table = table or pyarrow.table({"id": range(5), "text": TEXTS})
    sink = io.BytesIO()
    with getattr(pyarrow.ipc, f"new_{form}")(sink, table.schema, **options) as writer:
        writer.write_table(table, max_chunksize=2)
    return sink.getvalue()


RECORDS: dict[str, Callable[[], bytes]] = {
    "a.jsonl": jsonl_data,
    "a.csv": csv_data,
    "a.tsv": lambda: csv_data("\t"),
}


TABLES: dict[str, Callable[[], bytes]] = {
    "a.parquet": parquet_data,
    "file.arrow": lambda: arrow_data("file"),
    "stream.arrow": lambda: arrow_data("stream"),
}


def skip(path: object, **options: Any) -> tuple[list[str], str]:
    """Return the texts that are read with `on_error="skip"`, and the summary."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = texts(path, on_error="skip", **options)
    messages = [str(w.message) for w in caught if w.category is pw.errors.CorpusWarning]
    assert len(messages) <= 1
    return found, messages[0] if messages else ""
