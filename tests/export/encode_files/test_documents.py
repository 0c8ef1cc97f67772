"""Documents of several lines become one row in every format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.errors import CorpusError, MemoryLimitError
from piecework.export import input_lines as lines_module
from tests.export.encode_files.ids_files import READERS, ids_in, write

TEXT = "a hug\nhugging\n\n \na\n\n\ncafe !\r\nb c"
TEXTS = {
    "line": ["a hug", "hugging", "a", "cafe !", "b c"],
    "blank-line": ["a hug\nhugging", "a", "cafe !\r\nb c"],
    "file": [TEXT],
}
DOCUMENTS: list[Any] = list(TEXTS)


@pytest.fixture(scope="module")
def byte_level() -> pw.Tokenizer:
    """A tokenizer with an id for each character, so that rows differ if line ends are lost."""
    return pw.Tokenizer.train_from_iterator([TEXT], model="byte-bpe", vocab_size=260)


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("form", READERS)
@pytest.mark.usefixtures("small_blocks")
def test_a_document_is_a_row_in_every_format(
    byte_level: pw.Tokenizer, tmp_path: Path, form: Any, document: Any
) -> None:
    sources = [write(tmp_path / "a.txt", TEXT), write(tmp_path / "b.txt", TEXT)]
    done = pw.encode_files(byte_level, sources, tmp_path / "out", format=form, document=document)
    expected = byte_level.encode_batch(TEXTS[document] * 2).to_lists()
    assert READERS[form](tmp_path / "out") == expected
    assert done.lines_written == len(expected)
    assert done.empty_lines_dropped == (8 if document == "line" else 0)
    assert [byte_level.decode(row) for row in expected] == TEXTS[document] * 2


@pytest.mark.parametrize("document", DOCUMENTS[1:])
def test_rows_of_text_are_lines_also_if_a_token_has_line_ends(
    tmp_path: Path, document: Any
) -> None:
    tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "\n": 2, "\r": 3}))
    source, out = write(tmp_path / "in.txt", "a\r\na\n\na"), tmp_path / "out"
    pw.encode_files(tok, source, out, format="tokens", document=document)
    lines = {"blank-line": "a \\r \\n a\na\n", "file": "a \\r \\n a \\n \\n a\n"}
    assert out.read_text() == lines[document]
    pw.encode_files(tok, source, out, format="jsonl", document=document)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["line"] for row in rows] == ([1, 4] if document == "blank-line" else [1])
    assert rows[0]["tokens"][:4] == ["a", "\r", "\n", "a"]


def test_a_blank_file_is_dropped_or_kept(tok: pw.Tokenizer, tmp_path: Path) -> None:
    sources = [write(tmp_path / name, text) for name, text in (("a", "a"), ("b", " \n"), ("c", ""))]
    out = tmp_path / "out"
    done = pw.encode_files(tok, sources, out, document="file", add_special_tokens=False)
    assert (ids_in(out), done.lines_read, done.empty_lines_dropped) == ([[8]], 3, 2)
    pw.encode_files(tok, sources, out, document="file", add_special_tokens=False, keep_empty=True)
    assert ids_in(out) == [[8], [], []]


def test_documents_are_stripped_as_lines_are(byte_level: pw.Tokenizer, tmp_path: Path) -> None:
    source, out = write(tmp_path / "in", "  a\nb \n\n\tc"), tmp_path / "out"
    pw.encode_files(byte_level, source, out, document="blank-line", strip_lines=True)
    assert ids_in(out) == byte_level.encode_batch(["a\nb", "c"]).to_lists()


def test_parallel_documents_stay_in_step(tok: pw.Tokenizer, tmp_path: Path) -> None:
    left, right = write(tmp_path / "l", "a\nb\n\nc"), write(tmp_path / "r", "b\n\n\nc\na\n")
    outputs: list[Any] = [tmp_path / "l.ids", tmp_path / "r.ids"]
    options: Any = {"parallel": True, "document": "blank-line", "add_special_tokens": False}
    pw.encode_files(tok, [left, right], outputs, **options)
    assert [ids_in(path) for path in outputs] == [[[8, 11], [12]], [[11], [12, 8]]]
    write(left, "a\n\nb\n\nc")
    message = (
        r"r: ends after document 2, and .*l does not; .* must have the same number of documents"
    )
    with pytest.raises(CorpusError, match=message):
        pw.encode_files(tok, [left, right], outputs, **options)


def test_a_document_over_the_limit_leaves_no_output(
    tok: pw.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines_module, "MEMORY_SHARE", 1 << 40)
    monkeypatch.setattr("piecework.corpus.text_stream._MIN_LINE_BYTES", 1000)
    source, out = write(tmp_path / "in.txt", "hug\n" * 300), tmp_path / "out"
    message = (
        r"in\.txt: has a document of over 1000 bytes, .*; divide it, or pass document='blank-line'"
    )
    with pytest.raises(MemoryLimitError, match=message):
        pw.encode_files(tok, source, out, document="file")
    assert not out.exists()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documents_in_memory_equal_those_of_files(
    byte_level: pw.Tokenizer, tmp_path: Path, document: Any
) -> None:
    source = write(tmp_path / "in.txt", TEXT)
    batch = pw.export.encode_lines(byte_level, source, document=document)
    assert batch.to_lists() == byte_level.encode_batch(TEXTS[document]).to_lists()
