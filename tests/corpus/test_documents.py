"""Documents of several lines: what separates them, their numbers, limits, and faults."""

from __future__ import annotations

import gzip
import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.corpus import read_corpus, text_stream
from piecework.errors import (
    ArgumentError,
    CorpusError,
    CorpusWarning,
    InvalidUtf8Error,
    MemoryLimitError,
)
from tests.processes import POSIX

DICKENS = b"It was\nthe best\n\n \t\nof times,\r\nit was\r\n\r\n\nthe worst"
DOCUMENTS: list[Any] = ["blank-line", "file"]


def write(path: Path, data: bytes | str) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def found(path: object, **options: Any) -> list[tuple[str, int]]:
    """Read by blocks and by whole lines: documents are the same."""
    read = [
        [
            pair
            for rows in read_corpus(path, **options, whole_lines=whole)
            for pair in zip(rows.to_list(), rows.numbers, strict=True)
        ]
        for whole in (False, True)
    ]
    assert read[0] == read[1]
    return read[0]


def texts(path: object, **options: Any) -> list[str]:
    return [text for text, _ in found(path, **options)]


# ---- what a document is


def test_blank_lines_separate_documents_and_line_ends_inside_stay(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", DICKENS)
    assert found(path, document="blank-line") == [
        ("It was\nthe best", 1),
        ("of times,\r\nit was", 5),
        ("the worst", 9),
    ]


def test_a_file_is_a_document_with_all_its_line_ends(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", DICKENS)
    assert found(path, document="file") == [(DICKENS.decode(), 1)]


def test_a_line_is_a_document_by_default(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "hug\n\npug\n")
    assert texts(path) == texts(path, document="line") == ["hug", "", "pug"]


@pytest.mark.parametrize(
    ("data", "documents"),
    [
        (b"", []),
        (b"\n \n\r\n", []),
        (b"\n\na", ["a"]),
        (b"a\n\n\n", ["a"]),
        (b"a\n  ", ["a"]),
        (b"a\r\nb\r\n", ["a\r\nb"]),
        (b"a\rb\r\r\n", ["a\rb\r"]),
        (b" a\n\tb ", [" a\n\tb "]),
        ("a\n\u3000\x85\nb\u2028".encode(), ["a", "b\u2028"]),
        (b"\xef\xbb\xbfa\n\nb", ["a", "b"]),
        (b"\xef\xbb\xbf\n\nb", ["b"]),
    ],
)
def test_edges_of_documents(tmp_path: Path, data: bytes, documents: list[str]) -> None:
    assert texts(write(tmp_path / "a.txt", data), document="blank-line") == documents


@pytest.mark.parametrize(
    ("data", "text"),
    [(b"", ""), (b"\n", "\n"), (b"\xef\xbb\xbf", ""), (b"\xef\xbb\xbfa\r\n", "a\r\n")],
)
def test_each_file_is_one_document(tmp_path: Path, data: bytes, text: str) -> None:
    paths = [write(tmp_path / "a.txt", data), write(tmp_path / "b.txt", "b")]
    assert texts(paths, document="file") == [text, "b"]


def test_a_document_ends_with_its_file(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, name) for name in ("a.txt", "b.txt")]
    assert found(paths, document="blank-line") == [("a.txt", 1), ("b.txt", 1)]


def test_stdin_is_read_in_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    for document, expected in (("blank-line", ["a\nb", "c"]), ("file", ["a\nb\n\nc\n"])):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n\nc\n")))
        corpus = read_corpus("-", document=document)  # type: ignore[arg-type]
        assert [text for rows in corpus for text in rows.to_list()] == expected


@POSIX
def test_a_document_of_a_pipe_is_yielded_when_it_ends() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"a\nb\n\nc\n")
    rows = iter(read_corpus(f"/dev/fd/{reader}", document="blank-line", whole_lines=True))
    assert next(rows).to_list() == ["a\nb"]
    os.close(writer)
    assert next(rows).to_list() == ["c"]
    os.close(reader)


def test_a_long_document_is_put_together_from_many_reads(tmp_path: Path) -> None:
    long = "\n".join(f"line {number} \U0001f600" for number in range(200_000))  # 3 MB
    path = write(tmp_path / "a.txt", f"a\n\n{long}\n\nb\n")
    assert found(path, document="blank-line") == [("a", 1), (long, 3), ("b", 200_004)]


# ---- formats without documents


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.jsonl.gz", "JSON lines"),
        ("a.csv", "CSV"),
        ("a.parquet", "Parquet"),
        ("a.arrow", "Arrow IPC"),
    ],
)
def test_only_plain_text_has_documents_of_several_lines(
    tmp_path: Path, name: str, kind: str, document: Any
) -> None:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1}))
    paths = [write(tmp_path / "a.txt", "a"), write(tmp_path / name, "not read")]
    message = (
        rf"document: '{document}' does not support .*{name}, which is {kind}; "
        "leave it out: each record is a document"
    )
    with pytest.raises(ArgumentError, match=message):
        read_corpus(paths, document=document)
    with pytest.raises(ArgumentError, match=message):
        pw.encode_files(tok, paths, tmp_path / "out", document=document)
    with pytest.raises(ArgumentError, match=message):
        pw.export.encode_corpus(tok, paths, tmp_path / "ids", document=document)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["a.txt", name])


