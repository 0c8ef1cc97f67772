"""Ids come back from every format that they are written in."""

from __future__ import annotations

import gzip
import io
import json
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import piecework as pw
from piecework.export import read_ids
from tests.processes import PIECEWORK, POSIX

Run = Callable[..., tuple[int, str, str]]

FORMATS = ["ids", "jsonl", "npy", "arrow", "parquet", "megatron"]
LINES = ["hug pug", "", "hugs", " ", "pun"] * 7


@pytest.fixture(scope="module")
def tok() -> pw.Tokenizer:
    words = "[UNK] [CLS] [SEP] hug pug ##s pun".split()
    return pw.Tokenizer(
        pw.spec.WordPiece({token: id for id, token in enumerate(words)}),
        pre_tokenizer=pw.spec.BertPreTokenizer(),
        post_processor=pw.spec.TemplateProcessing.bert(cls_id=1, sep_id=2),
        decoder=pw.spec.WordPieceDecoder(),
        added_tokens=[pw.spec.AddedToken(token, id) for id, token in enumerate(words[:3])],
    )


def written(tok: pw.Tokenizer, folder: Path, form: str, lines: list[str]) -> Path:
    if form in ("arrow", "parquet"):
        pytest.importorskip("pyarrow")
    (folder / "in.txt").write_text("".join(f"{line}\n" for line in lines))
    suffix = {"megatron": "", "npy": ".npy"}.get(form, f".{form}")
    path = folder / f"out{suffix}"
    pw.encode_files(
        tok, folder / "in.txt", path, format=form, keep_empty=True, add_special_tokens=False
    )
    return path


def rows_of(path: Path, **settings: int) -> list[list[int]]:
    return [row for rows in read_ids(path, **settings) for row in rows]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("lines", [LINES, ["hug " * 100, ""] * 5000, [""], [], ["", "hug", ""]])
def test_written_ids_are_read_again(
    tok: pw.Tokenizer, tmp_path: Path, form: str, lines: list[str]
) -> None:
    path = written(tok, tmp_path, form, lines)
    assert rows_of(path) == tok.encode_batch(lines, add_special_tokens=False).to_lists()


@pytest.mark.parametrize("form", FORMATS)
def test_decode_undoes_encode_in_every_format(
    cli: Run, tok: pw.Tokenizer, tmp_path: Path, form: str
) -> None:
    path = written(tok, tmp_path, form, LINES)
    tok.save(tmp_path / "t.json")
    text = "".join(f"{line.strip()}\n" for line in LINES)
    names = [path]
    if form == "megatron":
        names = [path, Path(f"{path}.bin"), Path(f"{path}.idx")]
    for name in names:
        assert cli("decode", str(tmp_path / "t.json"), str(name)) == (0, text, "")
    both = cli("decode", str(tmp_path / "t.json"), str(path), str(path))
    assert both == (0, text * 2, "")


@POSIX
@pytest.mark.parametrize("form", ["ids", "jsonl", "arrow", "parquet"])
def test_decode_reads_from_a_pipe_what_encode_writes_to_it(
    tok: pw.Tokenizer, tmp_path: Path, form: str
) -> None:
    if form in ("arrow", "parquet"):
        pytest.importorskip("pyarrow")
    tok.save(tmp_path / "t.json")
    pipe = f"{PIECEWORK} encode t.json --keep-empty --format {form} | {PIECEWORK} decode t.json"
    done = subprocess.run(
        ["sh", "-c", pipe],
        cwd=tmp_path,
        input="".join(f"{line}\n" for line in LINES).encode(),
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert done.stderr == b""
    assert done.stdout.decode() == "".join(f"{line.strip()}\n" for line in LINES)


def test_compressed_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "ids.gz"
    path.write_bytes(gzip.compress(b'5 6\n{"ids": [7]}\n\n8'))
    assert rows_of(path) == [[5, 6], [7], [], [8]]


@pytest.mark.parametrize("code", [1, 2, 3, 4, 5, 8])
def test_megatron_indexes_of_other_writers_are_read(tmp_path: Path, code: int) -> None:
    """Rows may lie in any order, and have any type of integers."""
    dtype = {1: "u1", 2: "i1", 3: "<i2", 4: "<i4", 5: "<i8", 8: "<u2"}[code]
    data = np.array([9, 7, 8], dtype)
    data.tofile(tmp_path / "a.bin")
    header = b"MMIDIDX\0\0" + np.array([1], "<i8").tobytes() + bytes([code])
    counts = np.array([2, 2], "<i8").tobytes()
    lengths = np.array([2, 1], "<i4").tobytes()
    pointers = np.array([data.itemsize, 0], "<i8").tobytes()
    (tmp_path / "a.idx").write_bytes(header + counts + lengths + pointers)
    assert rows_of(tmp_path / "a.idx") == [[7, 8], [9]]


@pytest.mark.parametrize("form", FORMATS)
def test_an_id_outside_the_vocabulary_is_named_with_its_row(
    tok: pw.Tokenizer, tmp_path: Path, form: str
) -> None:
    path = written(tok, tmp_path, form, ["hug", "", "pun"])
    with pytest.raises(
        pw.errors.IdRangeError,
        match=r"(line|row) 3.* must (be|contain) .*from 0 to 5.*, not '?6'?$",
    ):
        rows_of(path, id_limit=6)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("5 x", "line 2: must be .*, not 'x'"),
        ("-1", "line 2: must be .*, not '-1'"),
        ("{", r"line 2: found broken JSON \(.*column 2"),
        (
            '{"id": [1]}',
            "ids\\.txt line 2: has no field 'ids'; expected an object with \"ids\", a list of ids from",
        ),
        ('{"ids": 3}', r"line 2 field 'ids': found int"),
        ('{"ids": [true]}', "line 2 field 'ids': must contain .*, not True"),
        ('{"ids": [1.5]}', "line 2 field 'ids': must contain .*, not 1.5"),
        ('{"ids": [-1]}', "line 2 field 'ids': must contain .*, not -1"),
    ],
)
def test_lines_that_are_not_ids_are_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "ids.txt"
    path.write_text(f"1 2\n{line}\n")
    with pytest.raises(pw.PieceworkError, match=message):
        rows_of(path)


