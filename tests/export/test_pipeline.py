"""What both functions share: rows are in the order of the input, however many batches there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from tests.export.encode_corpus.shards import rows_in

TOKENIZER = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))


@pytest.mark.parametrize("form", ["ids", "npy", "shards"])
def test_rows_of_many_batches_are_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Any
) -> None:
    monkeypatch.setattr("piecework.export.input_lines._BLOCK_BYTES", 64)
    monkeypatch.setattr("piecework.corpus.rows.READ_BYTES_OF_LINES", 16)
    monkeypatch.setattr("piecework.export.shards.BATCH_BYTES", 64)
    lines = ["a" * (number % 9 + 1) for number in range(200)]
    source = tmp_path / "in.txt"
    source.write_text("\n".join(lines))
    if form == "shards":
        pw.export.encode_corpus(TOKENIZER, source, tmp_path / "out", num_threads=2)
        written = rows_in(tmp_path / "out" / "in.npy")
    else:
        pw.encode_files(TOKENIZER, source, tmp_path / "out.npy", format=form, num_threads=2)
        written = rows_in(tmp_path / "out.npy")
    assert [len(row) for row in written] == list(map(len, lines))
