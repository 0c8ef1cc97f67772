"""Files of text become files of tokens and ids: what a line is, what is dropped, what is on disk."""

from __future__ import annotations

import gc
import gzip
import io
import json
import os
import random
import signal
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import piecework as pw
from piecework.corpus import line_blocks
from piecework.corpus.rows import ReadOptions
from piecework.export import arrow_files
from piecework.export import encoded_files as encode_module
from piecework.export import input_lines as lines_module
from piecework.export.prefetch import overlapped
from tests.processes import heed_signals

POSIX = pytest.mark.skipif(os.name == "nt", reason="POSIX files and signals")
ARRAY_FORMATS = ["npy", "arrow", "parquet", "megatron"]
LINE_FORMATS = ["ids", "tokens", "jsonl"]


@pytest.fixture(scope="module")
def tok() -> pw.Tokenizer:
    vocab = "[PAD] [UNK] [CLS] [SEP] [MASK] hug ##s ##ging a cafe ! b c".split()
    return pw.Tokenizer(
        pw.spec.WordPiece({token: id for id, token in enumerate(vocab)}),
        normalizer=pw.spec.BertNormalizer(),
        pre_tokenizer=pw.spec.BertPreTokenizer(),
        post_processor=pw.spec.TemplateProcessing.bert(cls_id=2, sep_id=3),
        added_tokens=[pw.spec.AddedToken(token, id) for id, token in enumerate(vocab[:5])],
    )


