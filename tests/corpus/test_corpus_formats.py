"""Corpus formats: records, compression, patterns, URLs, `datasets` folders, counts files, faults, memory."""

from __future__ import annotations

import bz2
import csv
import functools
import gzip
import http.server
import io
import json
import lzma
import os
import struct
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework import corpus
from piecework._internal import progress as bars
from piecework.corpus import FORMATS, columns, corpus_files, csv_rows, read_corpus, rows

pyarrow = pytest.importorskip("pyarrow", reason="Parquet and Arrow files need pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
fsspec = pytest.importorskip("fsspec", reason="URLs need fsspec")
zstandard = pytest.importorskip("zstandard")

TEXTS = ["hug pug", 'a "quoted", text\nof two lines', "", "日本語 é 😀", "tab\there"]
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda data: zstandard.ZstdCompressor().compress(data),
    ".xz": lzma.compress,
    ".bz2": lambda data: bz2.compress(data, 1),
}


def write(path: Path, data: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def texts(path: object, **options: Any) -> list[str]:
    """Read a corpus by blocks, as counting does, and by whole lines, as encoding does."""
    found = [text for rows in read_corpus(path, **options) for text in rows.texts]
    if options.get("on_error") != "skip":  # the caller counts warnings
        whole = read_corpus(path, **options, whole_lines=True)
        assert [text for rows in whole for text in rows.texts] == found
    return found


def csv_data(delimiter: str = ",", column: str = "text") -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter)
    writer.writerow(["id", column, "n"])
    writer.writerows([index, text, "x"] for index, text in enumerate(TEXTS))
    return stream.getvalue().encode()


def jsonl_data() -> bytes:
    return b"".join(json.dumps({"id": i, "text": t}).encode() + b"\n" for i, t in enumerate(TEXTS))


def parquet_data(table: Any = None, **options: Any) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(table or pyarrow.table({"id": range(5), "text": TEXTS}), sink, **options)
    return sink.getvalue()


def arrow_data(form: str, table: Any = None, **options: Any) -> bytes:
    table = table or pyarrow.table({"id": range(5), "text": TEXTS})
    sink = io.BytesIO()
    with getattr(pyarrow.ipc, f"new_{form}")(sink, table.schema, **options) as writer:
        writer.write_table(table, max_chunksize=2)
    return sink.getvalue()


RECORDS: dict[str, Callable[[], bytes]] = {
    "a.jsonl": jsonl_data,
    "a.csv": csv_data,
    "a.tsv": lambda: csv_data("\t"),
}
TABLES: dict[str, Callable[[], bytes]] = {
    "a.parquet": parquet_data,
    "file.arrow": lambda: arrow_data("file"),
    "stream.arrow": lambda: arrow_data("stream"),
}


LINES = "\n".join(TEXTS).split("\n")
SAMPLES = {**RECORDS, **TABLES, "a.txt": lambda: "\n".join(LINES).encode()}
"""A file of each format, with `TEXTS`, or `LINES` if a text is a line."""


@pytest.fixture
def tok() -> pw.Tokenizer:
    return pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "h": 1, "u": 2, "g": 3}))


# ---- formats


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
    assert pw.analysis.compare_files({"a": tok}, path).texts == len(expected) - 1


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


