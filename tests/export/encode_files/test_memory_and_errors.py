"""Encode files in bounded memory, and leave nothing behind after an error."""

from __future__ import annotations

import gc
import io
import os
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.export import input_lines as lines_module
from piecework.export.pipeline import BATCHES_IN_FLIGHT, overlapped
from tests.export.encode_files.ids_files import (
    ARRAY_FORMATS,
    LINE_FORMATS,
    READERS,
    ids_in,
    write,
)
from tests.processes import POSIX, heed_signals

# ---- constant memory


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("form", [*LINE_FORMATS, *ARRAY_FORMATS])
def test_few_batches_live_at_once_however_long_the_file(
    tok: pw.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    live, most, made = 0, 0, 0
    original = pw.Tokenizer.encode_batch

    def gone() -> None:
        nonlocal live
        live -= 1

    def counted(self: pw.Tokenizer, *arguments: Any, **settings: Any) -> pw.Batch:
        nonlocal live, most, made
        batch = original(self, *arguments, **settings)
        weakref.finalize(batch, gone)
        live, made = live + 1, made + 1
        most = max(most, live)
        return batch

    monkeypatch.setattr(pw.Tokenizer, "encode_batch", counted)
    source = write(tmp_path / "in", "a hugs cafe\n" * 2000)
    pw.encode_files(tok, source, tmp_path / "out", format=form)
    gc.collect()
    assert made > 50
    assert most <= BATCHES_IN_FLIGHT + 3
    assert live == 0


def test_work_runs_ahead_of_its_reader_by_a_few_items_only() -> None:
    drawn: list[int] = []

    def items() -> Iterator[int]:
        for number in range(100):
            drawn.append(number)
            yield number

    for taken, result in enumerate(overlapped(lambda item: item * 2, items(), in_flight=2)):
        assert result == taken * 2
        assert len(drawn) <= taken + 3
    assert len(drawn) == 100


def test_a_failure_in_the_work_is_the_callers() -> None:
    results = overlapped(lambda item: 1 // item, [2, 1, 0, 5], in_flight=2)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


# ---- what is refused, and what is left behind


def test_invalid_arguments_are_rejected_before_the_work(
    tok: pw.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines_module.LineSource, "blocks", lambda self: pytest.fail("has read"))
    a, b = str(write(tmp_path / "a", "a\n")), str(write(tmp_path / "b", "b\n"))
    out = str(tmp_path / "out")
    hard, soft = str(tmp_path / "hard"), str(tmp_path / "soft")
    os.link(a, hard)
    os.symlink(a, soft)
    for inputs, outputs, settings, place, found in (
        ([a, b], [out, out], {}, "outputs", f"contain '{out}' twice"),
        ([a, b], [out, f"{out}.", f"{out}.c"], {}, "outputs", "3 for 2 inputs"),
        ([a, b], out, {"parallel": True}, "outputs", "1 for 2 parallel inputs"),
        (a, a, {}, "outputs", f"must not contain the inputs: '{a}' is one of them"),
        ([a, b], [out, a], {}, "outputs", f"'{a}'"),
        (a, hard, {}, "outputs", f"'{hard}'"),
        (a, soft, {}, "outputs", f"'{soft}'"),
        ([a, b], ["-", "-"], {}, "outputs", "'-'"),
        (["-", "-"], [out, f"{out}2"], {}, "inputs", "'-' twice"),
        (a, "-", {"format": "npy"}, "outputs", "'-'"),
        (a, out, {"format": "json"}, "format", "'json'"),
        (a, out, {"encoding_errors": "ignore"}, "encoding_errors", "'ignore'"),
        (a, out, {"append_eod": "</s>"}, "append_eod", "'</s>'"),
        (a, out, {"append_eod": "[SEP]", "format": "jsonl"}, "append_eod", "format 'jsonl'"),
        (a, out, {"append_eod": "[SEP]"}, "append_eod", None),
        ([], out, {}, "inputs", "must contain at least one path"),
        (a, [], {}, "outputs", "must contain at least one path"),
        (3, out, {}, "inputs", "int"),
        ([a], [b"x"], {}, "outputs", "bytes"),
        (a, f"{out}\0", {}, "outputs", None),
    ):
        with pytest.raises(pw.errors.ArgumentError) as caught:
            pw.encode_files(tok, inputs, outputs, **settings)
        assert caught.value.place == place
        assert found is None or found in str(caught.value)
    for path in (str(tmp_path), str(tmp_path / "none" / "out")):
        with pytest.raises(pw.errors.FileError):
            pw.encode_files(tok, a, path)
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b", "hard", "soft"}


def test_the_second_file_of_a_pair_cannot_be_an_input(tok: pw.Tokenizer, tmp_path: Path) -> None:
    source = write(tmp_path / "a.idx", "a\n")
    with pytest.raises(pw.errors.ArgumentError, match="outputs"):
        pw.encode_files(tok, source, tmp_path / "a", format="megatron")
    assert source.read_text() == "a\n"


@POSIX
def test_a_device_may_be_named_twice(tok: pw.Tokenizer, tmp_path: Path) -> None:
    source = write(tmp_path / "a", "a\n")
    done = pw.encode_files(tok, [source, source], [os.devnull, os.devnull])
    assert done.tokens == (3, 3)


@POSIX
def test_a_full_disk_is_a_typed_error(tok: pw.Tokenizer, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    source = write(tmp_path / "a", "a\n")
    with pytest.raises(pw.errors.FileError, match="/dev/full: cannot be written: no space left"):
        pw.encode_files(tok, source, "/dev/full")


@pytest.mark.parametrize("form", ["ids", "npy", "arrow", "megatron"])
def test_an_output_is_replaced_whole_and_kept_on_failure(
    tok: pw.Tokenizer, tmp_path: Path, form: str
) -> None:
    bad, good = write(tmp_path / "bad", b"a\n\xff\n"), write(tmp_path / "good", "b\n")
    folder = tmp_path / "out"
    folder.mkdir()
    pw.encode_files(tok, good, folder / "out", format=form)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(pw.errors.InvalidUtf8Error):
        pw.encode_files(tok, bad, folder / "out", format=form, encoding_errors="strict")
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    pw.encode_files(tok, bad, folder / "out", format=form)
    assert set(folder.iterdir()) == set(before)
    assert len(READERS[form](folder / "out")) == 2


def test_arrow_without_its_extra_says_which_extra(
    tok: pw.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    source = write(tmp_path / "a", "a\n")
    with pytest.raises(pw.errors.MissingExtraError, match=r"pip install 'pyarrow>=14'"):
        pw.encode_files(tok, source, tmp_path / "out", format="arrow")
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.slow
@POSIX
@pytest.mark.parametrize("end", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
@pytest.mark.parametrize("form", ["ids", "megatron"])
def test_ended_half_way_it_leaves_no_output(
    tok: pw.Tokenizer, tmp_path: Path, form: str, end: str
) -> None:
    tok.save(tmp_path / "t.json")
    out = tmp_path / "out"
    out.mkdir()
    arguments = ["encode", str(tmp_path / "t.json"), "--format", form, "-o", str(out / "x")]
    process = subprocess.Popen(
        [sys.executable, "-m", "piecework", *arguments],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_signals,
    )
    assert process.stdin is not None
    for _ in range(12):
        process.stdin.write(b"a hugs cafe\n" * 100_000)
    deadline = time.monotonic() + 300
    while not any(path.stat().st_size for path in out.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert any(path.stat().st_size for path in out.iterdir()), "nothing was under way"
    process.send_signal(signal.Signals[end])
    process.communicate(timeout=300)
    left = [path.name for path in out.iterdir()]
    if end != "SIGKILL":
        assert (process.returncode, left) == (128 + signal.Signals[end], [])
    else:
        assert all(name.startswith(".") and name.endswith(".tmp") for name in left)


def test_progress_counts_the_bytes_of_the_files(tok: pw.Tokenizer, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    sources = [write(tmp_path / name, "a b\n" * 100) for name in "lr"]
    pw.encode_files(
        tok,
        sources,
        [tmp_path / "x", tmp_path / "y"],
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (800, 800)


def test_stdin_and_stdout_are_read_and_written(
    tok: pw.Tokenizer, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
    right = write(tmp_path / "r", "c\nc\n")
    outputs = ["-", tmp_path / "r.ids"]
    done = pw.encode_files(tok, ["-", right], outputs, parallel=True, add_special_tokens=False)
    assert done.lines_written == 2
    assert ids_in(tmp_path / "r.ids") == [[12], [12]]
