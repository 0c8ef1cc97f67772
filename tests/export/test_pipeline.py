"""What both functions share: rows are in the order of the input, whichever thread is done first."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import piecework as pw
from piecework.export import line_encoder
from piecework.export.pipeline import overlapped
from tests.export.encode_corpus.shards import rows_in

TOKENIZER = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))


def test_results_are_in_order_when_a_later_item_is_done_first() -> None:
    second_is_done = Event()

    def work(item: int) -> int:
        if item == 0:
            assert second_is_done.wait(60)
            time.sleep(0.05)
        if item == 1:
            second_is_done.set()
        return item

    assert list(overlapped(work, range(9), in_flight=2, workers=2)) == list(range(9))


@pytest.mark.parametrize("form", ["ids", "npy", "shards"])
def test_rows_are_in_order_when_a_later_batch_is_encoded_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Any
) -> None:
    monkeypatch.setattr("piecework.export.input_lines._BLOCK_BYTES", 64)
    monkeypatch.setattr("piecework.corpus.rows.READ_BYTES_OF_LINES", 16)
    monkeypatch.setattr("piecework.export.shards.BATCH_BYTES", 64)
    lines = ["a" * (number % 9 + 1) for number in range(200)]
    source = tmp_path / "in.txt"
    source.write_text("\n".join(lines))
    encode, batches, second_is_done = line_encoder.LineEncoder.encode, iter(range(1000)), Event()

    def encode_the_first_batch_last(self: line_encoder.LineEncoder, texts: Any) -> Any:
        batch = next(batches)
        if batch == 0:
            assert second_is_done.wait(60)
            time.sleep(0.05)
        encoded = encode(self, texts)
        if batch == 1:
            second_is_done.set()
        return encoded

    monkeypatch.setattr(line_encoder.LineEncoder, "encode", encode_the_first_batch_last)
    if form == "shards":
        pw.export.encode_corpus(TOKENIZER, source, tmp_path / "out", num_threads=2)
        written = rows_in(tmp_path / "out" / "in.npy")
    else:
        pw.encode_files(TOKENIZER, source, tmp_path / "out.npy", format=form, num_threads=2)
        written = rows_in(tmp_path / "out.npy")
    assert next(batches) > 4
    assert [len(row) for row in written] == list(map(len, lines))
