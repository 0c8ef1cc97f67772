"""Programs in C and C++ call every function, right and wrong, alone and under valgrind."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import piecework as pw
from tests.capi.fuzz import sanitized
from tests.capi.library import PROGRAMS, ROOT, VALGRIND, compile_program, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a vocabulary and a tokenizer.json."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "vocab.txt").write_text("[UNK]\nto\nbe\n", encoding="utf-8")
    pw.Tokenizer.load(folder / "vocab.txt").save(folder / "tokenizer.json")
    return folder


CALLS = {
    "functions.c": ["vocab.txt"],
    "bad_input.c": ["."],
    "threads.c": [],
    "cancel.c": [],
    "random_calls.c": ["1", "5000", *map(str, sorted((ROOT / "fuzz" / "corpus").iterdir()))],
    "objects.cpp": [],
}


@pytest.mark.parametrize("name", CALLS)
def test_a_program_finds_what_it_expects(name: str, folder: Path, tmp_path: Path) -> None:
    program = compile_program(PROGRAMS / name, tmp_path)
    done = run([program, *CALLS[name]], cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "equal\n", "")


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind: apt install valgrind")
@pytest.mark.parametrize("name", CALLS)
def test_valgrind_finds_no_error_and_no_leak(name: str, folder: Path, tmp_path: Path) -> None:
    program = compile_program(PROGRAMS / name, tmp_path)
    arguments = ["150" if argument == "5000" else argument for argument in CALLS[name]]
    done = run([*VALGRIND, program, *arguments], cwd=folder)
    assert (done.returncode, done.stdout, done.stderr[-3000:]) == (0, "equal\n", "")


def test_random_calls_under_address_sanitizer(tmp_path: Path) -> None:
    done = run([sanitized(tmp_path), "2", "1000", *CALLS["random_calls.c"][2:]])
    assert (done.returncode, done.stdout, done.stderr[-3000:]) == (0, "equal\n", "")