@pytest.fixture(scope="module")
def trained(english_corpus: Path) -> pw.Tokenizer:
    return pw.Tokenizer.train(english_corpus, vocab_size=2000)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks so small that a few kilobytes are many batches."""
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", 256)
    monkeypatch.setattr("piecework.corpus.rows.READ_BYTES_OF_LINES", 64)


def write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def ids_in(path: Path) -> list[list[int]]:
    return [[int(id) for id in line.split()] for line in path.read_text().split("\n")[:-1]]


def read_npy(path: Path) -> list[list[int]]:
    ids = np.load(path, mmap_mode="r") if path.stat().st_size > 128 else np.load(path)
    row_offsets = np.load(path.with_name(f"{path.name.removesuffix('.npy')}.row_offsets.npy"))
    assert row_offsets.dtype == np.int64
    return [ids[start:end].tolist() for start, end in pairwise(row_offsets)]


def read_arrow(path: Path) -> list[list[int]]:
    pyarrow = pytest.importorskip("pyarrow")
    with pyarrow.memory_map(str(path)) as source:
        table = pyarrow.ipc.open_file(source).read_all()
    assert table.schema.field("ids").type == pyarrow.list_(pyarrow.uint32())
    rows: list[list[int]] = table.column("ids").to_pylist()
    return rows


def read_parquet(path: Path) -> list[list[int]]:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows: list[list[int]] = parquet.read_table(path).column("ids").to_pylist()
    return rows


def read_megatron(path: Path) -> list[list[int]]:
    """Read the published layout by itself, field by field, as a trainer maps it into memory."""
    index = path.with_name(f"{path.name}.idx").read_bytes()
    assert index[:9] == b"MMIDIDX\x00\x00"
    version, code, sequences, documents = struct.unpack_from("<QBQQ", index, 9)
    assert version == 1
    dtype: Any = {4: np.int32, 8: np.uint16}[code]
    at = 34
    lengths = np.frombuffer(index, "<i4", sequences, at)
    at += 4 * sequences
    pointers = np.frombuffer(index, "<i8", sequences, at)
    at += 8 * sequences
    document_index = np.frombuffer(index, "<i8", documents, at)
    assert at + 8 * documents == len(index)
    assert document_index.tolist() == list(range(sequences + 1))
    data_path = path.with_name(f"{path.name}.bin")
    size = data_path.stat().st_size
    assert size == lengths.sum() * np.dtype(dtype).itemsize
    data = np.memmap(data_path, np.uint8, mode="r") if size else np.empty(0, np.uint8)
    return [
        np.frombuffer(data, dtype, length, pointer).tolist()
        for length, pointer in zip(lengths.tolist(), pointers.tolist(), strict=True)
    ]


READERS = {
    "ids": ids_in,
    "npy": read_npy,
    "arrow": read_arrow,
    "parquet": read_parquet,
    "megatron": read_megatron,
}


# ---- what is written


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize("num_threads", [1, 2])
def test_every_format_holds_what_each_line_encodes_to(
    trained: pw.Tokenizer, english_corpus: Path, tmp_path: Path, form: str, num_threads: int
) -> None:
    lines = english_corpus.read_text().split("\n")[:600]
    source = write(tmp_path / "in.txt", "\n".join(lines) + "\n")
    out = tmp_path / "out"
    done = pw.encode_files(trained, source, out, format=form, num_threads=num_threads)
    expected = [trained.encode(line).ids for line in lines if line.strip()]
    assert READERS[form](out) == expected
    assert done.lines_read == len(lines)
    assert done.lines_written == len(expected)
    assert done.empty_lines_dropped == len(lines) - len(expected)
    assert done.tokens == (sum(map(len, expected)),)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("form", [*LINE_FORMATS, *ARRAY_FORMATS])
def test_the_number_of_threads_changes_no_byte(
    trained: pw.Tokenizer, english_corpus: Path, tmp_path: Path, form: str
) -> None:
    source = write(tmp_path / "in.txt", english_corpus.read_bytes()[:40_000])
    written = []
    for num_threads in (1, 2):
        folder = tmp_path / str(num_threads)
        folder.mkdir()
        pw.encode_files(trained, source, folder / "out", format=form, num_threads=num_threads)
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert written[0] == written[1]
    assert all(written[0].values())


def test_the_size_of_blocks_changes_no_line(
    trained: pw.Tokenizer, english_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = english_corpus.read_bytes()[:60_000].replace(b"e", "é".encode())
    sources = [write(tmp_path / "a", data), write(tmp_path / "b", data.upper())]
    written = set()
    for size in (1, 7, 256, 1 << 20):
        monkeypatch.setattr("piecework.corpus.rows.READ_BYTES_OF_LINES", size)
        outputs = [tmp_path / f"{size}.a", tmp_path / f"{size}.b"]
        pw.encode_files(trained, sources, outputs, parallel=True)
        written.add(tuple(path.read_bytes() for path in outputs))
    assert len(written) == 1


# ---- in memory


@pytest.mark.parametrize("keep_empty", [False, True])
@pytest.mark.parametrize("parallel", [False, True])
def test_stripped_lines_are_those_of_the_encoder_of_the_survey(
    tmp_path: Path, small_blocks: None, keep_empty: bool, parallel: bool
) -> None:
    tok = pw.Tokenizer.train_from_iterator(["hug pug"], model="byte-bpe", vocab_size=260)
    texts = [" hug\n \t\n\u3000pug \u00a0\nhug", "a\nb\n\u2003 c\u2028\n\n"]
    texts = [20 * (text.removesuffix("\n") + "\n") for text in texts]
    inputs = [tmp_path / f"{at}.txt" for at in range(2)]
    outputs = [tmp_path / f"{at}.ids" for at in range(2)]
    for path, text in zip(inputs, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    done = pw.encode_files(
        tok, inputs, outputs, strip_lines=True, keep_empty=keep_empty, parallel=parallel
    )
    columns = [[line.strip() for line in text.removesuffix("\n").split("\n")] for text in texts]
    kept = [list(row) for row in zip(*columns, strict=True) if keep_empty or all(row)]
    if not parallel:
        kept = [[line for line in column if keep_empty or line] for column in columns]
    expected = list(zip(*kept, strict=True)) if parallel else kept
    for path, lines in zip(outputs, expected, strict=True):
        wanted = [" ".join(map(str, tok.encode(line).ids)) for line in lines]
        assert path.read_text().split("\n")[:-1] == wanted
    assert done.lines_written == sum(map(len, expected)) // (2 if parallel else 1)


def test_offsets_of_stripped_lines_are_those_in_the_line(tok: pw.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": 7, "text": "  hug "}\n')
    pw.encode_files(
        tok, tmp_path / "a.jsonl", tmp_path / "b.jsonl", format="jsonl", strip_lines=True
    )
    row = json.loads((tmp_path / "b.jsonl").read_text())
    assert (row["id"], row["offsets"][1]) == (7, [0, 3])


@pytest.mark.parametrize("keep_empty", [False, True])
def test_lines_in_memory_encode_as_those_of_a_file(
    tok: pw.Tokenizer, tmp_path: Path, small_blocks: None, keep_empty: bool
) -> None:
    draw = random.Random(1)
    words = ["hug", "hugs", "café", "!", "  ", "", "\u2028", "😀"]
    lines = [" ".join(draw.choices(words, k=draw.randrange(5))) for _ in range(300)]
    text = "".join(line + draw.choice(["\n", "\r\n"]) for line in lines)
    sources = [
        write(tmp_path / "a.txt", b"\xef\xbb\xbf" + text.encode()),
        write(tmp_path / "b.txt.gz", gzip.compress(text.encode() + b"no end")),
        write(tmp_path / "c.txt", b"a\n\xff caf\xc3\n\n"),
        write(tmp_path / "d.jsonl", '{"text": "hug\\nhugs"}\n{"text": ""}\n'),
        write(tmp_path / "e.csv", 'text,other\n"a, hugs",x\n'),
        write(tmp_path / "f.txt", ""),
    ]
    for inputs in (*sources, sources, sources[:2]):
        pw.encode_files(tok, inputs, tmp_path / "ids", keep_empty=keep_empty)
        batch = pw.export.encode_lines(tok, inputs, keep_empty=keep_empty)
        assert batch.to_lists() == ids_in(tmp_path / "ids")


def test_lines_in_memory_take_the_settings_of_a_batch(tok: pw.Tokenizer, tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", '{"body": "[MASK] hugs"}\n{"body": "a"}\n')
    settings: dict[str, Any] = {"add_special_tokens": False, "parse_special": False}
    batch = pw.export.encode_lines(tok, source, field="body", offsets=True, **settings)
    expected = tok.encode_batch(["[MASK] hugs", "a"], offsets=True, **settings)
    assert batch.to_lists() == expected.to_lists()
    assert batch.offsets.tolist() == expected.offsets.tolist()
    padded = pw.export.encode_lines(tok.with_padding(), source, field="body")
    assert len({len(row) for row in padded.to_lists()}) == 1


def test_lines_in_memory_name_bad_input(tok: pw.Tokenizer, tmp_path: Path) -> None:
    invalid = write(tmp_path / "a.txt", b"hug\n\xff\n")
    broken = write(tmp_path / "b.jsonl", '{"text": "hug"}\n{\n')
    with pytest.raises(pw.errors.InvalidUtf8Error, match="line 2"):
        pw.export.encode_lines(tok, invalid, encoding_errors="strict")
    with pytest.raises(pw.errors.CorpusError, match="line 2"):
        pw.export.encode_lines(tok, broken)
    with pytest.warns(pw.errors.CorpusWarning, match="1"):
        batch = pw.export.encode_lines(tok, broken, on_error="skip", add_special_tokens=False)
    assert batch.to_lists() == [[5]]
    with pytest.raises(pw.errors.FileError, match="missing"):
        pw.export.encode_lines(tok, tmp_path / "missing.txt")
    with pytest.raises(pw.errors.ArgumentError, match="sources must contain at least one path"):
        pw.export.encode_lines(tok, [])
    with pytest.raises(pw.errors.ArgumentError, match="encoding_errors must be .*, not 'ignore'"):
        pw.export.encode_lines(tok, invalid, encoding_errors="ignore")  # type: ignore[arg-type]


def test_text_formats(tok: pw.Tokenizer, tmp_path: Path) -> None:
    source = write(tmp_path / "in", "Hugs café!\n")
    out = tmp_path / "out"
    for form, expected in (
        ("ids", "2 5 6 9 10 3\n"),
        ("tokens", "[CLS] hug ##s cafe ! [SEP]\n"),
    ):
        pw.encode_files(tok, source, out, format=form)
        assert out.read_text() == expected
    pw.encode_files(tok, source, out, format="jsonl", add_special_tokens=False)
    assert json.loads(out.read_text()) == {
        "line": 1,
        "ids": [5, 6, 9, 10],
        "tokens": ["hug", "##s", "cafe", "!"],
        "offsets": [[0, 3], [3, 4], [5, 9], [9, 10]],
    }


def json_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_json_rows_name_their_line_and_keep_the_id_of_the_input(
    tok: pw.Tokenizer, tmp_path: Path
) -> None:
    records = [{"id": "d-1", "text": "hug"}, {"id": {"page": 7}, "text": ""}, {"text": "a"}]
    lines = [
        *map(json.dumps, records),
        "",
        '{"text": "b", "id": "\\ud800"}',
        '{"text": "", "id": null}',
    ]
    source = write(tmp_path / "in.jsonl", "\n".join(lines) + "\n")
    done = pw.encode_files(tok, source, tmp_path / "out", format="jsonl", add_special_tokens=False)
    rows = json_rows(tmp_path / "out")
    assert [(row["line"], row.get("id", "none"), row["ids"]) for row in rows] == [
        (1, "d-1", [5]),
        (2, {"page": 7}, []),
        (3, "none", [8]),
        (4, "none", []),
        (5, "\ud800", [11]),
        (6, None, []),
    ]
    assert (done.lines_written, done.empty_lines_dropped) == (6, 0)


@pytest.mark.usefixtures("small_blocks")
def test_json_rows_drop_no_empty_line_and_name_the_file_of_several(
    tok: pw.Tokenizer, tmp_path: Path
) -> None:
    first = write(tmp_path / "a.txt", "hug\n\n \n" * 100)
    second = write(tmp_path / "b.txt", "\na")
    pw.encode_files(tok, [first, second], tmp_path / "out", format="jsonl")
    rows = json_rows(tmp_path / "out")
    places = [(row["file"], row["line"]) for row in rows]
    assert places == [
        *((str(first), line) for line in range(1, 301)),
        (str(second), 1),
        (str(second), 2),
    ]
    assert [row["tokens"][1:-1] for row in rows[:3]] == [["hug"], [], []]


@pytest.mark.parametrize(
    ("entries", "npy", "megatron"),
    [
        (65_499, np.uint16, 8),
        (65_500, np.uint16, 4),
        (65_536, np.uint16, 4),
        (65_537, np.uint32, 4),
    ],
)
def test_ids_take_two_bytes_where_the_vocabulary_fits(
    tmp_path: Path, entries: int, npy: type, megatron: int
) -> None:
    big = pw.Tokenizer(pw.spec.WordLevel({"[UNK]": 0, "a": entries - 1}))
    source = write(tmp_path / "in", "a\n")
    pw.encode_files(big, source, tmp_path / "out.npy", format="npy")
    pw.encode_files(big, source, tmp_path / "out", format="megatron")
    assert np.load(tmp_path / "out.npy").dtype == npy
    assert (tmp_path / "out.idx").read_bytes()[17] == megatron
    assert read_npy(tmp_path / "out.npy") == read_megatron(tmp_path / "out") == [[entries - 1]]


def test_megatron_files_byte_by_byte(tok: pw.Tokenizer, tmp_path: Path) -> None:
    source = write(tmp_path / "in", "hugs\n\na b c\n")
    pw.encode_files(
        tok,
        source,
        tmp_path / "out",
        format="megatron",
        keep_empty=True,
        add_special_tokens=False,
    )
    assert (tmp_path / "out.bin").read_bytes() == struct.pack("<5H", 5, 6, 8, 11, 12)
    assert (tmp_path / "out.idx").read_bytes() == (
        b"MMIDIDX\x00\x00"
        + struct.pack("<QBQQ", 1, 8, 3, 4)
        + struct.pack("<3i", 2, 0, 3)
        + struct.pack("<3q", 0, 4, 4)
        + struct.pack("<4q", 0, 1, 2, 3)
    )


@pytest.mark.usefixtures("small_blocks")
def test_a_megatron_index_longer_than_one_read_of_it(
    tok: pw.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from piecework.export import megatron_files

    monkeypatch.setattr(megatron_files, "_ROWS_PER_READ", 7)
    rng = random.Random(1)
    lines = [" ".join(rng.choices(["a", "hugs", "b"], k=rng.randint(1, 9))) for _ in range(100)]
    source = write(tmp_path / "in", "\n".join(lines))
    pw.encode_files(tok, source, tmp_path / "out", format="megatron")
    assert read_megatron(tmp_path / "out") == [tok.encode(line).ids for line in lines]


@pytest.mark.parametrize("name", ["out", "out.bin", "out.idx"])
def test_megatron_files_are_named_by_their_prefix(
    tok: pw.Tokenizer, tmp_path: Path, name: str
) -> None:
    source = write(tmp_path / "in", "a\n")
    pw.encode_files(tok, source, tmp_path / name, format="megatron")
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out.bin", "out.idx"}


@pytest.mark.parametrize("form", READERS)
def test_each_row_can_end_with_a_token(tok: pw.Tokenizer, tmp_path: Path, form: str) -> None:
    source, out = write(tmp_path / "in", "a b\n\nc\n"), tmp_path / "out"
    done = pw.encode_files(
        tok,
        source,
        out,
        format=form,
        append_eod="[SEP]",
        add_special_tokens=False,
        keep_empty=True,
    )
    assert READERS[form](out) == [[8, 11, 3], [3], [12, 3]]
    assert done.tokens == (6,)


@pytest.mark.parametrize("form", [*LINE_FORMATS, *ARRAY_FORMATS])
def test_no_input_gives_files_without_rows(tok: pw.Tokenizer, tmp_path: Path, form: str) -> None:
    out = tmp_path / "out"
    done = pw.encode_files(tok, write(tmp_path / "in", ""), out, format=form)
    assert done == pw.EncodedFiles(0, 0, 0, 0, (0,))
    assert READERS.get(form, ids_in)(out) == []


def test_padding_to_the_longest_of_a_batch_is_left_out(tok: pw.Tokenizer, tmp_path: Path) -> None:
    source, out = write(tmp_path / "in", "a\na b c\n"), tmp_path / "out"
    pw.encode_files(tok.with_padding(None), source, out)
    assert ids_in(out) == [[2, 8, 3], [2, 8, 11, 12, 3]]
    pw.encode_files(tok.with_padding(4).with_truncation(4), source, out)
    assert ids_in(out) == [[2, 8, 3, 0], [2, 8, 11, 3]]


def test_special_tokens_in_the_text_can_be_text(tok: pw.Tokenizer, tmp_path: Path) -> None:
    source, out = write(tmp_path / "in", "a [MASK]\n"), tmp_path / "out"
    pw.encode_files(tok, source, out, add_special_tokens=False)
    assert ids_in(out) == [[8, 4]]
    pw.encode_files(tok, source, out, add_special_tokens=False, parse_special=False)
    assert 4 not in ids_in(out)[0]


@pytest.mark.usefixtures("small_blocks")
def test_parquet_does_not_hold_back_what_it_has(
    tok: pw.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(arrow_files, "_IDS_PER_ROW_GROUP", 1000)
    source = write(tmp_path / "in", "a hugs cafe\n" * 2000)
    pw.encode_files(tok, source, tmp_path / "out", format="parquet")
    written = parquet.read_metadata(tmp_path / "out")
    sizes = [written.row_group(at).num_rows * 6 for at in range(written.num_row_groups)]
    assert sum(sizes) == 12_000
    assert max(sizes) < 1000 + 256
    assert len(sizes) >= 10


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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, lines: list[str], size: int
) -> None:
    monkeypatch.setattr("piecework.corpus.rows.READ_BYTES_OF_LINES", size)
    source = lines_module.LineSource([str(write(tmp_path / "a", data))], ReadOptions.of())
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
    monkeypatch.setattr(line_blocks, "MAX_LINE_BYTES", 1000)
    first = "a\n" if name == "in.txt" else '{"text": "a"}\n'
    source = write(tmp_path / name, first + "x" * 5000)
    with pytest.raises(pw.errors.CorpusError, match=r"line 2 is longer than 1000 bytes"):
        pw.encode_files(tok, source, tmp_path / "out")
    assert list(tmp_path.iterdir()) == [source]


# ---- parallel texts


def test_a_line_empty_on_one_side_is_dropped_on_all(tok: pw.Tokenizer, tmp_path: Path) -> None:
    left = write(tmp_path / "l", "a\n\nb\n \t\nc\n\u3000\n")
    right = write(tmp_path / "r", "b\nb\n\nb\na c\nb\n")
    outputs = [tmp_path / "l.ids", tmp_path / "r.ids"]
    done = pw.encode_files(tok, [left, right], outputs, parallel=True, add_special_tokens=False)
    assert [ids_in(path) for path in outputs] == [[[8], [12]], [[11], [8, 12]]]
    assert done == pw.EncodedFiles(6, 2, 4, 0, (2, 3))


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
        rf"r\.txt ends after line {shorter}, and \S*l\.txt does not; "
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
    assert done == pw.EncodedFiles(6, 4, 2, 0, (2, 2))


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


# ---- constant memory


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("form", [*LINE_FORMATS, *ARRAY_FORMATS])
def test_few_batches_live_at_once_however_long_the_file(
    tok: pw.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    live, most, made = 0, 0, 0
    original = pw.Tokenizer.encode_batch

    def gone() -> None:
        nonlocal live
        live -= 1

    def counted(self: pw.Tokenizer, *arguments: Any, **settings: Any) -> pw.Batch:
        nonlocal live, most, made
        batch = original(self, *arguments, **settings)
        weakref.finalize(batch, gone)
        live, made = live + 1, made + 1
        most = max(most, live)
        return batch

    monkeypatch.setattr(pw.Tokenizer, "encode_batch", counted)
    source = write(tmp_path / "in", "a hugs cafe\n" * 2000)
    pw.encode_files(tok, source, tmp_path / "out", format=form)
    gc.collect()
    assert made > 50
    assert most <= encode_module.BATCHES_IN_FLIGHT + 3
    assert live == 0


def test_work_runs_ahead_of_its_reader_by_a_few_items_only() -> None:
    drawn: list[int] = []

    def items() -> Iterator[int]:
        for number in range(100):
            drawn.append(number)
            yield number

    for taken, result in enumerate(overlapped(lambda item: item * 2, items(), in_flight=2)):
        assert result == taken * 2
        assert len(drawn) <= taken + 3
    assert len(drawn) == 100


def test_a_failure_in_the_work_is_the_callers() -> None:
    results = overlapped(lambda item: 1 // item, [2, 1, 0, 5], in_flight=2)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


# ---- what is refused, and what is left behind


def test_what_cannot_be_done_is_refused_before_the_work(
    tok: pw.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines_module.LineSource, "blocks", lambda self: pytest.fail("has read"))
    a, b = str(write(tmp_path / "a", "a\n")), str(write(tmp_path / "b", "b\n"))
    out = str(tmp_path / "out")
    hard, soft = str(tmp_path / "hard"), str(tmp_path / "soft")
    os.link(a, hard)
    os.symlink(a, soft)
    for inputs, outputs, settings, place, found in (
        ([a, b], [out, out], {}, "outputs", f"'{out}'"),
        ([a, b], [out, f"{out}.", f"{out}.c"], {}, "outputs", "3 for 2 inputs"),
        ([a, b], out, {"parallel": True}, "outputs", "1 for 2 parallel inputs"),
        (a, a, {}, "outputs", f"'{a}'"),
        ([a, b], [out, a], {}, "outputs", f"'{a}'"),
        (a, hard, {}, "outputs", f"'{hard}'"),
        (a, soft, {}, "outputs", f"'{soft}'"),
        ([a, b], ["-", "-"], {}, "outputs", "'-'"),
        (["-", "-"], [out, f"{out}2"], {}, "inputs", "'-' twice"),
        (a, "-", {"format": "npy"}, "outputs", "'-'"),
        (a, out, {"format": "json"}, "format", "'json'"),
        (a, out, {"encoding_errors": "ignore"}, "encoding_errors", "'ignore'"),
        (a, out, {"append_eod": "</s>"}, "append_eod", "'</s>'"),
        (a, out, {"append_eod": "[SEP]", "format": "jsonl"}, "append_eod", "format 'jsonl'"),
        (a, out, {"append_eod": "[SEP]"}, "append_eod", None),
        ([], out, {}, "inputs", "no paths"),
        (a, [], {}, "outputs", "no paths"),
        (3, out, {}, "inputs", "int"),
        ([a], [b"x"], {}, "outputs", "bytes"),
        (a, f"{out}\0", {}, "outputs", None),
    ):
        with pytest.raises(pw.errors.ArgumentError) as caught:
            pw.encode_files(tok, inputs, outputs, **settings)
        assert caught.value.place == place
        assert found in (None, caught.value.found), caught.value
    for path in (str(tmp_path), str(tmp_path / "none" / "out")):
        with pytest.raises(pw.errors.FileError):
            pw.encode_files(tok, a, path)
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b", "hard", "soft"}


def test_the_second_file_of_a_pair_is_no_input_either(tok: pw.Tokenizer, tmp_path: Path) -> None:
    source = write(tmp_path / "a.idx", "a\n")
    with pytest.raises(pw.errors.ArgumentError, match="outputs"):
        pw.encode_files(tok, source, tmp_path / "a", format="megatron")
    assert source.read_text() == "a\n"


@POSIX
def test_a_device_may_be_named_twice(tok: pw.Tokenizer, tmp_path: Path) -> None:
    source = write(tmp_path / "a", "a\n")
    done = pw.encode_files(tok, [source, source], [os.devnull, os.devnull])
    assert done.tokens == (3, 3)


@POSIX
def test_a_full_disk_is_a_typed_error(tok: pw.Tokenizer, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    source = write(tmp_path / "a", "a\n")
    with pytest.raises(pw.errors.FileError, match="cannot write /dev/full: no space left"):
        pw.encode_files(tok, source, "/dev/full")


@pytest.mark.parametrize("form", ["ids", "npy", "arrow", "megatron"])
def test_an_output_is_replaced_whole_and_kept_on_failure(
    tok: pw.Tokenizer, tmp_path: Path, form: str
) -> None:
    bad, good = write(tmp_path / "bad", b"a\n\xff\n"), write(tmp_path / "good", "b\n")
    folder = tmp_path / "out"
    folder.mkdir()
    pw.encode_files(tok, good, folder / "out", format=form)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(pw.errors.InvalidUtf8Error):
        pw.encode_files(tok, bad, folder / "out", format=form, encoding_errors="strict")
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    pw.encode_files(tok, bad, folder / "out", format=form)
    assert set(folder.iterdir()) == set(before)
    assert len(READERS[form](folder / "out")) == 2


def test_arrow_without_its_extra_says_which_extra(
    tok: pw.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    source = write(tmp_path / "a", "a\n")
    with pytest.raises(pw.errors.MissingExtraError, match=r"pip install 'pyarrow>=14'"):
        pw.encode_files(tok, source, tmp_path / "out", format="arrow")
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.slow
@POSIX
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
@pytest.mark.parametrize("form", ["ids", "megatron"])
def test_ended_half_way_it_leaves_no_output(
    tok: pw.Tokenizer, tmp_path: Path, form: str, end: signal.Signals
) -> None:
    tok.save(tmp_path / "t.json")
    out = tmp_path / "out"
    out.mkdir()
    arguments = ["encode", str(tmp_path / "t.json"), "--format", form, "-o", str(out / "x")]
    process = subprocess.Popen(
        [sys.executable, "-m", "piecework", *arguments],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_signals,
    )
    assert process.stdin is not None
    for _ in range(12):
        process.stdin.write(b"a hugs cafe\n" * 100_000)
    deadline = time.monotonic() + 60
    while not any(path.stat().st_size for path in out.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert any(path.stat().st_size for path in out.iterdir()), "nothing was under way"
    process.send_signal(end)
    process.communicate(timeout=60)
    left = [path.name for path in out.iterdir()]
    if end != signal.SIGKILL:
        assert (process.returncode, left) == (128 + end, [])
    else:
        assert all(name.startswith(".") and name.endswith(".tmp") for name in left)


def test_progress_counts_the_bytes_of_the_files(tok: pw.Tokenizer, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    sources = [write(tmp_path / name, "a b\n" * 100) for name in "lr"]
    pw.encode_files(
        tok,
        sources,
        [tmp_path / "x", tmp_path / "y"],
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (800, 800)


def test_standard_input_and_output(
    tok: pw.Tokenizer, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
    right = write(tmp_path / "r", "c\nc\n")
    outputs = ["-", tmp_path / "r.ids"]
    done = pw.encode_files(tok, ["-", right], outputs, parallel=True, add_special_tokens=False)
    assert done.lines_written == 2
    assert ids_in(tmp_path / "r.ids") == [[12], [12]]


# ---- pipes


def start(tok: pw.Tokenizer, folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    tok.save(folder / "t.json")
    command = [sys.executable, "-m", "piecework", "encode", str(folder / "t.json"), *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


@POSIX
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_program_that_waits_for_its_answer_gets_it_line_by_line(
    tok: pw.Tokenizer, tmp_path: Path, form: str
) -> None:
    process = start(tok, tmp_path, *(["--field", "t"] if form == "json" else []))
    assert process.stdin is not None
    assert process.stdout is not None
    watchdog = threading.Timer(120, process.kill)
    watchdog.start()
    for text, ids in (("a", b"2 8 3\n"), ("hugs", b"2 5 6 3\n"), ("b c", b"2 11 12 3\n")):
        line = json.dumps({"t": text}) if form == "json" else text
        process.stdin.write(f"{line}\n".encode())
        process.stdin.flush()
        assert process.stdout.readline() == ids
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    watchdog.cancel()


@POSIX
def test_many_lines_from_a_pipe_are_all_encoded(tok: pw.Tokenizer, tmp_path: Path) -> None:
    text = "".join(f"{'a ' * (n % 50)}b{'' if n % 3 else chr(13)}\n" for n in range(50_000))
    out, _ = start(tok, tmp_path, "-").communicate(text.encode(), timeout=120)
    rows = [[int(id) for id in line.split()] for line in out.decode().splitlines()]
    assert rows == [[2, *[8] * (n % 50), 11, 3] for n in range(50_000)]


@POSIX
@pytest.mark.parametrize("form", ["ids", "arrow", "parquet"])
def test_stdout_is_written_by_its_device_name_too(
    tok: pw.Tokenizer, tmp_path: Path, form: str
) -> None:
    process = start(tok, tmp_path, "--format", form, "-o", "/dev/stdout")
    out, _ = process.communicate(b"a\nhugs\n", timeout=60)
    target = write(tmp_path / "out", out)
    if form == "arrow":  # a pipe gets the stream format
        assert len(out) > 100
    else:
        assert READERS[form](target) == [[2, 8, 3], [2, 5, 6, 3]]
