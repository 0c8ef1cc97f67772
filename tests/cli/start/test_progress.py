"""Progress, notes, and streams that are closed or full."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import piecework as pw
from piecework._internal import progress as bars
from piecework.cli.app import run
from tests.cli.start.command_names import Run, command_named
from tests.processes import PIECEWORK, POSIX

LONG = (
    "train count choose encode decode find-drift compare verify bench extend prune convert normalize"
).split()


@pytest.mark.parametrize("verb", LONG)
def test_every_long_command_takes_quiet(verb: str) -> None:
    flags = {flag for option in command_named(verb).params for flag in option.opts}
    assert {"-q", "--quiet"} <= flags


def test_quiet_leaves_out_the_notes_and_the_progress(
    cli: Run, corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bars, "SECONDS_BETWEEN_LINES", 0)
    path, ids = str(tmp_path / "t.json"), str(tmp_path / "ids")
    small, counts = str(tmp_path / "s.json"), str(tmp_path / "c.tsv")
    settings = ["--vocab-size", "15", "--model", "bpe"]
    shown: list[bool] = []
    for arguments in (
        ["train", corpus, *settings, "-o", path],
        ["count", corpus, "-o", counts],
        ["encode", path, corpus, "-o", ids],
        ["extend", path, corpus, "-n", "0", "-o", small],
        ["prune", path, "--min-count", "1", "--corpus", corpus, "-o", small],
        ["convert", path, str(tmp_path / "other.json")],
    ):
        code, out, err = cli(*arguments, "--quiet")
        assert (code, out, err) == (0, "", ""), arguments
        err = cli(*arguments)[2]
        assert err != ""
        shown.append(" after 0:00" in err)
    assert shown == [True, True, True, True, True, False]


def test_without_a_terminal_progress_is_a_line_every_thirty_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(bars, "monotonic", lambda: now)
    with bars.progress_bar("counting") as progress:
        for second in range(0, 121, 5):
            now = float(second)
            progress(second * 10, 2000)
        now += 3600
        progress(1234567, 0)
    assert capsys.readouterr().err.splitlines() == [
        "counting: 15% after 0:30, 2:50 left",
        "counting: 30% after 1:00, 2:20 left",
        "counting: 45% after 1:30, 1:50 left",
        "counting: 60% after 2:00, 1:20 left",
        "counting: 1,234,567 after 62:00",
    ]


def test_progress_is_silent_by_default(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bars, "SECONDS_BETWEEN_LINES", 0)
    with bars.progress_bar("counting", False) as progress:
        progress(1, 2)
    assert capsys.readouterr().err == ""


def test_progress_is_a_bar_a_function_or_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bars, "SECONDS_BETWEEN_LINES", 0)
    texts = ["hug pug"] * 9
    steps: list[tuple[int, int]] = []
    for call in (
        lambda progress: pw.count_texts(texts, progress=progress),
        lambda progress: pw.Tokenizer.train_from_iterator(
            texts, model="bpe", vocab_size=8, progress=progress
        ),
        lambda progress: pw.train.BPETrainer(vocab_size=8).learn(
            pw.count_texts(texts), progress=progress
        ),
        lambda progress: pw.vocabulary.extend(
            pw.Tokenizer.train_from_iterator(texts, model="bpe", vocab_size=7),
            texts,
            1,
            progress=progress,
        ),
    ):
        for silent in (None, False):
            call(silent)
            assert capsys.readouterr().err == ""
        call(True)
        assert "ing: " in capsys.readouterr().err
        steps.clear()
        call(lambda done, total: steps.append((done, total)))
        assert steps
        assert capsys.readouterr().err == ""
        with pytest.raises(pw.errors.InputTypeError, match="progress: must be .*, not int"):
            call(1)


def test_the_name_of_progress_in_tokenizers_is_an_error() -> None:
    tok = pw.Tokenizer.train_from_iterator(["hug pug"] * 9, model="bpe", vocab_size=7)
    counts = pw.count_texts(["hug"])
    for call, arguments in (
        (pw.Tokenizer.train, ("a.txt",)),
        (pw.Tokenizer.train_from_iterator, (["hug"],)),
        (pw.Tokenizer.train_from_counts, (counts,)),
        (tok.train_new_from_iterator, (["hug"], 9)),
    ):
        with pytest.raises(pw.errors.InputTypeError, match="^show_progress: .*; use progress=True"):
            call(*arguments, show_progress=True)


@POSIX
def test_a_closed_stderr_is_ignored(corpus: str, tmp_path: Path) -> None:
    out = tmp_path / "c.tsv"
    shell = f"exec {PIECEWORK} count {corpus} -o {out} 2>&-"
    assert subprocess.run(["sh", "-c", shell], check=False, timeout=300).returncode == 0
    assert out.exists()
    shell = f"exec {PIECEWORK} count missing -o {out} 2>&-"
    done = subprocess.run(["sh", "-c", shell], check=False, timeout=300, capture_output=True)
    assert (done.returncode, done.stdout) == (2, b"")


@POSIX
@pytest.mark.parametrize(
    "verb", ["encode {} {}", "decode {} {}", "train - -o -", "normalize --rules nfkc"]
)
def test_a_closed_stdout_is_an_error(corpus: str, tmp_path: Path, verb: str) -> None:
    path = tmp_path / "t.json"
    pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "h": 1})).save(path)
    shell = f"exec {PIECEWORK} {verb.format(path, corpus)} >&-"
    done = subprocess.run(
        ["sh", "-c", shell], input=b"hug " * 99, check=False, timeout=300, capture_output=True
    )
    assert done.returncode == 2
    assert b"piecework: error: <stdout>: the stream is closed" in done.stderr
    assert b"Traceback" not in done.stderr


@POSIX
def test_tables_are_dropped_if_stdout_is_closed(corpus: str, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "h": 1})).save(path)
    for verb in (f"compare {path} --corpus {corpus}", f"explain {path} hug", f"inspect {path}"):
        shell = f"exec {PIECEWORK} {verb} >&-"
        done = subprocess.run(["sh", "-c", shell], check=False, timeout=300, capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("verb", ["inspect {}", "encode {} {} --no-special-tokens"])
def test_a_full_stdout_is_one_line(corpus: str, tmp_path: Path, verb: str) -> None:
    path = tmp_path / "t.json"
    pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "h": 1})).save(path)
    command = [sys.executable, "-m", "piecework", *verb.format(path, corpus).split()]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, check=False, timeout=300
        )
    assert done.returncode == 2
    assert done.stderr.startswith(
        b"piecework: error: <stdout>: cannot be written: no space left on device"
    )
    assert done.stderr.count(b"\n") == 1


def test_run_takes_the_arguments_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["piecework", "--version"])
    assert run() == 0


INTERRUPTED_IN_EXEC = """
import piecework.cli.app
from piecework.cli import main

def run():
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        return 130

piecework.cli.app.run = run
main()
"""


@POSIX
def test_an_interrupt_while_a_dataclass_is_made_gives_130_too(tmp_path: Path) -> None:
    (tmp_path / "interrupted.py").write_text(INTERRUPTED_IN_EXEC)
    command = [sys.executable, "-m", "interrupted"]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 130
