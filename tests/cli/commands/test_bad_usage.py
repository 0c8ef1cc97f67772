"""Bad usage and bad input are one line and exit with code 2."""

from __future__ import annotations

import gzip
import os
import subprocess
from pathlib import Path

import pytest

import piecework as pw
from tests.cli.commands.streams import PMI, Run, assert_one_line
from tests.processes import PIECEWORK, POSIX


def test_bad_usage_is_one_line_and_code_two(
    cli: Run, corpus: str, tokenizer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = tmp_path / "a.tsv"
    counts.write_text("word\tcount\nhug\t3\n")
    files = set(tmp_path.iterdir())
    monkeypatch.chdir(tmp_path)
    for arguments, part in (
        (
            ["tain"],
            "No such command 'tain'; did you mean 'train'? (see piecework --help)",
        ),
        (["train"], "Missing argument 'CORPUS...'. (see piecework train --help)"),
        (["train", corpus], "Missing option '-o'"),
        (["train", corpus, "--scor", "pmi", "-o", "x.json"], "--scor"),
        (["train", corpus, "--score", "best", "-o", "x.json"], "'best' is not one of"),
        (
            ["train", corpus, "--vocab-size", "many", "-o", "x.json"],
            "'many' is not a valid integer",
        ),
        (
            ["train", corpus, "--vocab-size", "0", "-o", "x.json"],
            "--vocab-size: must be an integer of at least 1 and at most 4294967295, not 0",
        ),
        (
            ["train", corpus, "--preset", "gpt9", "-o", "x.json"],
            "'--preset': 'gpt9' is not a known preset; choose one of",
        ),
        (
            ["train", corpus, "--model", "word", "--score", "pmi", "-o", "x.json"],
            "No such option '--score'; it is an option of --model wordpiece",
        ),
        (
            ["train", corpus, str(counts), "-o", "x.json"],
            "CORPUS: has both text files and counts files (text: ",
        ),
        (
            ["count", corpus, "-o", "counts.csv"],
            "--output: must be a file name that ends in .parquet or .tsv, or - for stdout, not 'counts.csv'",
        ),
        (["encode", tokenizer, "--format", "xml"], "'xml' is not one of"),
        (
            ["encode", tokenizer, corpus, "--format", "npy"],
            "--format npy writes two files, so name one: -o ids.npy (see piecework encode --help)",
        ),
        (
            ["encode", tokenizer, corpus, "--format", "npy", "-o", "-"],
            "--output: must be a path, not '-'",
        ),
        (
            ["encode", tokenizer, corpus, "--format", "datasets"],
            "--format datasets needs a folder to write: --out-dir DIR",
        ),
        (["encode", tokenizer, corpus, "-o", corpus], "corpus.txt' is one of them"),
        (["encode", tokenizer, "a", "b", "-o", "c", "-o", "d", "-o", "e"], "3 for 2 inputs"),
        (
            ["encode", tokenizer, corpus, "--append-eod", "</s>", "-o", "x.json"],
            "--append-eod: must be a token of the vocabulary, not",
        ),
        (
            ["explain", tokenizer],
            f"Missing argument 'TEXT'; give one in quotes: piecework explain {tokenizer} \"some text\"",
        ),
        (["explain"], "Missing argument 'TOKENIZER...'. (see piecework explain --help)"),
    ):
        code, out, err = cli(*arguments)
        assert (code, out) == (2, ""), arguments
        assert_one_line(err, part)
    assert set(tmp_path.iterdir()) == files


def test_bad_input_is_one_line_and_leaves_no_file(cli: Run, tokenizer: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    files = {
        "empty.txt": b"",
        "blank.txt": b" \n\n",
        "bad.txt": b"hug \xff\n",
        "bad.jsonl": b'{"text": "a"}\n{"text": 3}\n',
        "cut.gz": gzip.compress(b"hug " * 1000)[:-9],
        "bad.tsv": b"word\tcount\na\tb\n",
        "small.txt": b"abcdefghij\n",
        "dup.txt": b"[UNK]\na\na\n",
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    (folder / "none").mkdir()
    out = tmp_path / "out.json"
    for name, options, parts in (
        ("empty.txt", [], ["empty.txt: has no words; give files with text"]),
        ("blank.txt", [], ["blank.txt: has no words; give files with text"]),
        ("bad.txt", ["--encoding-errors", "strict"], ["bad.txt", "byte 4"]),
        ("bad.jsonl", [], ["bad.jsonl line 2 field 'text': found a number"]),
        ("cut.gz", [], ["cut.gz: found truncated gzip data"]),
        ("bad.tsv", [], ["bad.tsv column 'count' line 2: found 'b'"]),
        (
            "small.txt",
            ["--vocab-size", "6"],
            ["--vocab-size: must be at least 25 (5 special tokens and an alphabet of 20), not 6"],
        ),
        ("missing.txt", [], ["missing.txt: cannot be read: no such file"]),
        (
            "none",
            [],
            [
                (
                    "none: is a directory without text files; it needs files named .txt .text "
                    ".md .rst .jsonl"
                )
            ],
        ),
    ):
        code, stdout, err = cli("train", str(folder / name), *options, "-o", str(out))
        assert (code, stdout) == (2, ""), name
        estimate, _, problem = err.partition("\n")
        assert_one_line(problem if estimate.startswith("learning: about") else err, *parts)
        assert not out.exists()
    for verb in (["encode"], ["decode"], ["inspect"], ["explain", "x"]):
        for name in ("missing.json", "dup.txt", "bad.jsonl", "none"):
            code, _, err = cli(verb[0], str(folder / name), *verb[1:])
            assert code == 2
            assert_one_line(err, name)
    code, _, err = cli("encode", tokenizer, str(folder / "missing.txt"), "-o", str(out))
    assert code == 2
    assert_one_line(err, "missing.txt: cannot be read: no such file")
    assert sorted(path.name for path in tmp_path.iterdir() if path != folder) == [
        "corpus.txt",
        "tokenizer.json",
    ]


def test_an_output_that_cannot_be_written_is_an_error_before_the_work(
    cli: Run, corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("worked before checking")

    monkeypatch.setattr(pw, "count_files", never)
    for path in ("missing/t.json", "missing/folder/", f"{Path(corpus).name}/"):
        code, _, err = cli("train", corpus, "-o", f"{tmp_path}/{path}")
        assert code == 2
        assert_one_line(err, path.split("/")[0])


def test_a_failure_while_encoding_leaves_the_old_output(
    cli: Run, tokenizer: str, tmp_path: Path
) -> None:
    out = tmp_path / "out.txt"
    out.write_text("old")
    (tmp_path / "bad").write_bytes(b"is\n\xff\n")
    options = ["--encoding-errors", "strict", "-o", str(out)]
    assert cli("encode", tokenizer, str(tmp_path / "bad"), *options)[0] == 2
    assert out.read_text() == "old"


@POSIX
@pytest.mark.parametrize("verb", ["encode", "train"])
def test_a_closed_stdin_is_an_error(tokenizer: str, verb: str) -> None:
    arguments = "train - -o -" if verb == "train" else f"encode {tokenizer} -"
    shell = f"exec {PIECEWORK} {arguments} <&-"
    result = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, timeout=300)
    assert result.returncode == 2
    assert_one_line(result.stderr, "<stdin>: the stream is closed")


def test_a_device_is_written_to_and_not_replaced(cli: Run, corpus: str) -> None:
    assert cli("train", corpus, *PMI, "-o", os.devnull)[0] == 0
    assert not Path(os.devnull).is_file()
