"""CSV files: quotes, line ends, columns and invalid UTF-8."""

from __future__ import annotations

from pathlib import Path

import pytest

import piecework as pw
from piecework.corpus import read_corpus
from tests.corpus.formats.samples import texts, write


def test_csv_has_large_fields_and_any_line_ends(tmp_path: Path) -> None:
    large = "x" * 3_000_000
    data = b'\xef\xbb\xbfid,text\r\n1,"a\r\nb"\r\n\r\n2,' + large.encode() + b'\r\n3,"""q"""'
    assert texts(write(tmp_path / "a.csv", data)) == ["a\r\nb", large, '"q"']


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            "id,body\n1,x\n",
            r"a\.csv column 'text': must be one column of line 1, which has only 'id', 'body'",
        ),
        (
            "text,text\na,b\n",
            r"a\.csv column 'text': must be one column of line 1, which has 2 columns of this name",
        ),
        ("id,text\n1,a\n2\n", r"a\.csv line 3: has 1 column; it needs at least 2"),
        ('id,text\n1,"a\n2,b\n', r"a\.csv line 2: found broken CSV"),
        ('id,text\n1,"a"b\n', r"a\.csv line 2: found broken CSV"),
    ],
)
def test_broken_csv_is_named_by_file_and_line(tmp_path: Path, data: str, message: str) -> None:
    with pytest.raises(pw.errors.CorpusError, match=message):
        texts(write(tmp_path / "a.csv", data))


def test_invalid_utf8_in_csv_is_replaced_and_counted_or_rejected(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", b"text\nok\na\xffb\n")
    assert [(p.texts, p.replacements) for p in read_corpus(path)] == [(["ok", "a\ufffdb"], 1)]
    with pytest.raises(pw.errors.InvalidUtf8Error, match=r"a\.csv line 3: found invalid UTF-8"):
        texts(path, encoding_errors="strict")
