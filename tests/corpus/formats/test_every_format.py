"""What holds for every format: each has a sample, is read, counted, encoded and listed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework import corpus
from piecework.corpus import FORMATS, corpus_files, read_corpus
from piecework.corpus.reader import CorpusReader
from piecework.corpus.rows import ReadOptions
from tests.corpus.formats.samples import (
    COMPRESSIONS,
    RECORDS,
    TABLES,
    TEXTS,
    arrow_data,
    parquet_data,
    texts,
    write,
)

pyarrow = pytest.importorskip("pyarrow", reason="Parquet and Arrow files need pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


LINES = "\n".join(TEXTS).split("\n")
SAMPLES = {**RECORDS, **TABLES, "a.txt": lambda: "\n".join(LINES).encode()}
"""A file of each format, with `TEXTS`, or `LINES` if a text is a line."""


def test_every_format_has_a_sample() -> None:
    assert {corpus.formats.format_of(name) for name in SAMPLES} == set(FORMATS)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_format_is_counted_encoded_and_compared(
    tmp_path: Path, name: str, tok: pw.Tokenizer
) -> None:
    path = write(tmp_path / name, SAMPLES[name]())
    expected = texts(path)
    assert expected in (TEXTS, LINES)
    assert texts(tmp_path) == expected
    numbers = [number for rows in read_corpus(path) for number in rows.numbers]
    assert numbers == sorted(set(numbers))
    assert {rows.name for rows in read_corpus(path)} == {str(path)}
    assert pw.count_files(path, preset="whitespace") == pw.count_texts(TEXTS, preset="whitespace")
    done = pw.encode_files(tok, path, tmp_path / "out")
    assert (done.lines_read, done.lines_written) == (len(expected), len(expected) - 1)
    assert pw.analysis.compare({"a": tok}, read_corpus(path)).texts == len(expected) - 1


@pytest.mark.parametrize("name", SAMPLES)
def test_formats_with_fields_keep_them_and_others_say_that_they_have_none(
    tmp_path: Path, name: str, tok: pw.Tokenizer
) -> None:
    path = write(tmp_path / name, SAMPLES[name]())
    keep = partial(
        pw.export.encode_corpus, tok, path, tmp_path / "out", format="parquet", keep=["id"]
    )
    if corpus.formats.format_of(name).has_fields:
        keep()
        (shard,) = (tmp_path / "out").glob("*.parquet")
        assert list(map(str, parquet.read_table(shard)["id"].to_pylist())) == ["0", "1", "3", "4"]
    else:
        with pytest.raises(pw.errors.ArgumentError, match="has no fields"):
            keep()


def test_plain_text_has_no_fields_beside_files_that_have(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", '{"body": "hug"}\n')
    write(tmp_path / "b.txt", "pug\n")
    assert texts(tmp_path, field="body") == ["hug", "pug"]


def test_rows_have_the_number_of_their_line(tmp_path: Path) -> None:
    def numbered(name: str, data: str, **options: Any) -> list[tuple[int, str]]:
        found = read_corpus(write(tmp_path / name, data), **options)
        return [row for rows in found for row in zip(rows.numbers, rows.texts, strict=True)]

    records = '{"text": "a"}\n\n{"text":\n{"text": "b"}\n'
    with pytest.warns(pw.errors.CorpusWarning, match="broken JSON"):
        found = numbered("a.jsonl", records, on_error="skip")
    assert found == [(1, "a"), (2, ""), (4, "b")]
    assert numbered("a.csv", 'text\na\n\n"b\nc"\nd\n') == [(2, "a"), (4, "b\nc"), (6, "d")]
    assert numbered("a.txt", "a\n\nb") == [(1, "a"), (2, ""), (3, "b")]


def test_lines_are_numbered_over_blocks_and_files(tmp_path: Path) -> None:
    options = ReadOptions.of(block_bytes=8, max_line_bytes=12)
    write(tmp_path / "a.txt", "one\ntwo\na line that is split\nlast\n")
    write(tmp_path / "b.txt", "next\n")
    found = [
        (Path(rows.name).name, number, text)
        for rows in CorpusReader(corpus_files(tmp_path), options).rows()
        for number, text in zip(rows.numbers, rows.texts, strict=True)
    ]
    split = [text for _, number, text in found if number == 3]
    assert len(split) > 1
    assert "".join(split) == "a line that is split"
    assert [row for row in found if row[1] != 3] == [
        ("a.txt", 1, "one"),
        ("a.txt", 2, "two"),
        ("a.txt", 4, "last"),
        ("b.txt", 1, "next"),
    ]


def test_help_lists_every_format(cli: Callable[..., tuple[int, str, str]]) -> None:
    for command in ("train", "count", "encode"):
        shown = " ".join(cli(command, "--help")[1].split())
        assert pw.corpus.formats_text() in shown
    for suffix in (suffix for format in FORMATS[1:] for suffix in format.suffixes):
        assert suffix in pw.corpus.formats_text()


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@pytest.mark.parametrize("name", RECORDS)
def test_records_are_read_from_every_compression(
    tmp_path: Path, name: str, suffix: str, tok: pw.Tokenizer
) -> None:
    path = write(tmp_path / (name + suffix), COMPRESSIONS[suffix](RECORDS[name]()))
    assert texts(path) == TEXTS
    assert texts(tmp_path) == TEXTS
    done = pw.encode_files(tok, path, tmp_path / "out")
    assert (done.lines_read, done.lines_written) == (5, 4)


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_plain_text_is_read_from_every_compression(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / f"a.txt{suffix}", COMPRESSIONS[suffix](b"hug\npug\n" * 300_000))
    assert texts(path) == ["hug", "pug"] * 300_000


@pytest.mark.parametrize("name", TABLES)
def test_columns_of_tables_are_read(tmp_path: Path, name: str, tok: pw.Tokenizer) -> None:
    path = write(tmp_path / name, TABLES[name]())
    assert texts(path) == TEXTS
    assert texts(tmp_path) == TEXTS
    assert pw.count_files(path, preset="whitespace").most_common(1) == [("hug", 1)]
    last = [piece.file_bytes_read for piece in read_corpus(path)][-1]
    assert 0 < last <= path.stat().st_size


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary", "string_view"])
@pytest.mark.parametrize("form", ["file", "stream"])
def test_every_type_of_strings_is_read(tmp_path: Path, kind: str, form: str) -> None:
    kinds = {"dictionary": pyarrow.dictionary(pyarrow.int32(), pyarrow.string())}
    if kind == "string_view" and not hasattr(pyarrow, "string_view"):
        pytest.skip("this pyarrow has no string views")
    type = kinds.get(kind) or getattr(pyarrow, kind)()
    table = pyarrow.table({"text": pyarrow.array(TEXTS, pyarrow.string()).cast(type)})
    assert texts(write(tmp_path / "a.arrow", arrow_data(form, table))) == TEXTS


def test_nested_fields_are_read_from_json_and_tables(tmp_path: Path) -> None:
    records = [{"meta": {"text": text, "n": 1}} for text in TEXTS]
    lines = write(tmp_path / "a.jsonl", "".join(json.dumps(r) + "\n" for r in records))
    table = pyarrow.Table.from_pylist(records)
    assert texts(lines, field="meta.text") == TEXTS
    assert texts(write(tmp_path / "a.parquet", parquet_data(table)), field="meta.text") == TEXTS
    assert texts(write(tmp_path / "a.arrow", arrow_data("file", table)), field="meta.text") == TEXTS


def test_an_exact_name_comes_before_a_path_and_a_backslash_escapes_a_dot(tmp_path: Path) -> None:
    record = {"a.b": "exact", "a": {"b": "nested"}, "c.d": {"e": "escaped"}}
    lines = write(tmp_path / "a.jsonl", json.dumps(record))
    table = write(tmp_path / "a.arrow", arrow_data("file", pyarrow.Table.from_pylist([record])))
    for path in (lines, table):
        assert texts(path, field="a.b") == ["exact"]
        assert texts(path, field=r"c\.d.e") == ["escaped"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '{"meta": {"body": "x"}}',
            r"field 'meta.text': is missing: there is only 'body' in 'meta'",
        ),
        ('{"meta": 3}', r"field 'meta.text': found a number in 'meta', expected an object"),
        ('{"body": {}}', r"field 'meta.text': is missing: there is only 'body'$"),
        ('{"meta": {"text": 3}}', r"field 'meta.text': found a number, expected a string"),
    ],
)
def test_a_missing_nested_field_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path / "a.jsonl", line)
    with pytest.raises(pw.errors.CorpusError, match=rf"a\.jsonl line 1 {message}"):
        texts(path, field="meta.text")


def test_a_field_of_another_type_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(pw.errors.InputTypeError, match="field: must be .*, not int"):
        texts(write(tmp_path / "a.jsonl", "{}"), field=3)


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("block_bytes", [7, 64, 300])
@pytest.mark.parametrize("whole_lines", [False, True])
def test_records_are_whole_wherever_a_read_ends(
    tmp_path: Path, name: str, block_bytes: int, whole_lines: bool
) -> None:
    path = write(tmp_path / f"{name}.gz", gzip.compress(RECORDS[name]()))
    options = ReadOptions.of(block_bytes=block_bytes, whole_lines=whole_lines)
    found = CorpusReader(corpus_files(path), options).rows()
    assert [text for rows in found for text in rows.texts] == TEXTS


@pytest.mark.parametrize("name", ["a.json", "a.JSON", "a.json.gz"])
def test_a_json_file_has_json_lines_if_the_field_is_named(
    tmp_path: Path, name: str, tok: pw.Tokenizer
) -> None:
    data = b'{"text": "hug", "id": 1}\n{"text": "pug", "id": 2}\n'
    path = write(tmp_path / name, gzip.compress(data) if name.endswith(".gz") else data)
    [rows] = read_corpus(path, field="text")
    assert rows.to_list() == ["hug", "pug"]
    with pytest.warns(pw.errors.CorpusWarning, match="for JSON lines, name the field"):
        [rows] = read_corpus(path)
    assert rows.to_list() == data.decode().splitlines()
    encode = partial(pw.export.encode_corpus, tok, path, format="parquet", keep=["id"])
    encode(tmp_path / "out", field="text")
    with pytest.raises(pw.errors.ArgumentError, match="has no fields"):
        encode(tmp_path / "other")


@pytest.mark.parametrize(
    "data", ['[{"text": "hug"}]', '[{"text": "hug"},\n{"text": "pug"}]', "[\n"]
)
def test_a_json_array_is_not_read_as_json_lines(tmp_path: Path, data: str) -> None:
    path = write(tmp_path / "a.json", data.encode())
    with pytest.raises(pw.errors.CorpusError, match=r"a\.json line 1: starts a JSON array; .*jq"):
        list(read_corpus(path, field="text"))
