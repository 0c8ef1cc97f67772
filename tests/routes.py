"""Every way from texts to ids, and that they all lead to the same."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

import piecework as pw

FULL = bool(os.environ.get("PIECEWORK_FULL"))
Rows = list[list[int]]


def rows_by_every_route(tok: pw.Tokenizer, texts: Sequence[str], **settings: Any) -> Rows:
    """Return the ids of each text: of a batch on one thread, having compared all other routes.

    Others are three threads, a column and counts, and, for every tenth text (for each when everything is
    asked for), a file and one text at a time. For tokenizers that pad nothing and draw nothing.
    """
    rows = tok.encode_batch(texts, num_threads=1, **settings).to_lists()
    threaded = tok.encode_batch(texts, num_threads=3, **settings).to_lists()
    assert_rows(threaded, rows, texts, "three threads")
    assert tok.count_batch(texts, **settings) == [len(row) for row in rows]
    assert_rows(rows_of_column(tok, texts, settings), rows, texts, "a column")
    step = 1 if FULL else 10
    some, expected = texts[::step], rows[::step]
    assert_rows(rows_of_file(tok, some, settings), expected, some, "a file")
    single = (tok.encode(text, **settings).ids for text in some)
    assert_rows(single, expected, some, "one text")
    return rows


def rows_of_column(tok: pw.Tokenizer, texts: Sequence[str], settings: dict[str, Any]) -> Rows:
    """Encode as Arrow strings, which are read where they lie."""
    return tok.encode_batch(pa.array(texts, pa.large_string()), **settings).to_lists()


def rows_of_file(tok: pw.Tokenizer, texts: Sequence[str], settings: dict[str, Any]) -> Rows:
    """Encode a file of JSON lines into a file of ids, and into memory."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "texts.jsonl"), Path(folder, "ids.txt")
        source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
        pw.encode_files(tok, source, target, keep_empty=True, num_threads=2, **settings)
        lines = target.read_text().split("\n")[:-1]
        in_memory = pw.export.encode_lines(tok, source, keep_empty=True, num_threads=2, **settings)
    rows = [[int(id) for id in line.split()] for line in lines]
    assert_rows(in_memory.to_lists(), rows, texts, "a file in memory")
    return rows


def assert_rows(
    found: Iterable[list[int]], expected: Rows, texts: Sequence[str], route: str
) -> None:
    """Compare row by row, so that the first text that differs is named."""
    for text, row, other in zip(texts, found, expected, strict=True):
        assert row == other, f"ids by {route} differ in {text[:200]!r}"
