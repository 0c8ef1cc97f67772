"""The file: every process writes the same one, and it says what is wrong with it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.analysis import Golden, check_golden
from piecework.errors import FileError, FormatError
from tests.analysis.golden.tokenizers import few_pins, small

ROOT = Path(__file__).parents[3]

Change = Callable[[list[dict[str, Any]]], object]


def test_every_process_writes_the_same_file(tmp_path: Path) -> None:
    small("byte-bpe").save(tmp_path / "tokenizer.json")
    script = (
        "import sys, piecework as pw\n"
        "tok = pw.Tokenizer.load(sys.argv[1])\n"
        "sys.stdout.write('\\n'.join(pw.analysis.golden(tok).to_lines()))"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "tokenizer.json")]
    written = {
        subprocess.run(
            command,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ROOT / "python"},
            check=True,
            stdout=-1,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(written) == 1


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda lines: lines[0].update(piecework_golden=2), "has version 2 of the schema"),
        (lambda lines: lines.pop(), "rows, expected"),
        (lambda lines: lines.pop(0), "has no header"),
        (lambda lines: lines.clear(), "has no header"),
        (lambda lines: lines[0].pop("unicode"), "has no 'unicode'"),
        (lambda lines: lines[3].pop("ids"), ":4: lacks 'ids'"),
        (lambda lines: lines[3].update(id=1), ":4: has an unknown key 'id'"),
    ],
)
def test_a_wrong_file_is_named_with_what_is_wrong(
    change: Change, problem: str, tmp_path: Path
) -> None:
    lines = list(map(json.loads, few_pins("char").to_lines()))
    change(lines)
    path = tmp_path / "golden.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(FormatError, match=problem) as raised:
        Golden.load(path)
    assert raised.value.kind == "schema"


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000, "\x00", "{}\n\udcff"])
def test_a_file_of_something_else_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(FormatError):
        Golden.load(path)


def test_a_missing_file_is_an_error() -> None:
    with pytest.raises(FileError):
        Golden.load("missing.jsonl")


def test_a_file_of_another_tokenizer_or_unicode_version_is_refused() -> None:
    other = small("char").with_normalizer(pw.spec.Lowercase())
    with pytest.raises(FormatError, match="has the fingerprint") as raised:
        check_golden(few_pins("char"), other)
    found, expected = few_pins("char").tokenizer["fingerprint"], other.fingerprint
    assert (raised.value.kind, raised.value.found, raised.value.expected) == (
        "fingerprint",
        found,
        expected,
    )
    with pytest.raises(FormatError, match=r"has ids of Unicode '1\.0'") as raised:
        check_golden(replace(few_pins("char"), unicode="1.0"), small("char"))
    assert raised.value.kind == "unicode"