def test_lines_are_numbered_over_blocks_and_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "READ_BYTES", 8)
    monkeypatch.setattr(corpus.plain_text, "_MAX_LINE_BYTES", 12)
    write(tmp_path / "a.txt", "one\ntwo\na line that is split\nlast\n")
    write(tmp_path / "b.txt", "next\n")
    found = [
        (Path(rows.name).name, number, text)
        for rows in read_corpus(tmp_path)
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


def test_no_text_lists_the_formats_by_hand() -> None:
    listed = [format.name for format in FORMATS[1:5]]
    root = Path(__file__).parents[2]
    pages = [*(root / "docs" / "how-to").glob("*.md"), root / "README.md", root / "CONTRIBUTING.md"]
    package = [path for path in (root / "python").rglob("*.py") if path.name != "formats.py"]
    for path in [*pages, *package]:
        for paragraph in path.read_text(encoding="utf-8").split("\n\n"):
            assert sum(name in paragraph for name in listed) < 3, f"{path}: {paragraph}"


def test_help_lists_every_format(cli: Callable[..., tuple[int, str, str]]) -> None:
    for command in ("train", "count", "encode"):
        shown = " ".join(cli(command, "--help")[1].split())
        assert pw.corpus.formats_text() in shown
    for suffix in (suffix for format in FORMATS[1:] for suffix in format.suffixes):
        assert suffix in pw.corpus.formats_text()


@pytest.mark.parametrize(
    ("module", "name"),
    [(pw.train, "read_corpus"), (pw.train, "corpus_files"), (pw.export, "read_lines")],
)
def test_names_that_moved_say_where_they_are(module: Any, name: str) -> None:
    with pytest.raises(AttributeError, match=r"use piecework\.corpus\."):
        getattr(module, name)


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
            r"field 'meta.text' is missing: there is only 'body' in 'meta'",
        ),
        ('{"meta": 3}', r"field 'meta.text': found a number in 'meta', expected an object"),
        ('{"body": {}}', r"field 'meta.text' is missing: there is only 'body'$"),
        ('{"meta": {"text": 3}}', r"field 'meta.text': found a number, expected a string"),
    ],
)
def test_a_missing_nested_field_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path / "a.jsonl", line)
    with pytest.raises(pw.errors.CorpusError, match=rf"a\.jsonl line 1 {message}"):
        texts(path, field="meta.text")


def test_a_field_of_another_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(pw.errors.InputTypeError, match="field must be .*, not int"):
        texts(write(tmp_path / "a.jsonl", "{}"), field=3)


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("read_bytes", [7, 64, 300])
def test_records_are_whole_wherever_a_read_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, read_bytes: int
) -> None:
    monkeypatch.setattr(rows, "READ_BYTES", read_bytes)
    monkeypatch.setattr(rows, "READ_BYTES_OF_LINES", read_bytes)
    path = write(tmp_path / f"{name}.gz", gzip.compress(RECORDS[name]()))
    assert texts(path) == TEXTS


# ---- CSV


def test_csv_has_large_fields_and_any_line_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "READ_BYTES", 64)
    large = "x" * 300_000
    data = b'\xef\xbb\xbfid,text\r\n1,"a\r\nb"\r\n\r\n2,' + large.encode() + b'\r\n3,"""q"""'
    assert texts(write(tmp_path / "a.csv", data)) == ["a\r\nb", large, '"q"']


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            "id,body\n1,x\n",
            r"a\.csv column 'text' must be one column of line 1, which has only 'id', 'body'",
        ),
        (
            "text,text\na,b\n",
            r"a\.csv column 'text' must be one column of line 1, which has 2 columns of this name",
        ),
        ("id,text\n1,a\n2\n", r"a\.csv line 3 has 1 column; it needs at least 2"),
        ('id,text\n1,"a\n2,b\n', r"a\.csv line 2: found broken CSV"),
        ('id,text\n1,"a"b\n', r"a\.csv line 2: found broken CSV"),
    ],
)
def test_broken_csv_is_named_by_file_and_line(tmp_path: Path, data: str, message: str) -> None:
    with pytest.raises(pw.errors.CorpusError, match=message):
        texts(write(tmp_path / "a.csv", data))


def test_invalid_utf8_in_csv_is_replaced_and_counted_or_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", b"text\nok\na\xffb\n")
    assert [(p.texts, p.replacements) for p in read_corpus(path)] == [(["ok", "a\ufffdb"], 1)]
    with pytest.raises(pw.errors.InvalidUtf8Error, match=r"a\.csv line 3: found invalid UTF-8"):
        texts(path, encoding_errors="strict")


