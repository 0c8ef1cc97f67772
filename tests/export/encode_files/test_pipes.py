"""Encode lines from a pipe as they arrive."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

import piecework as pw
from tests.export.encode_files.ids_files import READERS, start, write
from tests.processes import POSIX


@POSIX
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_program_that_waits_for_its_answer_gets_it_line_by_line(
    tok: pw.Tokenizer, tmp_path: Path, form: str
) -> None:
    process = start(tok, tmp_path, *(["--field", "t"] if form == "json" else []))
    assert process.stdin is not None
    assert process.stdout is not None
    watchdog = threading.Timer(120, process.kill)
    watchdog.start()
    for text, ids in (("a", b"2 8 3\n"), ("hugs", b"2 5 6 3\n"), ("b c", b"2 11 12 3\n")):
        line = json.dumps({"t": text}) if form == "json" else text
        process.stdin.write(f"{line}\n".encode())
        process.stdin.flush()
        assert process.stdout.readline() == ids
    process.stdin.close()
    assert process.wait(timeout=300) == 0
    watchdog.cancel()


@POSIX
def test_many_lines_from_a_pipe_are_all_encoded(tok: pw.Tokenizer, tmp_path: Path) -> None:
    text = "".join(f"{'a ' * (n % 50)}b{'' if n % 3 else chr(13)}\n" for n in range(50_000))
    out, _ = start(tok, tmp_path, "-").communicate(text.encode(), timeout=300)
    rows = [[int(id) for id in line.split()] for line in out.decode().splitlines()]
    assert rows == [[2, *[8] * (n % 50), 11, 3] for n in range(50_000)]


@POSIX
@pytest.mark.parametrize("form", ["ids", "arrow", "parquet"])
def test_stdout_is_written_by_its_device_name_too(
    tok: pw.Tokenizer, tmp_path: Path, form: str
) -> None:
    process = start(tok, tmp_path, "--format", form, "-o", "/dev/stdout")
    out, _ = process.communicate(b"a\nhugs\n", timeout=300)
    target = write(tmp_path / "out", out)
    if form == "arrow":  # a pipe gets the stream format
        assert len(out) > 100
    else:
        assert READERS[form](target) == [[2, 8, 3], [2, 5, 6, 3]]
