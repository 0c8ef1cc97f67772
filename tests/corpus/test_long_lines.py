"""A long line takes bounded memory, and one that is too long for the memory is a typed error."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import piecework as pw
from piecework._internal import memory_budget
from piecework.corpus import text_stream
from piecework.corpus.compression import _ChunkStream
from piecework.errors import CorpusError, CorpusWarning, MemoryLimitError
from piecework.export import text_files
from tests.processes import LINUX, PEAK_MEMORY, POSIX

TOKENIZER = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
LINE_BYTES = 18_000_000

# The memory that encoding takes, in sizes of the longest line: see the how-to about memory.
MULTIPLE = 40

ENCODE = """
import sys, warnings
warnings.simplefilter("ignore")
import piecework as pw
kind, source, out, format, document = sys.argv[1:]
texts = ["hug pug hugs aaa aaaa bun fun sun h u g p b f n s"] * 9
tok = {
    "wordpiece": lambda: pw.Tokenizer.train_from_iterator(texts, vocab_size=60),
    "byte-bpe": lambda: pw.Tokenizer.train_from_iterator(texts, model="byte-bpe", vocab_size=266),
    "unigram": lambda: pw.Tokenizer.train_from_iterator(texts, model="unigram", vocab_size=22),
    "count": lambda: None,
}[kind]()
before = peak_memory()
if tok is None:
    pw.count_files(source)
else:
    pw.encode_files(tok, source, out, format=format, document=document)
print(peak_memory() - before)
"""


def peak_growth(kind: str, source: Path, format: str = "npy", document: str = "line") -> int:
    """Return by how many bytes the peak of a process grows while it encodes or counts a file."""
    out = source.with_name("out.npy")
    command = [
        sys.executable,
        "-c",
        PEAK_MEMORY + ENCODE,
        kind,
        str(source),
        str(out),
        format,
        document,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout)


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "format", "multiple", "line_bytes"),
    [
        ("unigram", "npy", MULTIPLE, LINE_BYTES),
        ("wordpiece", "npy", MULTIPLE // 3, LINE_BYTES),
        ("byte-bpe", "tokens", MULTIPLE // 3, LINE_BYTES),
        ("byte-bpe", "jsonl", MULTIPLE, LINE_BYTES // 2),
    ],
)
def test_encoding_long_lines_takes_a_stated_multiple_of_one(
    tmp_path: Path, kind: str, format: str, multiple: int, line_bytes: int
) -> None:
    source = tmp_path / "in.txt"
    source.write_bytes((b"a" * line_bytes + b"\n") * 2)
    assert peak_growth(kind, source, format) < multiple * line_bytes


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize(
    ("document", "kind", "format"),
    [("file", "unigram", "npy"), ("blank-line", "byte-bpe", "jsonl")],
)
def test_encoding_long_documents_takes_the_multiple_of_lines(
    tmp_path: Path, document: str, kind: str, format: str
) -> None:
    source = tmp_path / "in.txt"
    # An emoji makes each character of a Python string take four bytes.
    source.write_bytes("😀".encode() + (b"a" * 99 + b"\n") * (LINE_BYTES // 200))
    assert peak_growth(kind, source, format, document) < MULTIPLE * LINE_BYTES // 2


@LINUX
@pytest.mark.parametrize(("name", "multiple"), [("in.txt", 8), ("in.jsonl", 8), ("in.txt.bz2", 8)])
def test_counting_a_long_line_takes_eight_times_its_size(
    tmp_path: Path, name: str, multiple: int
) -> None:
    source = tmp_path / name
    data = b"a" * LINE_BYTES
    if name.endswith(".jsonl"):
        data = b'{"text": "' + data + b'"}\n'
    source.write_bytes(bz2.compress(data, 1) if name.endswith(".bz2") else data)
    assert peak_growth("count", source) < multiple * LINE_BYTES


@LINUX
def test_a_line_of_a_large_share_of_the_memory_is_refused_by_the_command(tmp_path: Path) -> None:
    import resource

    TOKENIZER.save(tmp_path / "tokenizer.json")
    source = tmp_path / "in.txt"
    source.write_bytes(b"a" * 50_000_000)
    command = [sys.executable, "-m", "piecework", "encode", "tokenizer.json", "in.txt", "-o", "out"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PIECEWORK_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000,) * 2),
    )
    assert (done.returncode, done.stderr) == (
        2,
        "piecework: error: in.txt line 1: is longer than 41666666 bytes, "
        "1/48 of the memory of the process; divide it\n",
    )
    assert not (tmp_path / "out").exists()


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every line over 1,000 bytes too long for the memory."""
    monkeypatch.setattr(text_stream, "available_memory", lambda: 48_000)
    monkeypatch.setattr(text_stream, "_MIN_LINE_BYTES", 1000)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("name", ["in.jsonl", "in.csv", "in.txt"])