def test_stdin_with_a_field_has_records() -> None:
    with pytest.raises(ArgumentError, match="'file' does not support <stdin>, which is JSON lines"):
        read_corpus("-", document="file", field="text")


def test_another_name_is_refused() -> None:
    expected = "document: must be one of line, blank-line, file, not 'paragraph'"
    with pytest.raises(ArgumentError, match=expected):
        read_corpus("a.txt", document="paragraph")  # type: ignore[arg-type]


# ---- faults


@pytest.mark.parametrize("document", DOCUMENTS)
def test_invalid_utf8_is_replaced_and_counted_or_named(tmp_path: Path, document: Any) -> None:
    path = write(tmp_path / "a.txt", b"a\xff\nb\n\nc\xff\xff\n")
    corpus = list(read_corpus(path, document=document))
    assert sum(rows.replacements for rows in corpus) == 3
    assert "".join(text for rows in corpus for text in rows.to_list()).count("\ufffd") == 3
    with pytest.raises(InvalidUtf8Error, match=r"a\.txt line 1: .* at byte 1 of the line"):
        list(read_corpus(path, document=document, encoding_errors="strict"))
    path = write(tmp_path / "a.txt", b"a\n\nc\nd\xff\n")
    with pytest.raises(InvalidUtf8Error, match=r"a\.txt line 4: .* at byte 1 of the line"):
        list(read_corpus(path, document=document, encoding_errors="strict"))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_file_with_invalid_utf8_is_skipped_from_there_on(tmp_path: Path, document: Any) -> None:
    paths = [write(tmp_path / "a.txt", b"a\xff\n"), write(tmp_path / "b.txt", "b")]
    options: Any = {"document": document, "encoding_errors": "strict", "on_error": "skip"}
    with pytest.warns(
        CorpusWarning, match=r"skipped: invalid UTF-8: 1 \(first in .*a\.txt line 1\)"
    ):
        assert texts(paths, **options) == ["b"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_json_lines_that_are_read_as_text_are_warned_of(tmp_path: Path, document: Any) -> None:
    path = write(tmp_path / "a.log", '{"text": "a"}\n{"text": "b"}\n')
    with pytest.warns(CorpusWarning, match="begins with a JSON object and is read as plain text"):
        assert len(texts(path, document=document)) == 1


@pytest.mark.parametrize("document", DOCUMENTS)
def test_damaged_data_ends_a_file_without_its_last_document(tmp_path: Path, document: Any) -> None:
    data = gzip.compress(b"a\n\nb\n" + os.urandom(5000).hex().encode())
    paths = [write(tmp_path / "a.txt", data[:2000]), write(tmp_path / "b.txt", "b\nc")]
    with pytest.raises(CorpusError, match=r"a\.txt: found truncated gzip data"):
        list(read_corpus(paths, document=document))
    with pytest.warns(CorpusWarning, match="truncated data: 1"):
        read = texts(paths, document=document, on_error="skip")
    assert read == (["a", "b\nc"] if document == "blank-line" else ["b\nc"])


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every document over 1,000 bytes too long for the memory, in reads of 100 bytes."""
    monkeypatch.setattr(text_stream, "available_memory", lambda: 48_000)
    monkeypatch.setattr(text_stream, "_MIN_LINE_BYTES", 1000)
    monkeypatch.setattr("piecework.corpus.rows.READ_BYTES", 100)
    monkeypatch.setattr("piecework.corpus.rows.READ_BYTES_OF_LINES", 100)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(
    ("document", "place", "advice"),
    [
        ("blank-line", r"long\.txt line 4", "divide it"),
        ("file", r"long\.txt", "divide it, or pass document='blank-line'"),
    ],
)
def test_a_document_that_is_too_long_for_the_memory_is_an_error(
    tmp_path: Path, document: Any, place: str, advice: str
) -> None:
    long = write(tmp_path / "long.txt", "a\nb\n\n" + "hug\n" * 260 + "\nc\n")
    message = (
        f"{place}: has a document of over 1000 bytes, 1/48 of the memory of the process; {advice}$"
    )
    with pytest.raises(MemoryLimitError, match=message):
        list(read_corpus(long, document=document))
    short = write(tmp_path / "short.txt", "c")
    with pytest.warns(CorpusWarning, match="skipped: a document that is too long: 1 "):
        read = texts([long, short], document=document, on_error="skip")
    assert read == (["a\nb", "c"] if document == "blank-line" else ["c"])


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("size", [999, 1000, 1001])
def test_the_limit_applies_to_each_document_alone(tmp_path: Path, size: int) -> None:
    document = ("é\n" * 400)[: size // 3 * 2 - 1] + "a" * (size % 3 + 1)
    assert len(document.encode()) == size
    path = write(tmp_path / "a.txt", f"{document}\n\n" * 3)
    if size <= 1000:
        assert texts(path, document="blank-line") == [document] * 3
        return
    with pytest.raises(MemoryLimitError, match=r"a\.txt line 1: has a document of over 1000 bytes"):
        texts(path, document="blank-line")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_small_compressed_file_does_not_become_a_document_of_gigabytes(
    tmp_path: Path, document: Any
) -> None:
    path = write(tmp_path / "a.txt.gz", gzip.compress(b"hug\n" * 10_000_000, 9))
    message = (
        r"has a document of over \d+ bytes from \d+ compressed bytes, more than 200 times as many"
    )
    with pytest.raises(CorpusError, match=message):
        list(read_corpus(path, document=document))