# ---- Parquet and Arrow


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"body": ["x"]},
            "column 'text' must be one column with strings; the file has only 'body'",
        ),
        ({"text": [3]}, "column 'text': found values of type int64, expected strings"),
        ({"text": ["a", None]}, "row 2 column 'text': found a null, expected a string"),
    ],
)
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_a_table_without_the_texts_is_refused(
    tmp_path: Path, table: dict[str, Any], message: str, name: str
) -> None:
    made = pyarrow.table(table)
    data = parquet_data(made) if name == "a.parquet" else arrow_data("stream", made)
    with pytest.raises(pw.errors.CorpusError, match=rf"{name} {message}"):
        texts(write(tmp_path / name, data))


@pytest.mark.parametrize("name", TABLES)
def test_damaged_tables_are_refused_at_any_end(tmp_path: Path, name: str) -> None:
    data = TABLES[name]()
    for end in [0, 3, 8, *range(10, len(data) - 1, 97)]:
        path = write(tmp_path / name, data[:end])
        try:
            found = texts(path)
        except pw.errors.CorpusError as error:
            assert str(path) in str(error)  # noqa: PT017
        else:  # a stream may end after a batch
            assert name == "stream.arrow"
            assert found == TEXTS[: len(found)]


@pytest.mark.parametrize("name", TABLES)
def test_changed_bytes_in_a_table_raise_typed_errors_only(tmp_path: Path, name: str) -> None:
    data = TABLES[name]()
    for position in range(0, len(data), 7):
        changed = bytearray(data)
        changed[position] ^= 0xFF
        path = write(tmp_path / name, bytes(changed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                texts(path)
            except (pw.errors.CorpusError, pw.errors.FileError) as error:
                assert name in str(error)  # noqa: PT017


def test_invalid_utf8_in_a_table_is_replaced_and_counted_or_refused(tmp_path: Path) -> None:
    binary = pyarrow.array([b"ok", b"a\xffb", None], pyarrow.binary())
    table = pyarrow.table({"text": binary.view(pyarrow.string()).slice(0, 2)})
    path = write(tmp_path / "a.arrow", arrow_data("file", table))
    assert [(p.texts, p.replacements) for p in read_corpus(path)] == [(["ok", "a\ufffdb"], 1)]
    with pytest.raises(pw.errors.InvalidUtf8Error, match=r"a\.arrow row 2 column 'text'"):
        texts(path, encoding_errors="strict")


@pytest.mark.parametrize("form", ["file", "stream"])
@pytest.mark.parametrize("is_dictionary", [False, True])
def test_a_record_batch_longer_than_its_buffers_is_refused(
    tmp_path: Path, form: str, is_dictionary: bool
) -> None:
    rows = 12_345
    column = pyarrow.array(["hug"] * rows)
    table = pyarrow.table({"text": column.dictionary_encode() if is_dictionary else column})
    sink = io.BytesIO()
    with getattr(pyarrow.ipc, f"new_{form}")(sink, table.schema) as writer:
        writer.write_table(table)
    data = sink.getvalue()
    length = struct.pack("<q", rows)
    assert length in data
    path = write(tmp_path / "a.arrow", data.replace(length, struct.pack("<q", 1 << 33)))
    with pytest.raises(pw.errors.CorpusError, match=r"a\.arrow: found damaged Arrow data"):
        texts(path)


def dictionary_data(indices: list[int | None], values: list[str | None]) -> bytes:
    column = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array(indices, pyarrow.int32()), pyarrow.array(values, pyarrow.string()), safe=False
    )
    return arrow_data("file", pyarrow.table({"text": column}))


def test_a_null_of_a_dictionary_is_a_null(tmp_path: Path) -> None:
    path = write(tmp_path / "a.arrow", dictionary_data([0, 1, None, 0], ["a", None]))
    with pytest.raises(pw.errors.CorpusError, match=r"row 2 column 'text': found a null"):
        texts(path)
    found, summary = skip(path)
    assert found == ["a", "a"]
    assert "a field that is no string: 2" in summary


@pytest.mark.parametrize("index", [2, 900, -1])
def test_an_index_outside_a_dictionary_is_refused(tmp_path: Path, index: int) -> None:
    path = write(tmp_path / "a.arrow", dictionary_data([0, index], ["a", "b"]))
    with pytest.raises(
        pw.errors.CorpusError, match=rf"a\.arrow: .*index {index} of a dictionary with 2 values"
    ):
        texts(path)


def test_another_format_under_the_name_of_a_table_is_refused(tmp_path: Path) -> None:
    for data, found in (
        (gzip.compress(parquet_data()), "gzip data"),
        (b"text", "another format"),
        (b"", "no bytes"),
    ):
        for name in ("a.parquet", "a.arrow"):
            with pytest.raises(pw.errors.CorpusError, match=rf"{name}: found {found}"):
                texts(write(tmp_path / name, data))


def test_tables_without_their_extra_say_which_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.arrow", arrow_data("file"))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(pw.errors.MissingExtraError, match="pip install 'pyarrow>=14'"):
        texts(path)


def test_lists_of_texts_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (rows, csv_rows, columns):
        monkeypatch.setattr(module, "LIST_CHARS", 1000)
    many = ["x" * 100] * 500
    table = pyarrow.table({"text": many})
    paths = [
        write(tmp_path / "a.csv", "text\n" + "\n".join(many)),
        write(tmp_path / "a.parquet", parquet_data(table)),
        write(tmp_path / "a.arrow", arrow_data("file", table)),
    ]
    for path in paths:
        sizes = [len(piece.texts) for piece in read_corpus(path)]
        assert sum(sizes) == 500
        assert max(sizes) <= 11


# ---- datasets folders


@pytest.fixture(scope="module")
def dataset() -> Any:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    datasets.disable_progress_bars()
    return datasets.Dataset.from_dict({"text": [f"text {n}" for n in range(100)]})


def test_a_folder_of_datasets_is_read_in_order(tmp_path: Path, dataset: Any) -> None:
    dataset.save_to_disk(tmp_path / "saved", num_shards=3)
    write(tmp_path / "saved" / "cache-1.arrow", arrow_data("stream"))  # of `Dataset.map`
    assert texts(tmp_path / "saved") == dataset["text"][:]
    assert texts(tmp_path) == dataset["text"][:]


def test_a_shuffled_dataset_is_read_in_its_order(tmp_path: Path, dataset: Any) -> None:
    shuffled = dataset.shuffle(seed=1)
    shuffled.save_to_disk(tmp_path)
    assert texts(tmp_path) == shuffled["text"][:]


def test_a_dataset_of_several_splits_needs_the_split(tmp_path: Path, dataset: Any) -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    datasets.DatasetDict(train=dataset, test=dataset).save_to_disk(tmp_path)
    with pytest.raises(pw.errors.CorpusError, match=r"several splits \(train, test\).*train'"):
        texts(tmp_path)
    assert len(texts(tmp_path / "test")) == 100


@pytest.mark.parametrize(
    "state", ["{", "[]", "{}", '{"_data_files": [{"filename": "../x.arrow"}]}']
)
def test_a_damaged_state_of_a_dataset_is_refused(tmp_path: Path, state: str) -> None:
    write(tmp_path / "dataset_info.json", "{}")
    write(tmp_path / "state.json", state)
    with pytest.raises(pw.errors.CorpusError, match=r"state\.json"):
        texts(tmp_path)


# ---- patterns


def test_a_pattern_gives_its_files_sorted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("b.txt", "a/z.txt", "a/b/y.txt", "c.bin", "d.txt.gz"):
        write(tmp_path / name, name)
    monkeypatch.chdir(tmp_path)
    assert corpus_files("*.txt") == ["b.txt"]
    assert corpus_files("**/*.txt") == ["a/b/y.txt", "a/z.txt", "b.txt"]
    assert corpus_files(["?.bin", "[b]*"]) == ["c.bin", "b.txt"]
    assert texts(Path("**/y.txt")) == ["a/b/y.txt"]


def test_a_pattern_without_a_match_is_named(tmp_path: Path) -> None:
    pattern = str(tmp_path / "*.jsonl")
    for use in (texts, pw.count_files, pw.Tokenizer.train):
        with pytest.raises(
            pw.errors.FileError,
            match=r"no file matches .*\*\.jsonl \(\*\* matches folders of any depth\)",
        ):
            use(pattern)


def test_a_file_whose_name_looks_like_a_pattern_is_read(tmp_path: Path) -> None:
    assert texts(write(tmp_path / "a[1].txt", "hug")) == ["hug"]


# ---- URLs


@pytest.fixture
def memory() -> Iterator[Any]:
    fs = fsspec.filesystem("memory")
    yield fs
    fs.store.clear()
    fs.pseudo_dirs[:] = [""]


def test_urls_are_read_in_every_format(memory: Any) -> None:
    made = {**RECORDS, **TABLES, "a.jsonl.gz": lambda: gzip.compress(jsonl_data())}
    for name, data in made.items():
        memory.pipe(f"/corpus/{name}", data())
        assert texts(f"memory://corpus/{name}") == TEXTS, name


def test_patterns_and_directories_of_urls_are_sorted_and_without_hidden_files(memory: Any) -> None:
    for name in ("b.txt", "a/z.txt", "a/.hidden.txt", ".git/x.txt", "c.bin"):
        memory.pipe(f"/corpus/{name}", name.encode())
    expected = ["memory:///corpus/a/z.txt", "memory:///corpus/b.txt"]
    assert [
        url.replace("memory://corpus", "memory:///corpus")
        for url in corpus_files("memory://corpus")
    ] == expected
    assert texts("memory://corpus") == ["a/z.txt", "b.txt"]
    assert texts("memory://corpus/*.txt") == ["b.txt"]
    with pytest.raises(pw.errors.FileError, match="no file matches"):
        texts("memory://corpus/*.jsonl")


def test_files_are_read_as_urls_and_through_archives(tmp_path: Path, tok: pw.Tokenizer) -> None:
    write(tmp_path / "a.txt", "hug\n")
    assert texts(f"file://{tmp_path}/a.txt") == ["hug"]
    assert texts(f"file://{tmp_path}") == ["hug"]
    pw.encode_files(tok, f"file://{tmp_path}/a.txt", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "1 2 3\n"
    fs = fsspec.filesystem("zip", fo=str(tmp_path / "a.zip"), mode="w")
    with fs.open("in/b.txt", "wb") as file:
        file.write(b"pug\n")
    fs.zip.close()
    assert texts(f"zip://in/b.txt::file://{tmp_path}/a.zip") == ["pug"]
    assert texts(f"zip://**/*.txt::file://{tmp_path}/a.zip") == ["pug"]


def test_web_addresses_are_read(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp", reason="fsspec reads web addresses with aiohttp")
    write(tmp_path / "a.txt", "hug\n")
    write(tmp_path / "b.csv.gz", gzip.compress(csv_data()))
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        assert texts(f"{address}/a.txt?version=1") == ["hug"]
        assert texts(f"{address}/b.csv.gz") == TEXTS
        with pytest.raises(pw.errors.FileError, match=r"cannot read .*none\.txt: no such file"):
            texts(f"{address}/none.txt")
        server.shutdown()


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        (
            "memory://nowhere/a.txt",
            pw.errors.FileError,
            "cannot read memory://nowhere/a.txt: no such file",
        ),
        (
            "nosuch://a.txt",
            pw.errors.FileError,
            "cannot read nosuch://a.txt: Protocol not known: nosuch",
        ),
        ("file:///nowhere/a.parquet", pw.errors.FileError, "no such file"),
    ],
)
def test_a_url_that_cannot_be_read_is_named(url: str, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        texts(url)


def test_urls_without_their_extra_say_which_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(pw.errors.MissingExtraError, match="pip install 'fsspec>=2023.6'"):
        texts("memory://a.txt")


@pytest.mark.parametrize(("scheme", "package"), [("s3", "s3fs"), ("gs", "gcsfs")])
@pytest.mark.parametrize("path", ["bucket/a.txt", "bucket/*.txt", "bucket/a.parquet"])
def test_a_scheme_without_its_package_names_the_package(
    monkeypatch: pytest.MonkeyPatch, scheme: str, package: str, path: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    url = f"{scheme}://{path}"
    with pytest.raises(pw.errors.MissingExtraError, match=f"nstall {package} to") as error:
        texts(url)
    assert str(error.value).startswith(f"{url} needs another package")


def test_parquet_of_a_file_system_without_caches_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain(fsspec.AbstractFileSystem):  # type: ignore[misc]
        protocol = "plain"

        def _open(
            self, path: str, mode: str, block_size: Any, autocommit: bool, cache_options: Any
        ) -> Any:
            return io.BytesIO(parquet_data())

        def info(self, path: str) -> dict[str, Any]:
            return {"name": path, "size": len(parquet_data()), "type": "file"}

    fsspec.register_implementation("plain", Plain, clobber=True)
    assert texts("plain://a.parquet") == TEXTS


# ---- faults


def skip(path: object, **options: Any) -> tuple[list[str], str]:
    """Return the texts that are read with `on_error="skip"`, and the summary."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = texts(path, on_error="skip", **options)
    messages = [str(w.message) for w in caught if w.category is pw.errors.CorpusWarning]
    assert len(messages) <= 1
    return found, messages[0] if messages else ""


def test_broken_lines_are_skipped_and_counted_by_reason(tmp_path: Path) -> None:
    lines = ['{"text": "a"}', "{", '{"text": 3}', '{"body": ""}', "[]", '{"text": "b"}', "}"]
    path = write(tmp_path / "a.jsonl", "\n".join(lines))
    found, summary = skip(path)
    assert found == ["a", "b"]
    assert summary == (
        f"skipped: broken JSON: 2 (first in {path} line 2); "
        f"a field that is no string: 1 (first in {path} line 3 field 'text'); "
        f"a missing field: 1 (first in {path} line 4 field 'text'); "
        f"JSON that is no object: 1 (first in {path} line 5)"
    )


def test_rows_are_skipped_in_csv_and_tables(tmp_path: Path) -> None:
    data = 'id,text\n1,a\n2\n3,"b"c\n4,d\n'
    found, summary = skip(write(tmp_path / "a.csv", data))
    assert found == ["a", "d"]
    assert "a row with too few columns: 1" in summary
    assert "broken CSV: 1" in summary
    table = pyarrow.table({"text": ["a", None, "b", None]})
    for name, made in (("a.parquet", parquet_data(table)), ("b.arrow", arrow_data("file", table))):
        found, summary = skip(write(tmp_path / name, made))
        assert found == ["a", "b"]
        assert f"a field that is no string: 2 (first in {tmp_path / name} row 2" in summary


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".xz", ".bz2"])
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv"])
def test_what_precedes_damage_counts_and_the_next_file_is_read(
    tmp_path: Path, name: str, suffix: str
) -> None:
    lines = [f"line {n} {hash(n * 0.1)}" for n in range(40_000)]
    if name == "a.jsonl":
        stored = [json.dumps({"text": line}) for line in lines]
    else:
        stored = ["text", *lines] if name == "a.csv" else lines
    data = COMPRESSIONS[suffix]("\n".join(stored).encode())
    path = write(tmp_path / (name + suffix), data[: len(data) * 2 // 3])
    after = write(tmp_path / "z.txt", "after")
    found, summary = skip([path, after])
    assert found[-1] == "after"
    assert 1000 < len(found) < 40_000
    assert found[:-1] == lines[: len(found) - 1]
    assert summary.startswith("skipped: truncated data: 1 (first in ")
    assert skip([path, after])[0] == found
    with pytest.raises(pw.errors.CorpusError, match="truncated"):
        texts([path, after])


@pytest.mark.skipif(os.name == "nt", reason="POSIX directories")
def test_unreadable_and_binary_files_are_skipped(tmp_path: Path) -> None:
    missing, good = tmp_path / "missing.txt", write(tmp_path / "good.txt", "hug")
    binary = write(tmp_path / "b.txt", os.urandom(5000))
    found, summary = skip([missing, binary, good])
    assert found == ["hug"]
    assert f"an unreadable file: 1 (first in {missing})" in summary
    assert "binary data" in summary
    with pytest.raises(pw.errors.FileError, match=r"cannot read .*missing\.txt: no such file"):
        texts([missing, good])


def test_nothing_skipped_warns_of_nothing(tmp_path: Path) -> None:
    assert skip(write(tmp_path / "a.txt", "hug")) == (["hug"], "")


def test_every_entry_point_skips(tmp_path: Path, tok: pw.Tokenizer) -> None:
    path = write(tmp_path / "a.jsonl", '{"text": "hug"}\n{\n{"text": "hug"}\n')
    out = tmp_path / "out"
    uses: list[Callable[[], object]] = [
        lambda: pw.count_files(path, on_error="skip"),
        lambda: pw.Tokenizer.train(path, model="word", on_error="skip"),
        lambda: pw.analysis.compare_files({"a": tok}, path, on_error="skip"),
        lambda: pw.analysis.token_counts(tok, path, on_error="skip"),
        lambda: pw.encode_files(tok, path, out, on_error="skip"),
        lambda: pw.encode_files(tok, path, out, format="jsonl", on_error="skip"),
    ]
    for use in uses:
        with pytest.warns(pw.errors.CorpusWarning, match=r"broken JSON: 1 \(first in .* line 2\)"):
            use()
    assert [json.loads(line)["line"] for line in out.read_text().splitlines()] == [1, 3]
    with pytest.raises(pw.errors.ArgumentError, match=", not 'ignore'"):
        texts(path, on_error="ignore")
    with pytest.raises(
        pw.errors.ArgumentError,
        match="on_error='skip' does not support parallel inputs: a skipped line would shift the others",
    ):
        pw.encode_files(tok, [path, path], [out, tmp_path / "o"], parallel=True, on_error="skip")


# ---- counts files


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "piecework", *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)


def test_counts_and_documents_are_told_apart_by_content(tmp_path: Path) -> None:
    documents = write(tmp_path / "doc.parquet", parquet_data())
    table = write(tmp_path / "doc.tsv", csv_data("\t"))
    for suffix in (".parquet", ".tsv"):
        counts = tmp_path / f"counts{suffix}"
        assert run("count", documents, "-o", counts).returncode == 0
        again = tmp_path / f"again{suffix}"
        assert run("count", counts, "-o", again).returncode == 0
        assert pw.Counts.load(again) == pw.Counts.load(counts) == pw.count_files(table)
        mixed = run("train", documents, counts, "-o", tmp_path / "t.json")
        assert mixed.returncode == 2
        assert "CORPUS has both text files and counts files (text: " in mixed.stderr
        assert f"counts: {counts}" in mixed.stderr


def test_a_table_with_words_and_counts_is_documents_if_it_has_the_field(tmp_path: Path) -> None:
    table = pyarrow.table({"word": ["a"], "count": [1], "text": ["hug"]})
    path = str(write(tmp_path / "a.parquet", parquet_data(table)))
    assert not pw.train.is_counts_file(path)
    assert pw.train.is_counts_file(path, "body")


def test_the_command_line_skips_and_prints_how_many(tmp_path: Path) -> None:
    write(tmp_path / "in" / "a.jsonl", '{"m": {"t": "hug"}}\n{\n')
    write(tmp_path / "in" / "b.jsonl.xz", lzma.compress(b'{"m": {"t": "pug"}}\n'))
    pattern = str(tmp_path / "in" / "*.jsonl*")
    failed = run("count", pattern, "--field", "m.t", "-o", "-")
    assert failed.returncode == 2
    assert "a.jsonl line 2: found broken JSON" in failed.stderr
    done = run("count", pattern, "--field", "m.t", "--on-error", "skip", "-o", "-")
    assert done.returncode == 0
    assert done.stdout.endswith("hug\t1\t0\npug\t1\t1099511627776\n")
    assert "piecework: warning: skipped: broken JSON: 1 (first in" in done.stderr


# ---- progress


def test_progress_in_bytes_has_rate_remaining_time_and_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = 0.0
    with bars.progress_bar("counting", clock=lambda: now, in_bytes=True) as progress:
        bars.show_source(progress, "folder/a.jsonl.gz")
        now = 30.0
        progress(300_000_000, 1_200_000_000)
        now = 60.0
        progress(600_000_000, 0)
    assert capsys.readouterr().err.splitlines() == [
        "counting: 25% after 0:30, 10.0 MB/s, 1:30 left, a.jsonl.gz",
        "counting: 600,000,000 after 1:00, 10.0 MB/s, a.jsonl.gz",
    ]


def test_a_terminal_shows_the_current_file(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with bars.progress_bar("counting", in_bytes=True) as progress:
        bars.show_source(progress, "folder/[red]a.txt")
        progress(50_000_000, 100_000_000)
        bars.show_source(progress, "folder/b.txt")
        progress(60_000_000, 100_000_000)
    assert "b.txt" in terminal.getvalue()
    assert "left" in terminal.getvalue()


# ---- memory

_READ = """
import resource, sys
from piecework.corpus import read_corpus
import pyarrow.parquet, zstandard, fsspec
list(read_corpus(sys.argv[2]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
size = sum(
    len(piece.data) if hasattr(piece, "data") else sum(map(len, piece.texts))
    for piece in read_corpus(sys.argv[1])
)
print(size, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def memory_growth(large: Path, small: Path) -> tuple[int, int]:
    """Return the size of the texts of a file, and the growth of memory in MB while a process reads it."""
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(large), str(small)],
        capture_output=True,
        text=True,
        check=True,
    )
    size, kilobytes = map(int, done.stdout.split())
    return size, kilobytes // 1024


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss in kilobytes")
@pytest.mark.parametrize(
    "name",
    [
        "a.txt.gz",
        "a.txt.zst",
        "a.txt.xz",
        pytest.param("a.txt.bz2", marks=pytest.mark.slow),
        "a.jsonl.gz",
        "a.csv.zst",
    ],
)
def test_memory_does_not_grow_with_the_decompressed_size(tmp_path: Path, name: str) -> None:
    text = b"hug pug " * 100
    line = b'{"text": "%b"}\n' % text if ".jsonl" in name else text + b"\n"
    header = b"text\n" if ".csv" in name else b""
    compress = COMPRESSIONS[Path(name).suffix]
    small = write(tmp_path / f"small-{name}", compress(header + line))
    member = compress(line * (20_000_000 // len(line)))  # 20 MB of text in a few kilobytes
    large = write(tmp_path / name, compress(header) + member * 10)
    assert large.stat().st_size < 1_000_000
    size, growth = memory_growth(large, small)
    assert size > 190_000_000
    # Zstandard decompresses 4 KB at once, which can be as much as 128 MB.
    assert growth < (160 if name.endswith(".zst") else 60)


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss in kilobytes")
def test_memory_does_not_grow_with_the_rows_of_a_table(tmp_path: Path) -> None:
    table = pyarrow.table({"id": range(500_000), "text": ["hug pug " * 12] * 500_000})
    tiny = pyarrow.table({"id": [1], "text": ["hug"]})
    large = write(tmp_path / "a.parquet", parquet_data(table, use_dictionary=False))
    size, growth = memory_growth(large, write(tmp_path / "small.parquet", parquet_data(tiny)))
    assert size == 48_000_000
    assert growth < 60