def test_a_line_that_is_too_long_for_the_memory_raises_memory_limit_error(
    tmp_path: Path, name: str
) -> None:
    source = tmp_path / name
    rows = {
        "in.jsonl": [json.dumps({"text": text}) for text in ("a", "a" * 3_000_000)],
        "in.csv": ["text", "a" * 3_000_000],
        "in.txt": ["a", "a" * 3_000_000],
    }[name]
    source.write_text("\n".join(rows))
    with pytest.raises(MemoryLimitError, match=f"{name} line .: is longer than 1000 bytes, 1/48"):
        pw.encode_files(TOKENIZER, source, tmp_path / "out")
    if name == "in.txt":  # counting divides lines of plain text
        assert pw.count_files(source).total == 2
        return
    with pytest.raises(MemoryLimitError, match="1000 bytes, 1/48 of the memory of the process"):
        pw.count_files(source)
    with pytest.raises(MemoryLimitError, match="1000 bytes, 1/96 of the memory of the process"):
        pw.encode_files(TOKENIZER, source, tmp_path / "out", format="jsonl")
    with pytest.warns(CorpusWarning, match="skipped: a line that is too long: 1"):
        pw.encode_files(TOKENIZER, source, tmp_path / "out", on_error="skip")


@pytest.mark.parametrize("name", ["in.txt.bz2", "in.jsonl.gz"])
def test_a_small_compressed_file_does_not_become_a_line_of_gigabytes(
    tmp_path: Path, name: str
) -> None:
    source = tmp_path / name
    line = b'{"text": "' + b"a" * 2 * LINE_BYTES + b'"}\n'
    compress: Any = bz2.compress if name.endswith(".bz2") else gzip.compress
    source.write_bytes(compress(line, 9))
    expected = r"line 1: has over \d+ bytes from \d+ compressed bytes, more than 200 times as many"
    with pytest.raises(CorpusError, match=expected):
        pw.encode_files(TOKENIZER, source, tmp_path / "out")
    if name.startswith("in.jsonl"):
        with pytest.raises(CorpusError, match=expected):
            pw.count_files(source)


def test_a_long_line_of_text_that_was_compressed_is_read(tmp_path: Path) -> None:
    words = random.Random(3).choices(["hug", "pug", "hugs", "bun", "fun", "sun"], k=4_500_000)
    line = " ".join(words)
    assert len(line) > text_stream.SHORT_LINE_BYTES
    source = tmp_path / "in.jsonl.gz"
    source.write_bytes(gzip.compress(json.dumps({"text": line}).encode(), 1))
    assert pw.count_files(source).total == len(words)


@POSIX
def test_the_limit_of_memory_equals_that_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    limits = (3_000_000_000, resource.RLIM_INFINITY)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: limits)
    assert memory_budget.available_memory() <= 3_000_000_000
    assert text_stream.max_line_bytes() <= 3_000_000_000 // 48


def test_a_large_chunk_is_read_in_small_parts_without_copies_of_the_rest() -> None:
    # With a copy of the rest at each read, this takes a minute.
    chunks = [b"", b"x" * (1 << 27), b"yz"]
    stream = _ChunkStream(iter(chunks))
    sizes = set()
    while data := stream.read(1 << 14):
        sizes.add(len(data))
    assert sizes == {1 << 14, 2}


@pytest.mark.parametrize("format", ["ids", "tokens", "jsonl"])
def test_a_row_that_is_written_in_parts_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: Any
) -> None:
    texts = ["hug pug", "", "h\u00e4\U0001f600 hugs " * 9, "pug"]
    tok = pw.Tokenizer.train_from_iterator(["hug pug hugs"] * 9, model="byte-bpe", vocab_size=262)
    source = tmp_path / "in.txt"
    source.write_text("\n".join(texts), encoding="utf-8")
    written = []
    for long_row, at_once in ((1 << 20, 1 << 16), (3, 2), (0, 1)):
        monkeypatch.setattr(text_files, "_LONG_ROW", long_row)
        monkeypatch.setattr(text_files, "_TOKENS_AT_ONCE", at_once)
        pw.encode_files(tok, source, tmp_path / "out", format=format, keep_empty=True)
        written.append((tmp_path / "out").read_text(encoding="utf-8"))
    assert written[0] == written[1] == written[2]
    assert written[0].count("\n") == len(texts)


def test_long_lines_keep_their_order_among_short_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("piecework.export.pipeline.SHORT_LINE_BYTES", 5)
    lines = ["a" * (number % 9 + 1) for number in range(200)]
    monkeypatch.setattr("piecework.corpus.rows.READ_BYTES_OF_LINES", 16)
    source = tmp_path / "in.txt"
    source.write_text("\n".join(lines))
    pw.encode_files(TOKENIZER, source, tmp_path / "out")
    assert [row.count("1") for row in (tmp_path / "out").read_text().splitlines()] == [
        *map(len, lines)
    ]
    pw.export.encode_corpus(TOKENIZER, source, tmp_path / "ids", format="npy")
    offsets = np.load(next((tmp_path / "ids").glob("*.row_offsets.npy")))
    assert np.diff(offsets).tolist() == [*map(len, lines)]
