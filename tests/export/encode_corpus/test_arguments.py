"""Reject arguments and options that do not go together; run the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.errors import (
    ArgumentError,
    CorpusError,
    CorpusWarning,
    FileError,
    InputTypeError,
)
from piecework.export import (
    encode_corpus,
)
from tests.conftest import Run
from tests.export.encode_corpus.shards import all_rows, ids_of

# ---- arguments


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"format": "ids"}, ArgumentError, "format: must be .*, not 'ids'"),
        ({"shards": 0}, ArgumentError, "shards: must be .*, not 0"),
        ({"shards": 10**6}, ArgumentError, "shards: must be .* 100000, not 1000000"),
        ({"shuffle_seed": -1}, ArgumentError, "shuffle_seed"),
        ({"pack": 0}, ArgumentError, "pack"),
        ({"pack": 1 << 30}, ArgumentError, "pack: must be .* 16777216, not 1073741824"),
        (
            {"pack": 8, "format": "megatron"},
            ArgumentError,
            "pack: does not support format 'megatron'; use npy or arrow or arrow-stream or parquet",
        ),
        ({"strategy": "first-fit"}, ArgumentError, "strategy"),
        (
            {"keep": ["id"]},
            ArgumentError,
            "keep: does not support format 'npy'; use arrow or arrow-stream or parquet or datasets",
        ),
        ({"keep": "id", "format": "arrow"}, InputTypeError, "keep"),
        ({"keep": ["id", "id"], "format": "arrow"}, ArgumentError, "distinct"),
        (
            {"keep": ["ids"], "format": "arrow"},
            ArgumentError,
            "keep: cannot contain the names of the format's own columns: ids",
        ),
        (
            {"keep": ["id"], "format": "arrow"},
            ArgumentError,
            r"keep: needs JSON lines or CSV or TSV or Parquet or Arrow IPC: .*a\.txt has no fields",
        ),
        (
            {"keep": ["id"], "format": "arrow", "pack": 8},
            ArgumentError,
            "keep, pack: cannot be combined: a packed row has several documents",
        ),
        ({"append_eod": "no"}, ArgumentError, "append_eod"),
        ({"encoding_errors": "ignore"}, ArgumentError, "encoding_errors"),
    ],
)
def test_invalid_arguments_are_rejected_before_the_folder_is_made(
    tok: pw.Tokenizer,
    corpus: list[Path],
    tmp_path: Path,
    arguments: Any,
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        encode_corpus(tok, corpus, tmp_path / "out", **arguments)
    assert not (tmp_path / "out").exists()


def test_sources_must_be_files_apart_from_the_folder(tok: pw.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hug\n")
    with pytest.raises(ArgumentError, match="sources: must be .*, not '-'"):
        encode_corpus(tok, "-", tmp_path / "out")
    with pytest.raises(
        ArgumentError,
        match="out_dir: must not be inside of the source .*test_sources_must_be_files_apa0",
    ):
        encode_corpus(tok, tmp_path, tmp_path / "out")
    with pytest.raises(FileError, match=r"b\.txt: (found )?no such file"):
        encode_corpus(tok, tmp_path / "b.txt", tmp_path / "out")
    with pytest.raises(ArgumentError, match="sources: must contain at least one path"):
        encode_corpus(tok, [], tmp_path / "out")
    source = tmp_path / "out" / "a.npy"
    source.write_text("hug\n")
    with pytest.raises(
        ArgumentError, match=r"out_dir: must not contain the inputs: '.*a\.npy' is one of them"
    ):
        encode_corpus(tok, source, tmp_path / "out")


def test_a_url_is_refused_because_it_has_no_checksum(tmp_path: Path, tok: pw.Tokenizer) -> None:
    pytest.importorskip("fsspec", reason="URLs need fsspec")
    with pytest.raises(
        FileError,
        match="memory://a.txt: is a URL; download it first, as the manifest records the checksum of a",
    ):
        encode_corpus(tok, "memory://a.txt", tmp_path / "out")


# ---- the command line


def test_the_command_writes_a_folder_and_continues(
    tok: pw.Tokenizer, corpus: list[Path], tmp_path: Path, cli: Run
) -> None:
    tok.save(tmp_path / "tok.json")
    out = tmp_path / "out"
    start = ["encode", str(tmp_path / "tok.json"), *map(str, corpus), "--out-dir", str(out)]
    code, stdout, stderr = cli(*start, "--shards", "3")
    assert (code, stdout) == (0, "")
    assert "tokens, 3 shards" in stderr
    assert f"saved in {out}" in stderr
    code, _, stderr = cli(*start, "--shards", "3")
    assert code == 2
    assert "--out-dir: has " in stderr
    assert "; pass resume to finish it" in stderr
    code, _, stderr = cli(*start, "--shards", "3", "--resume")
    assert code == 0
    assert "3 shards (3 finished before)" in stderr
    code, _, stderr = cli(*start, "--shards", "2", "--resume")
    assert code == 2
    assert "shards" in stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--shards", "2"], "--shards: needs --out-dir DIR"),
        (["--resume"], "--resume: needs --out-dir DIR"),
        (["--keep", "id"], "--keep: needs --out-dir DIR"),
        (
            ["--out-dir", "o", "-o", "x"],
            "--output: cannot be combined with --out-dir",
        ),
        (
            ["--out-dir", "o", "--parallel"],
            "--parallel: cannot be combined with --out-dir; use -o per file",
        ),
        (
            ["--out-dir", "o", "--format", "jsonl"],
            (
                "--format: must be one of npy, megatron, arrow, arrow-stream, parquet, "
                "datasets, not 'jsonl'"
            ),
        ),
        (
            ["--format", "datasets"],
            "--format datasets needs a folder to write: --out-dir DIR",
        ),
        (
            ["--out-dir", "o", "--pack", "8", "--format", "megatron"],
            "--pack: does not support format 'megatron'; use npy or arrow or arrow-stream or parquet",
        ),
    ],
)
def test_options_that_exclude_each_other_are_rejected(
    tok: pw.Tokenizer,
    tmp_path: Path,
    cli: Run,
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    tok.save(tmp_path / "tok.json")
    (tmp_path / "a.txt").write_text("hug\n")
    code, _, stderr = cli("encode", "tok.json", "a.txt", *arguments)
    assert code == 2
    assert message in stderr


def test_lines_with_errors_are_skipped_and_counted(tok: pw.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "hug"}\n{"text": 7}\n{"text": "a"}\n')
    with pytest.raises(CorpusError, match=r"a\.jsonl line 2"):
        encode_corpus(tok, tmp_path / "a.jsonl", tmp_path / "fail")
    with pytest.warns(CorpusWarning, match=r"a\.jsonl line 2"):
        encode_corpus(tok, tmp_path / "a.jsonl", tmp_path / "skip", on_error="skip")
    assert all_rows(tmp_path / "skip") == ids_of(tok, ["hug", "a"])
