"""Skip and count faults; tell counts files from documents."""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import piecework as pw
from piecework.train.counts_files import is_counts_file
from tests.corpus.formats.samples import (
    COMPRESSIONS,
    arrow_data,
    csv_data,
    parquet_data,
    skip,
    texts,
    write,
)
from tests.processes import POSIX
from tests.processes import run_command as run

pyarrow = pytest.importorskip("pyarrow", reason="Parquet and Arrow files need pyarrow")


# ---- faults


def test_broken_lines_are_skipped_and_counted_by_reason(tmp_path: Path) -> None:
    lines = ['{"text": "a"}', "{", '{"text": 3}', '{"body": ""}', "[]", '{"text": "b"}', "}"]
    path = write(tmp_path / "a.jsonl", "\n".join(lines))
    found, summary = skip(path)
    assert found == ["a", "b"]
    assert summary == (
        f"skipped: broken JSON: 2 (first in {path} line 2); "
        f"a field that is not a string: 1 (first in {path} line 3 field 'text'); "
        f"a missing field: 1 (first in {path} line 4 field 'text'); "
        f"JSON that is not an object: 1 (first in {path} line 5)"
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
        assert f"a field that is not a string: 2 (first in {tmp_path / name} row 2" in summary


def test_tables_without_messages_are_errors_of_the_table(tmp_path: Path, tok: pw.Tokenizer) -> None:
    path = write(tmp_path / "a.parquet", parquet_data(pyarrow.table({"text": ["hug"]})))
    chats = write(tmp_path / "b.jsonl", '{"messages": [{"role": "user", "content": "hug"}]}\n')
    chatty = tok.with_chat_template("{% for m in messages %}{{ m.content }}{% endfor %}")
    with pytest.warns(pw.errors.CorpusWarning) as caught:
        pw.export.encode_corpus(
            chatty, [path, chats], tmp_path / "out", chat=pw.chat.ChatFormat(), on_error="skip"
        )
    assert str(caught[0].message) == f"skipped: a table without messages: 1 (first in {path})"


def test_reasons_are_kinds_without_figures(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{size}.txt", bytes(range(32)) * size) for size in (9, 99)]
    paths += [write(tmp_path / f"{name}.csv", f"{name},{name}\n") for name in ("id", "body")]
    assert skip(paths)[1] == (
        f"skipped: binary data: 2 (first in {paths[0]}); "
        f"a missing or repeated column: 2 (first in {paths[2]} column 'text')"
    )


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".xz", ".bz2"])
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv"])
def test_texts_before_damage_count_and_the_next_file_is_read(
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


@POSIX
def test_unreadable_and_binary_files_are_skipped(tmp_path: Path) -> None:
    missing, good = tmp_path / "missing.txt", write(tmp_path / "good.txt", "hug")
    binary = write(tmp_path / "b.txt", os.urandom(5000))
    found, summary = skip([missing, binary, good])
    assert found == ["hug"]
    assert f"an unreadable file: 1 (first in {missing})" in summary
    assert "binary data" in summary
    with pytest.raises(pw.errors.FileError, match=r".*missing\.txt: cannot be read: no such file"):
        texts([missing, good])


def test_no_warning_without_skipped_input(tmp_path: Path) -> None:
    assert skip(write(tmp_path / "a.txt", "hug")) == (["hug"], "")


def test_every_entry_point_skips(tmp_path: Path, tok: pw.Tokenizer) -> None:
    path = write(tmp_path / "a.jsonl", '{"text": "hug"}\n{\n{"text": "hug"}\n')
    out = tmp_path / "out"
    uses: list[Callable[[], object]] = [
        lambda: pw.count_files(path, on_error="skip"),
        lambda: pw.Tokenizer.train(path, model="word", on_error="skip"),
        lambda: pw.analysis.compare({"a": tok}, pw.corpus.read_corpus(path, on_error="skip")),
        lambda: pw.analysis.token_counts(tok, pw.corpus.read_corpus(path, on_error="skip")),
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
        match="on_error: 'skip' does not support parallel inputs: a skipped line would shift the others",
    ):
        pw.encode_files(tok, [path, path], [out, tmp_path / "o"], parallel=True, on_error="skip")


# ---- counts files


def test_counts_and_documents_are_distinguished_by_content(tmp_path: Path) -> None:
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
        assert "CORPUS: has both text files and counts files (text: " in mixed.stderr
        assert f"counts: {counts}" in mixed.stderr


def test_a_table_with_words_and_counts_is_documents_if_it_has_the_field(tmp_path: Path) -> None:
    table = pyarrow.table({"word": ["a"], "count": [1], "text": ["hug"]})
    path = str(write(tmp_path / "a.parquet", parquet_data(table)))
    assert not is_counts_file(path)
    assert is_counts_file(path, "body")


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