@pytest.mark.parametrize("form", ["npy", "arrow", "parquet", "megatron"])
def test_a_damaged_file_is_a_typed_error(tok: pw.Tokenizer, tmp_path: Path, form: str) -> None:
    path = written(tok, tmp_path, form, LINES)
    files = [file for file in tmp_path.iterdir() if file.name.startswith("out")]
    for file in files:
        data = file.read_bytes()
        for cut in (9, len(data) // 3):
            file.write_bytes(data[:cut])
            with pytest.raises(pw.errors.PieceworkError, match=file.stem.split(".")[0]):
                rows_of(path)
        file.write_bytes(data)
    assert len(rows_of(path)) == len(LINES)


@pytest.mark.parametrize("form", ["file", "stream"])
@pytest.mark.parametrize("offset", [60, -5, 2_000_000_000])
def test_damaged_offsets_of_an_arrow_file_are_refused(
    tmp_path: Path, form: str, offset: int
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    lists = pyarrow.array([[70_001, 70_002, 70_003]] * 50, pyarrow.list_(pyarrow.uint32()))
    table = pyarrow.table({"ids": lists})
    sink = io.BytesIO()
    with getattr(pyarrow.ipc, f"new_{form}")(sink, table.schema) as writer:
        writer.write_table(table)
    data = sink.getvalue()
    offsets = struct.pack("<iii", 72, 75, 78)
    assert data.count(offsets) == 1
    path = tmp_path / "a.arrow"
    path.write_bytes(data.replace(offsets, struct.pack("<iii", 72, offset, 78)))
    with pytest.raises(
        pw.errors.CorpusError,
        match=r"a\.arrow: is damaged \(Offset invariant failure",
    ):
        rows_of(path)


@pytest.mark.parametrize("rows", [1 << 62, 1 << 63, (1 << 64) - 1])
def test_a_megatron_index_of_too_many_rows_is_refused(
    tok: pw.Tokenizer, tmp_path: Path, rows: int
) -> None:
    prefix = written(tok, tmp_path, "megatron", LINES)
    index = Path(f"{prefix}.idx")
    data = bytearray(index.read_bytes())
    struct.pack_into("<Q", data, 18, rows)
    index.write_bytes(data)
    with pytest.raises(
        pw.errors.CorpusError,
        match=r"out\.idx: is damaged .*; expected a complete index of Megatron-LM",
    ):
        rows_of(index)


def test_a_megatron_index_without_sequences_for_data_is_refused(
    tok: pw.Tokenizer, tmp_path: Path
) -> None:
    prefix = written(tok, tmp_path, "megatron", LINES)
    index = Path(f"{prefix}.idx")
    data = bytearray(index.read_bytes())
    struct.pack_into("<QQ", data, 18, 0, 1)
    index.write_bytes(data)
    expected = r"out\.idx: has no sequences for 70 bytes of data; it is not the index of .*out\.bin"
    with pytest.raises(pw.errors.CorpusError, match=expected):
        rows_of(index)


def test_an_npy_file_of_more_bytes_than_its_header_states_is_refused(
    tok: pw.Tokenizer, tmp_path: Path
) -> None:
    path = written(tok, tmp_path, "npy", LINES)
    for name in ("out.npy", "out.row_offsets.npy"):
        stored = (tmp_path / name).read_bytes()
        for length in (b"(0,)", b"(1,)"):
            shape = re.search(rb"\(\d+,\)", stored)
            assert shape
            # The header keeps its size.
            (tmp_path / name).write_bytes(stored.replace(shape[0], length.ljust(len(shape[0])), 1))
            with pytest.raises(pw.errors.CorpusError, match=f"{name}: is damaged"):
                rows_of(path)
        (tmp_path / name).write_bytes(stored)
    np.save(tmp_path / "out.npy", np.empty(0, np.uint16))
    np.save(tmp_path / "out.row_offsets.npy", np.empty(0, np.int64))
    with pytest.raises(
        pw.errors.CorpusError,
        match=r"out\.row_offsets\.npy: is empty; the row offsets of .*out\.npy begin with 0",
    ):
        rows_of(path)


NPY_HEADER = "{'descr': '<u2', 'fortran_order': False, 'shape': (%s,), }"


@pytest.mark.parametrize("name", ["out.npy", "out.row_offsets.npy"])
@pytest.mark.parametrize(
    "header",
    [
        NPY_HEADER.partition("%s")[0],
        NPY_HEADER % (1 << 62),
        NPY_HEADER % (1 << 70),
        NPY_HEADER % -1,
        "{[1]: 2}",
        "-" * 5000 + "1",
    ],
    ids=["cut", "2**62", "2**70", "-1", "a list as a key", "deep nesting"],
)
def test_a_damaged_header_of_an_npy_file_is_refused(
    tok: pw.Tokenizer, tmp_path: Path, name: str, header: str
) -> None:
    path = written(tok, tmp_path, "npy", LINES)
    stored = header.encode() + b"\n"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(stored)) + stored + bytes(64)
    (tmp_path / name).write_bytes(data)
    with pytest.raises(pw.errors.CorpusError, match=rf"{name}: is damaged"):
        rows_of(path)


def test_a_file_without_its_second_file_says_which(tok: pw.Tokenizer, tmp_path: Path) -> None:
    path = written(tok, tmp_path, "npy", LINES)
    offsets = tmp_path / "out.row_offsets.npy"
    with pytest.raises(
        pw.errors.CorpusError,
        match=r"out\.row_offsets\.npy: has row offsets; give the file of ids, without `\.row_offsets`",
    ):
        rows_of(offsets)
    offsets.unlink()
    with pytest.raises(
        pw.errors.FileError,
        match=r"out\.row_offsets\.npy: cannot be read: no such file; it has the row offsets of .*out\.npy$",
    ):
        rows_of(path)
    prefix = written(tok, tmp_path, "megatron", LINES)
    Path(f"{prefix}.bin").unlink()
    with pytest.raises(
        pw.errors.FileError,
        match=r"out\.bin: cannot be read: no such file; it has the data of .*out\.idx$",
    ):
        rows_of(Path(f"{prefix}.idx"))


def test_a_table_without_ids_says_what_it_has(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for columns, message in (
        (
            {"text": ["a"], "n": [1]},
            r"t\.parquet: has the columns text, n; it needs a column `ids` or `input_ids` of lists",
        ),
        ({"ids": ["a"]}, "column 'ids': found string"),
        ({"ids": [[1.5]]}, "column 'ids': found list<.*double"),
        ({"ids": [[1], None]}, r"t\.parquet column 'ids': must not have nulls"),
        ({"ids": [[1, None]]}, r"t\.parquet column 'ids': must not have nulls"),
        ({"ids": [[1], [-1]]}, "row 2: must be .*, not -1"),
    ):
        parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
        with pytest.raises(pw.PieceworkError, match=message):
            rows_of(tmp_path / "t.parquet")


def test_a_file_of_two_is_not_read_from_a_pipe(tok: pw.Tokenizer, tmp_path: Path) -> None:
    path = written(tok, tmp_path, "npy", LINES)
    tok.save(tmp_path / "t.json")
    command = [sys.executable, "-m", "piecework", "decode", str(tmp_path / "t.json")]
    done = subprocess.run(command, input=path.read_bytes(), capture_output=True, check=False)
    assert done.returncode == 2
    assert b"<stdin>: has one of the two files of npy or Megatron" in done.stderr


def test_json_lines_with_labels_decode(cli: Run, tok: pw.Tokenizer, tmp_path: Path) -> None:
    tok.save(tmp_path / "t.json")
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps({"id": 7, "text": "hugs"}) + "\n\n")
    out = tmp_path / "out.jsonl"
    encode = ["encode", str(tmp_path / "t.json"), str(source), "--format", "jsonl", "-o", str(out)]
    assert cli(*encode)[0] == 0
    assert cli("decode", str(tmp_path / "t.json"), str(out)) == (0, "hugs\n\n", "")


def test_damage_that_exceeds_the_memory_raises_memory_limit_error(
    tmp_path: Path,
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"ids": pyarrow.array([[1, 2, 3]] * 50, pyarrow.list_(pyarrow.uint32()))})
    sink = io.BytesIO()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    body_length = struct.pack("<q", 808)
    assert sink.getvalue().count(body_length) == 1
    path = tmp_path / "a.arrow"
    path.write_bytes(sink.getvalue().replace(body_length, struct.pack("<q", 1 << 46)))
    with pytest.raises(
        pw.errors.MemoryLimitError,
        match=r"a\.arrow: has more ids than fit into memory, or damaged data",
    ):
        rows_of(path)
