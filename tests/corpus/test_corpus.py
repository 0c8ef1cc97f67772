"""Corpora: every kind of file gives its text, every kind of damage a typed error."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import sys
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import piecework as pw
from piecework.corpus import corpus_files, read_corpus, rows, text_stream
from piecework.corpus.reader import CorpusReader
from piecework.corpus.rows import ReadOptions, TextBlock
from tests.corpus.formats.samples import write

TEXT = "hug pug\nhugs\n"


def blocks_of(paths: object, first_source: int = 0, **options: int) -> list[TextBlock]:
    files = corpus_files(paths)
    reader = CorpusReader(files, ReadOptions.of(**options), first_source=first_source)
    found = list(reader.blocks())
    assert all(isinstance(block, TextBlock) for block in found)
    return found


def blocks(path: object, **options: int) -> list[bytes]:
    return [block.data for block in blocks_of(path, **options)]


def texts(path: object, **options: object) -> list[str]:
    return [text for found in read_corpus(path, **options) for text in found.texts]


def zstd(data: bytes) -> bytes:
    return pytest.importorskip("zstandard").ZstdCompressor().compress(data)


COMPRESSIONS = [
    (".gz", gzip.compress),
    (".zst", zstd),
    (".xz", lzma.compress),
    (".bz2", bz2.compress),
]
KINDS = [
    (gzip.compress, "gzip"),
    (zstd, "Zstandard"),
    (lzma.compress, "xz"),
    (bz2.compress, "bzip2"),
]


# ---- kinds of files


def test_plain_text_comes_whole(tmp_path: Path) -> None:
    assert blocks(write(tmp_path / "a.txt", TEXT)) == [TEXT.encode()]


def test_compression_is_detected_by_content_not_by_name(tmp_path: Path) -> None:
    assert blocks(write(tmp_path / "a.txt", gzip.compress(TEXT.encode()))) == [TEXT.encode()]
    assert blocks(write(tmp_path / "b.txt", zstd(TEXT.encode()))) == [TEXT.encode()]
    assert blocks(write(tmp_path / "c.gz", TEXT)) == [TEXT.encode()]


@pytest.mark.parametrize("compress", [gzip.compress, zstd, lzma.compress, bz2.compress])
def test_several_compressed_members_are_one_text(tmp_path: Path, compress: object) -> None:
    path = write(tmp_path / "a", compress(b"hug ") + compress(b"pug"))
    assert blocks(path) == [b"hug pug"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "A.JSONL"])
def test_json_lines_give_the_field(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, '{"text": "hug", "n": 1}\n\n{"text": "p\\nug"}')
    assert texts(path) == ["hug", "", "p\nug"]


@pytest.mark.parametrize(("suffix", "compress"), COMPRESSIONS)
def test_json_lines_may_be_compressed(tmp_path: Path, suffix: str, compress: object) -> None:
    data = compress(b'{"body": "hug"}\n')
    assert texts(write(tmp_path / f"a.jsonl{suffix}", data), field="body") == ["hug"]


def test_a_directory_gives_its_known_files_sorted_and_not_the_hidden(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.md", "a/.hidden.txt", ".git/c.txt", "c.bin", "d.txt.gz"):
        write(tmp_path / name, name)
    names = [block.name for block in read_corpus(tmp_path)]
    assert [Path(name).relative_to(tmp_path).as_posix() for name in names] == [
        "a/z.md",
        "b.txt",
        "d.txt.gz",
    ]


def test_a_file_named_outright_may_have_any_suffix(tmp_path: Path) -> None:
    assert blocks(write(tmp_path / "c.bin", TEXT)) == [TEXT.encode()]


def test_stdin_is_read_for_a_dash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a", gzip.compress(TEXT.encode()))
    with path.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert [(b.name, b.data) for b in blocks_of("-")] == [("<stdin>", TEXT.encode())]


def test_an_empty_file_gives_nothing(tmp_path: Path) -> None:
    for name in ("a.txt", "a.jsonl"):
        assert list(read_corpus(write(tmp_path / name, ""))) == []


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    assert blocks(write(tmp_path / "a.txt", b"\xef\xbb\xbfhug")) == [b"hug"]
    assert texts(write(tmp_path / "a.jsonl", b'\xef\xbb\xbf{"text": "hug"}')) == ["hug"]


# ---- sources, offsets, blocks

SMALL = {"block_bytes": 16, "max_line_bytes": 64}


def test_each_file_is_a_source_and_offsets_count_its_decoded_bytes(tmp_path: Path) -> None:
    paths = [write(tmp_path / "a.txt", "one\ntwo\nthree\n"), write(tmp_path / "b.txt", "four\n")]
    found = [(b.source, b.byte_offset, b.data) for b in blocks_of(paths, 7, block_bytes=8)]
    assert found == [(7, 0, b"one\ntwo\n"), (7, 8, b"three\n"), (8, 0, b"four\n")]


def test_blocks_end_at_line_ends_and_lose_nothing(tmp_path: Path) -> None:
    text = "".join(f"{'x' * (n % 23)} {n}\n" for n in range(100))
    found = blocks(write(tmp_path / "a.txt", text), block_bytes=16)
    assert b"".join(found).decode() == text
    assert len(found) > 20
    assert all(block.endswith(b"\n") for block in found)


def test_compressed_and_plain_files_are_cut_alike(tmp_path: Path) -> None:
    text = "".join(f"line {n}\n" for n in range(1000)).encode()
    expected = blocks(write(tmp_path / "a.txt", text), block_bytes=16)
    assert blocks(write(tmp_path / "a.gz", gzip.compress(text)), block_bytes=16) == expected
    assert blocks(write(tmp_path / "a.zst", zstd(text)), block_bytes=16) == expected


def test_a_very_long_line_is_cut_before_a_blank(tmp_path: Path) -> None:
    found = blocks(write(tmp_path / "a.txt", "hug " * 100), **SMALL)
    assert b"".join(found) == b"hug " * 100
    assert all(block.startswith(b" ") for block in found[1:])
    assert all(len(block) <= 64 for block in found)


@pytest.mark.parametrize("length", [63, 64, 65, 127, 128, 129, 200])
def test_a_long_line_is_cut_whatever_lines_stand_before_it(length: int, tmp_path: Path) -> None:
    line = ("hug pugs " * 100)[:length] + "\n"
    alone = blocks(write(tmp_path / "a.txt", line), **SMALL)
    for before in range(40):
        text = "x" * before + "\n" + line
        found = blocks(write(tmp_path / "b.txt", text), **SMALL)
        assert b"".join(found) == text.encode()
        parts = [part for block in found for part in block.splitlines(keepends=True)]
        assert parts == [b"x" * before + b"\n", *alone]


def test_a_very_long_line_without_blanks_is_cut_between_characters(tmp_path: Path) -> None:
    for text in ("é" * 301, "x" + "€" * 301, "𝒳" * 301):
        found = blocks(write(tmp_path / "a.txt", text), **SMALL)
        assert "".join(block.decode() for block in found) == text
        assert len(found) > 3


def test_a_very_long_line_of_stray_continuation_bytes_is_still_cut(tmp_path: Path) -> None:
    found = blocks(write(tmp_path / "a.txt", b"\x80" * 500), **SMALL)
    assert b"".join(found) == b"\x80" * 500
    assert max(map(len, found)) <= 80


# ---- bad input


@pytest.mark.parametrize("path", ["missing.txt", "missing/", "a\0b"])
def test_a_missing_path_is_named(path: str, tmp_path: Path) -> None:
    with pytest.raises((pw.errors.FileError, pw.errors.ArgumentError), match=r"missing|null"):
        list(read_corpus(str(tmp_path / path)))


def test_a_directory_without_text_is_rejected(tmp_path: Path) -> None:
    write(tmp_path / "a.bin", "x")
    with pytest.raises(pw.errors.FileError, match=r"a directory without text files"):
        list(read_corpus(tmp_path))


@pytest.mark.parametrize("paths", [[], 3, [3], [b"a.txt"]])
def test_values_that_are_not_paths_are_rejected(paths: object) -> None:
    with pytest.raises(pw.errors.ArgumentError, match="corpus"):
        list(read_corpus(paths))


def test_unknown_error_handling_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(pw.errors.ArgumentError, match="encoding_errors: must be .*, not 'ignore'"):
        list(read_corpus(tmp_path, encoding_errors="ignore"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"a\.jsonl line 2: found broken JSON"),
        ('{"text": "x"} x', r"a\.jsonl line 2: found broken JSON"),
        ("[" * 100_000, r"a\.jsonl line 2: found broken JSON"),
        ('{"n": ' + "9" * 10_000 + "}", r"a\.jsonl line 2: found broken JSON"),
        ("[1]", r"line 2: found a JSON array, expected an object with field 'text'"),
        ("3", r"line 2: found a JSON number"),
        ('{"body": "x"}', r"a\.jsonl line 2 field 'text': is missing: there is only 'body'"),
        ("{}", r"a\.jsonl line 2 field 'text': is missing: there is only no fields"),
        ('{"text": null}', r"line 2 field 'text': found a null, expected a string"),
        ('{"text": true}', r"line 2 field 'text': found a boolean"),
    ],
)
def test_a_broken_json_line_is_named_by_file_line_and_field(
    tmp_path: Path, line: str, message: str
) -> None:
    path = write(tmp_path / "a.jsonl", '{"text": "hug"}\n' + line + "\n")
    with pytest.raises(pw.errors.CorpusError, match=message):
        list(read_corpus(path))


def test_an_endless_json_line_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_stream, "MAX_LINE_BYTES", 1000)
    monkeypatch.setattr(rows, "READ_BYTES", 100)
    path = write(tmp_path / "a.jsonl", json.dumps({"text": "x" * 5000}))
    with pytest.raises(
        pw.errors.CorpusError, match=r"a\.jsonl line 1: is longer than 1000 bytes; divide it"
    ):
        list(read_corpus(path))


@pytest.mark.parametrize("line", [b'{"text": "a\xffb"}', b'{"text": "a\\ud800b"}'])
def test_json_text_that_is_not_unicode_is_replaced_and_counted_or_rejected(
    tmp_path: Path, line: bytes
) -> None:
    path = write(tmp_path / "a.jsonl", line)
    assert [(p.texts, p.replacements) for p in read_corpus(path)] == [(["a\ufffdb"], 1)]
    with pytest.raises(
        pw.errors.InvalidUtf8Error, match=r"a\.jsonl line 1.* (byte 11|character 1)"
    ):
        list(read_corpus(path, encoding_errors="strict"))


@pytest.mark.parametrize(("compress", "kind"), KINDS)
def test_compressed_data_that_is_cut_short_is_rejected(
    tmp_path: Path, compress: object, kind: str
) -> None:
    data: bytes = compress("".join(map(str, range(50_000))).encode())
    for end in (len(data) - 1, len(data) // 2, 12):
        with pytest.raises(pw.errors.CorpusError, match=f"a: found truncated {kind} data"):
            list(read_corpus(write(tmp_path / "a", data[:end])))


@pytest.mark.parametrize(("compress", "kind"), KINDS)
def test_damaged_compressed_data_is_rejected(tmp_path: Path, compress: object, kind: str) -> None:
    data = bytearray(compress(b"hug pug " * 1000))
    data[12:20] = b"\xff" * 8
    with pytest.raises(pw.errors.CorpusError, match=f"{kind} data"):
        list(read_corpus(write(tmp_path / "a", bytes(data))))


def test_rubbish_after_compressed_data_is_rejected(tmp_path: Path) -> None:
    for compress in (gzip.compress, zstd, lzma.compress, bz2.compress):
        with pytest.raises(pw.errors.CorpusError, match="damaged|truncated"):
            list(read_corpus(write(tmp_path / "a", compress(b"hug") + b"rubbish")))


def test_zstandard_without_its_extra_says_which_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.zst", zstd(b"hug"))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(pw.errors.MissingExtraError, match=r"pip install 'zstandard>=0.21'"):
        list(read_corpus(path))


# ---- input that is not text


def parquet_bytes() -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    sink = io.BytesIO()
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table({"text": ["hug"]}), sink)
    return sink.getvalue()


def arrow_bytes(form: str) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"text": ["hug"] * 100})
    sink = io.BytesIO()
    with getattr(pyarrow.ipc, f"new_{form}")(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def zip_bytes() -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("a.txt", "hug")
    return sink.getvalue()


def tar_bytes() -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        member = tarfile.TarInfo("a.txt")
        member.size = 3
        archive.addfile(member, io.BytesIO(b"hug"))
    return sink.getvalue()


def npy_bytes() -> bytes:
    sink = io.BytesIO()
    np.save(sink, np.arange(1000))
    return sink.getvalue()


ENGLISH = "It was a bright cold day in April, and the clocks were striking thirteen.\n"
NOT_TEXT = {
    "a Parquet file": parquet_bytes,
    "an Arrow IPC file": lambda: arrow_bytes("file"),
    "an Arrow IPC stream": lambda: arrow_bytes("stream"),
    "a zip archive": zip_bytes,
    "a tar archive": tar_bytes,
    "a NumPy array": npy_bytes,
    "UTF-16 text": lambda: ENGLISH.encode("utf-16"),
    "UTF-16LE text": lambda: ENGLISH.encode("utf-16-le"),
    "UTF-16BE text": lambda: ENGLISH.encode("utf-16-be"),
    "UTF-32 text": lambda: ENGLISH.encode("utf-32"),
    "UTF-32LE text": lambda: ENGLISH.encode("utf-32-le"),
    "UTF-32BE text": lambda: ENGLISH.encode("utf-32-be"),
    "binary data": lambda: random.Random(1).randbytes(5000),
}


@pytest.mark.parametrize("kind", NOT_TEXT)
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl"])
def test_binary_input_is_named_and_rejected(tmp_path: Path, kind: str, name: str) -> None:
    path = write(tmp_path / name, NOT_TEXT[kind]())
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}))
    for use in (
        lambda: list(read_corpus(path)),
        lambda: pw.Tokenizer.train(path),
        lambda: pw.encode_files(tok, path, tmp_path / "out"),
        lambda: pw.analysis.compare({"a": tok}, read_corpus(path)),
    ):
        with pytest.raises(pw.errors.CorpusError, match=rf"{name}: found {kind}"):
            use()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("compress", [gzip.compress, zstd])
def test_binary_input_is_rejected_inside_compressed_data(
    tmp_path: Path, compress: Callable[[bytes], bytes]
) -> None:
    path = write(tmp_path / "a.txt", compress(tar_bytes()))
    with pytest.raises(pw.errors.CorpusError, match=r"a\.txt: found a tar archive"):
        list(read_corpus(path))


def test_binary_input_is_rejected_on_stdin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(zip_bytes())))
    with pytest.raises(pw.errors.CorpusError, match=r"<stdin>: found a zip archive"):
        list(read_corpus("-"))


@pytest.mark.parametrize(
    "text",
    [
        "PAR1 is what the file says.\n",
        "BZh\n",
        "ORC, GGUF and LZIP are words.\n",
        ENGLISH * 100 + "\0" + ENGLISH * 100,  # a stray NUL
        "a\0b\n",
        "N\bNA\bAM\bME\bE\n" * 100,  # an overstruck manual page
        "\x1b[31mred\x1b[0m\n" * 100,
        "\f\v\t\r\n" * 100,
        "小説の冒頭である。\n" * 100,
    ],
)
def test_text_that_looks_a_little_like_binary_is_read(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "a.txt", text)
    assert b"".join(blocks(path)) == text.encode()


def test_latin_1_is_read_as_broken_utf8_not_as_binary(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "déjà vu à l'été\n".encode("latin-1") * 100)
    assert len(list(read_corpus(path))) == 1


# ---- JSON lines on stdin


def test_stdin_holds_json_lines_if_a_field_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = b'{"body": "hug"}\n{"body": "pug"}\n'

    def feed() -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))

    feed()
    assert [list(piece.texts) for piece in read_corpus("-", field="body")] == [["hug", "pug"]]
    feed()
    assert pw.count_files("-", field="body").words == ["hug", "pug"]
    feed()
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "h": 1, "u": 2, "g": 3}))
    pw.encode_files(tok, "-", tmp_path / "out", field="body")
    assert (tmp_path / "out").read_text() == "1 2 3\n0 2 3\n"


@pytest.mark.parametrize("name", ["-", "a.txt"])
def test_json_lines_read_as_plain_text_are_warned_of(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    lines = b'{"text": "hug"}\n'
    path = name if name == "-" else str(write(tmp_path / name, lines))
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}))
    for use in (
        lambda: list(read_corpus(path)),
        lambda: pw.encode_files(tok, path, tmp_path / "out"),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
        with pytest.warns(pw.errors.CorpusWarning, match="begins with a JSON object"):
            use()


@pytest.mark.parametrize("text", ["{\n", "{a}\n", "[1]\n", "{" * 100_000 + "}\n"])
def test_braces_alone_are_plain_text_without_a_warning(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "a.txt", text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(read_corpus(path))) == 1
