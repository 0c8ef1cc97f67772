"""Concatenate pairs of Megatron files."""

from __future__ import annotations

import struct
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest

import piecework as pw
from piecework.errors import (
    ArgumentError,
    CorpusError,
    FileError,
)
from piecework.export import (
    concat_megatron,
)
from tests.export.encode_corpus.shards import megatron_pair, rows_in, sentences


def test_concatenated_megatron_files_equal_those_of_one_run(
    tok: pw.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("piecework.export.megatron_files._VALUES_AT_ONCE", 7)
    texts = [text for text in sentences(200, 5) if text]
    parts = [texts[:30], [], texts[30:31], texts[31:]]
    pairs = [
        megatron_pair(tok, tmp_path, f"part{number}", part) for number, part in enumerate(parts)
    ]
    megatron_pair(tok, tmp_path, "whole", texts)
    named = [pairs[0], pairs[1].with_suffix(".bin"), pairs[2].with_suffix(".idx"), pairs[3]]
    assert concat_megatron(named, tmp_path / "all") == len(texts)
    for suffix in (".bin", ".idx"):
        made = (tmp_path / f"all{suffix}").read_bytes()
        assert made == (tmp_path / f"whole{suffix}").read_bytes()


def test_documents_of_several_sequences_stay_together(tmp_path: Path) -> None:
    def write(name: str, lengths: list[int], documents: list[int]) -> Path:
        pointers = [2 * start for start in accumulate([0, *lengths[:-1]])]
        head = b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, len(lengths), len(documents))
        columns = ((lengths, "<i4"), (pointers, "<i8"), (documents, "<i8"))
        index = head + b"".join(np.array(values, kind).tobytes() for values, kind in columns)
        (tmp_path / f"{name}.idx").write_bytes(index)
        (tmp_path / f"{name}.bin").write_bytes(np.arange(sum(lengths), dtype="<u2").tobytes())
        return tmp_path / name

    concat_megatron([write("a", [2, 3, 1], [0, 2, 3]), write("b", [4, 1], [0, 2])], tmp_path / "c")
    assert rows_in(tmp_path / "c.bin") == [[0, 1], [2, 3, 4], [5], [0, 1, 2, 3], [4]]
    index = (tmp_path / "c.idx").read_bytes()
    assert np.frombuffer(index, "<i8", offset=34 + 12 * 5).tolist() == [0, 2, 3, 5]


def test_pairs_that_do_not_fit_are_refused(tok: pw.Tokenizer, tmp_path: Path) -> None:
    one = megatron_pair(tok, tmp_path, "one", ["hug", "hugs"])
    wide = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 70_000}))
    two = megatron_pair(wide, tmp_path, "two", ["aa"])
    with pytest.raises(
        CorpusError,
        match=r"two\.idx: has ids of int32, and .*one\.idx uint16; inputs must have ids of one type",
    ):
        concat_megatron([one, two], tmp_path / "out")
    with pytest.raises(FileError, match="no such file"):
        concat_megatron([one, tmp_path / "three"], tmp_path / "out")
    with pytest.raises(ArgumentError, match=r"output: '.*one\.bin' is an input"):
        concat_megatron([one, one], tmp_path / "one.bin")
    for suffix in ("bin", "idx"):
        (tmp_path / f"four.{suffix}").write_text("text")
    with pytest.raises(CorpusError, match=r"four\.idx: is not a complete index of Megatron-LM"):
        concat_megatron([tmp_path / "four"], tmp_path / "out")
    index = Path(f"{one}.idx")
    whole = index.read_bytes()
    for damaged, found in (
        (whole[:-8], "bytes, expected"),
        (whole + b"\0\0", "without sequence modes"),
        (whole[:46] + b"\1" + whole[47:], "has byte pointers of sequences that do not follow"),
        (
            whole[:-16] + b"\x09" + whole[-15:],
            r"one\.idx: is damaged: its numbers of documents are not ascending numbers up to 2",
        ),
        (whole[:17] + b"\x07" + whole[18:], "type code 7"),
    ):
        index.write_bytes(damaged)
        with pytest.raises(CorpusError, match=found):
            concat_megatron([one], tmp_path / "out")
    index.write_bytes(whole)
    with Path(f"{one}.bin").open("ab") as stream:
        stream.write(b"\0\0")
    with pytest.raises(CorpusError, match=r"one\.bin: has \d+ bytes, and \d+ according to"):
        concat_megatron([one], tmp_path / "out")
    assert not list(tmp_path.glob("out*"))
