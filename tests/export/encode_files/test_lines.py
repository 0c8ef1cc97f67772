"""Encode files line by line: line ends, compression, parallel texts, several outputs."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

import piecework as pw
from piecework.corpus import text_stream
from piecework.corpus.rows import ReadOptions
from piecework.export import input_lines as lines_module
from piecework.export.pipeline import EncodedFiles
from tests.export.encode_files.ids_files import READERS, ids_in, write

# ---- lines


@pytest.mark.parametrize("size", [1, 3, 1 << 20])
@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"a\nb", ["a", "b"]),
        (b"a\nb\n", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\r\nb\rc", ["a\r", "b\rc"]),
        (b"a\n\n\nb\n\n", ["a", "", "", "b", ""]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        (b"\xef\xbb\xbf", []),
        ("é\n日\n".encode(), ["é", "日"]),
        ("a\u2028b\x0bc\x85d\n".encode(), ["a\u2028b\x0bc\x85d"]),
        (b"a\xff\n\xe6\x97\nb", ["a\ufffd", "\ufffd", "b"]),
    ],
)
def test_lines_end_at_lf_or_crlf_and_nowhere_else(
    tmp_path: Path, data: bytes, lines: list[str], size: int
) -> None:
    options = ReadOptions.of(block_bytes=size)
    source = lines_module.LineSource([str(write(tmp_path / "a", data))], options)
    assert [line for block in source.blocks() for line in block] == lines
    assert source.bytes_read == len(data)
    assert source.replacements == sum(line.count("\ufffd") for line in lines)


def test_files_for_one_output_follow_each_other(tok: pw.Tokenizer, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    write(folder / "b.txt", "b")
    write(folder / "a.txt", "a")
    out = tmp_path / "out"
    pw.encode_files(tok, [write(tmp_path / "c", "c"), folder], out, add_special_tokens=False)
    assert ids_in(out) == [[12], [8], [11]]


@pytest.mark.parametrize("name", ["in.txt", "in.jsonl"])
@pytest.mark.parametrize("kind", ["", ".gz", ".zst"])
def test_compressed_text_and_json_lines_are_read(
    tok: pw.Tokenizer, tmp_path: Path, name: str, kind: str
) -> None:
    lines = ["a b", "", "c"]
    if name.endswith(".jsonl"):
        lines = [json.dumps({"body": line}) if line else "" for line in lines]
    data = "\n".join(lines).encode()
    if kind == ".gz":
        data = gzip.compress(data)
    if kind == ".zst":
        data = pytest.importorskip("zstandard").ZstdCompressor().compress(data)
    source, out = write(tmp_path / f"{name}{kind}", data), tmp_path / "out"
    done = pw.encode_files(tok, source, out, field="body", add_special_tokens=False)
    assert ids_in(out) == [[8, 11], [12]]
    assert (done.lines_read, done.empty_lines_dropped) == (3, 1)


def test_a_json_text_may_hold_line_ends(tok: pw.Tokenizer, tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", '{"text": "a\\nb"}\n{"text": " \\n"}\n')
    pw.encode_files(tok, source, tmp_path / "out", add_special_tokens=False)
    assert ids_in(tmp_path / "out") == [[8, 11]]


def test_invalid_utf8_is_replaced_and_counted_or_refused(tok: pw.Tokenizer, tmp_path: Path) -> None:
    source, out = write(tmp_path / "in.txt", b"a\nb\xffc\xff\n"), tmp_path / "out"
    assert pw.encode_files(tok, source, out).replacements == 2
    assert ids_in(out)[1] == tok.encode("b\ufffdc\ufffd").ids
    with pytest.raises(pw.errors.InvalidUtf8Error, match=r"in\.txt line 2: .* at byte 1 "):
        pw.encode_files(tok, source, tmp_path / "none", encoding_errors="strict")
    assert not (tmp_path / "none").exists()


def test_a_broken_json_line_is_named(tok: pw.Tokenizer, tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", '{"text": "a"}\n\n{"text": 3}\n')
    with pytest.raises(pw.errors.CorpusError, match=r"in\.jsonl line 3 field 'text': found a numb"):
        pw.encode_files(tok, source, tmp_path / "out")


@pytest.mark.usefixtures("small_blocks")
def test_a_line_is_never_cut(trained: pw.Tokenizer, tmp_path: Path) -> None:
    line = "hugging faces " * 100_000
    source, out = write(tmp_path / "in", f"a\n{line}\nb"), tmp_path / "out"
    pw.encode_files(trained, source, out)
    assert ids_in(out) == [trained.encode(text).ids for text in ("a", line, "b")]


@pytest.mark.parametrize("name", ["in.txt", "in.jsonl"])
def test_an_endless_line_is_refused(
    tok: pw.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", 400)
    monkeypatch.setattr("piecework.corpus.rows.READ_BYTES_OF_LINES", 100)
    monkeypatch.setattr(text_stream, "MAX_LINE_BYTES", 1000)
    first = "a\n" if name == "in.txt" else '{"text": "a"}\n'
    source = write(tmp_path / name, first + "x" * 5000)
    with pytest.raises(pw.errors.CorpusError, match=r"line 2: is longer than 1000 bytes"):
        pw.encode_files(tok, source, tmp_path / "out")
    assert list(tmp_path.iterdir()) == [source]


# ---- parallel texts


def test_a_line_empty_on_one_side_is_dropped_on_all(tok: pw.Tokenizer, tmp_path: Path) -> None:
    left = write(tmp_path / "l", "a\n\nb\n \t\nc\n\u3000\n")
    right = write(tmp_path / "r", "b\nb\n\nb\na c\nb\n")
    outputs = [tmp_path / "l.ids", tmp_path / "r.ids"]
    done = pw.encode_files(tok, [left, right], outputs, parallel=True, add_special_tokens=False)
    assert [ids_in(path) for path in outputs] == [[[8], [12]], [[11], [8, 12]]]
    assert done == EncodedFiles(6, 2, 4, 0, (2, 3))


def test_empty_lines_can_be_kept(tok: pw.Tokenizer, tmp_path: Path) -> None:
    left, right = write(tmp_path / "l", "a\n\n"), write(tmp_path / "r", "\n \n")
    outputs = [tmp_path / "l.ids", tmp_path / "r.ids"]
    done = pw.encode_files(
        tok, [left, right], outputs, parallel=True, keep_empty=True, add_special_tokens=False
    )
    assert [path.read_text() for path in outputs] == ["8\n\n", "\n\n"]
    assert (done.lines_written, done.empty_lines_dropped) == (2, 0)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("form", READERS)
def test_three_parallel_texts_stay_in_step(
    trained: pw.Tokenizer, tmp_path: Path, form: str
) -> None:
    rng = random.Random(7)
    columns = [
        ["word " * rng.choice([0, 1, 3, 200]) + str(n) * rng.randint(0, 1) for n in range(300)]
        for _ in range(3)
    ]
    sources = [
        write(tmp_path / f"{at}.txt", "\n".join(lines) + "\n") for at, lines in enumerate(columns)
    ]
    outputs = [tmp_path / f"{at}.out" for at in range(3)]
    done = pw.encode_files(trained, sources, outputs, format=form, parallel=True)
    rows = [row for row in zip(*columns, strict=True) if all(text.strip() for text in row)]
    assert 0 < len(rows) < 300
    for at, path in enumerate(outputs):
        assert READERS[form](path) == [trained.encode(row[at]).ids for row in rows]
    assert (done.lines_read, done.lines_written) == (300, len(rows))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(("shorter", "longer"), [(3, 4), (0, 1), (50, 500)])
def test_unequal_line_counts_name_the_files_and_the_line(
    tok: pw.Tokenizer, tmp_path: Path, shorter: int, longer: int
) -> None:
    left = write(tmp_path / "l.txt", "a b c\n" * longer)
    right = write(tmp_path / "r.txt", "a b c\n" * shorter)
    outputs = [tmp_path / "l.ids", tmp_path / "r.ids"]
    message = (
        rf"r\.txt: ends after line {shorter}, and \S*l\.txt does not; "
        rf"parallel files must have the same number of lines"
    )
    with pytest.raises(pw.errors.CorpusError, match=message):
        pw.encode_files(tok, [left, right], outputs, parallel=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["l.txt", "r.txt"]


# ---- one output for each input


def test_independent_files_of_equal_length_lose_no_line(tok: pw.Tokenizer, tmp_path: Path) -> None:
    left, right = write(tmp_path / "l", "a\n\nb\n"), write(tmp_path / "r", "b\nc\n\n")
    outputs = [tmp_path / "l.ids", tmp_path / "r.ids"]
    done = pw.encode_files(tok, [left, right], outputs, add_special_tokens=False)
    assert [ids_in(path) for path in outputs] == [[[8], [11]], [[11], [12]]]
    assert done == EncodedFiles(6, 4, 2, 0, (2, 2))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("form", READERS)
def test_each_input_has_an_output_of_its_own(
    trained: pw.Tokenizer, tmp_path: Path, form: str
) -> None:
    texts = [[f"text {at} of {number}" for at in range(100 * number)] for number in range(3)]
    sources = [
        write(tmp_path / f"{number}.txt", "".join(f"{line}\n" for line in lines))
        for number, lines in enumerate(texts)
    ]
    outputs = [tmp_path / f"{number}.out" for number in range(3)]
    pw.encode_files(trained, sources, outputs, format=form)
    for path, lines in zip(outputs, texts, strict=True):
        assert READERS[form](path) == [trained.encode(line).ids for line in lines]
