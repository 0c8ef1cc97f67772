"""Write files of tokens and ids in every format, from files and from memory."""

from __future__ import annotations

import gzip
import json
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import piecework as pw
from piecework.export import arrow_files
from piecework.export.pipeline import EncodedFiles
from tests.export.encode_files.ids_files import (
    ARRAY_FORMATS,
    LINE_FORMATS,
    READERS,
    ids_in,
    read_megatron,
    read_npy,
    write,
)

# ---- what is written


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize("num_threads", [1, 2])
def test_every_format_has_the_ids_of_each_line(
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
def test_stripped_lines_equal_those_of_the_encoder_of_the_survey(
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
    with pytest.raises(pw.errors.ArgumentError, match="sources: must contain at least one path"):
        pw.export.encode_lines(tok, [])
    with pytest.raises(pw.errors.ArgumentError, match="encoding_errors: must be .*, not 'ignore'"):
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


def test_a_megatron_index_longer_than_one_read_of_it(tok: pw.Tokenizer, tmp_path: Path) -> None:
    rng = random.Random(1)
    lines = [rng.choice(["a", "hugs a", "b b b"]) for _ in range(140_000)]  # of 65,536 values
    source = write(tmp_path / "in", "\n".join(lines))
    pw.encode_files(tok, source, tmp_path / "out", format="megatron")
    assert read_megatron(tmp_path / "out") == tok.encode_batch(lines).to_lists()


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
    assert done == EncodedFiles(0, 0, 0, 0, (0,))
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
def test_parquet_writes_row_groups_of_bounded_size(
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
