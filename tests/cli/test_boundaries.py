"""`piecework train --boundaries` and `--boundary-marker`."""

from __future__ import annotations

from pathlib import Path

import pytest

import piecework as pw
from tests.processes import run_command as run

TEXT = "undoing redo do\nredo\n" * 3
LEXICON = "undoing\tun do ing\nredo\tre do\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    marked = TEXT.replace("undoing", "unǀdoǀing").replace("redo", "reǀdo")
    (tmp_path / "marked.txt").write_text(marked, encoding="utf-8")
    (tmp_path / "lexicon.tsv").write_text(LEXICON, encoding="utf-8")
    return tmp_path


def test_lexicon_marker_and_counts_files_give_one_tokenizer(folder: Path) -> None:
    lexicon = ("--boundaries", "lexicon.tsv")
    assert run("count", "text.txt", "-o", "counts.tsv", cwd=folder).returncode == 0
    for arguments in (
        ("text.txt", *lexicon, "-o", "one.json"),
        ("marked.txt", "--boundary-marker", "ǀ", "-o", "two.json"),
        ("counts.tsv", *lexicon, "-o", "three.json"),
    ):
        done = run("train", *arguments, "--vocab-size", "40", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "boundaries: inside 2 of 3 distinct words" in done.stderr + done.stdout
    names = ("one.json", "two.json", "three.json")
    assert len({(folder / name).read_bytes() for name in names}) == 1
    done = run("train", "text.txt", *lexicon, "--vocab-size", "36,40", "-o", "out.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    sized = pw.Tokenizer.load(folder / "out-40.json").get_vocab()
    assert sized == pw.Tokenizer.load(folder / "one.json").get_vocab()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--boundaries", "missing.tsv"), "missing.tsv"),
        (("--boundary-marker", ""), "--boundary-marker: must not be empty"),
        (
            ("--boundaries", "lexicon.tsv", "--boundary-marker", "ǀ"),
            "--boundaries, --boundary-marker: cannot be combined",
        ),
        (
            ("--boundaries", "lexicon.tsv", "--balance-rounds", "2"),
            "--boundaries, --balance-rounds: cannot be combined",
        ),
        (
            ("--boundaries", "lexicon.tsv", "--preset", "o200k-superwords"),
            "--boundaries, --transition: cannot be combined",
        ),
    ],
)
def test_options_in_conflict_are_named_and_nothing_is_written(
    folder: Path, options: tuple[str, ...], problem: str
) -> None:
    done = run("train", "text.txt", *options, "--vocab-size", "300", "-o", "out.json", cwd=folder)
    assert done.returncode != 0
    assert problem in done.stderr
    assert not (folder / "out.json").exists()


def test_a_dry_run_reads_the_lexicon(folder: Path) -> None:
    (folder / "lexicon.tsv").write_text("redo\tre d\n", encoding="utf-8")
    arguments = ("--boundaries", "lexicon.tsv", "--vocab-size", "40", "--dry-run")
    done = run("train", "text.txt", *arguments, "-o", "out.json", cwd=folder)
    assert done.returncode != 0
    assert "lexicon.tsv line 1: found 're d'" in done.stderr
