"""The programs in examples/golden find what differs, count what they skip, and say so by their exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import piecework as pw
from tests import data

EXAMPLES = data.ROOT / "examples" / "golden"
TEXTS = ["to be or not to be, that is the question", "Whether 'tis nobler in the mind to suffer"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A golden file and its tokenizer.json."""
    folder = tmp_path_factory.mktemp("golden")
    tok = pw.Tokenizer.train_from_iterator(TEXTS, preset="bert-uncased", vocab_size=45)
    tok.save(folder / "tokenizer.json")
    pw.analysis.golden(tok, name="hamlet").save(folder / "golden.jsonl")
    return folder / "golden.jsonl", folder / "tokenizer.json"


def check(
    library: str, golden: Path, tokenizer: Path, *fields: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, EXAMPLES / "check_golden.py", library, golden, tokenizer, *fields],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def planted(golden: Path, change: Callable[[dict[str, object]], None], folder: Path) -> Path:
    """Write the golden file with its second row changed."""
    lines = golden.read_text(encoding="utf-8").splitlines()
    row = json.loads(lines[2])
    change(row)
    path = folder / "planted.jsonl"
    path.write_text("\n".join([*lines[:2], json.dumps(row), *lines[3:]]), encoding="utf-8")
    return path


@pytest.mark.parametrize("library", ["tokenizers", "transformers"])
def test_a_golden_file_passes(library: str, files: tuple[Path, Path]) -> None:
    done = check(library, *files)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{library} " in done.stdout.splitlines()[-1]
    assert ": 0 of " in done.stdout.splitlines()[-1]


@pytest.mark.parametrize("field", ["ids", "tokens", "char_offsets", "decoded", "error"])
def test_each_field_that_differs_is_named(
    field: str, files: tuple[Path, Path], tmp_path: Path
) -> None:
    golden, tokenizer = files
    wrong = planted(golden, lambda row: row.update({field: "planted"}), tmp_path)
    done = check("tokenizers", wrong, tokenizer)
    assert done.returncode == 1, done.stderr
    assert "row 2 (" in done.stdout
    assert f"  {field}: expected 'planted', " in done.stdout
    if field not in ("ids", "error"):
        assert check("tokenizers", wrong, tokenizer, "ids").returncode == 0


def test_the_meaning_of_each_flag_is_printed(files: tuple[Path, Path], tmp_path: Path) -> None:
    golden, tokenizer = files
    wrong = planted(golden, lambda row: row.update(ids=[0]), tmp_path)
    header, _, row = map(json.loads, wrong.read_text(encoding="utf-8").splitlines()[:3])
    output = check("tokenizers", wrong, tokenizer).stdout
    assert all(f"{flag}: {header['flags'][flag]}" in output for flag in row["flags"])


def test_skipped_rows_are_counted_and_alone_do_not_pass(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    golden, tokenizer = files
    header, *lines = golden.read_text(encoding="utf-8").splitlines()
    padded = [line for line in lines if "padding" in json.loads(line)]
    path = tmp_path / "padded.jsonl"
    path.write_text("\n".join([header, *padded]), encoding="utf-8")
    done = check("transformers", path, tokenizer)
    assert done.returncode == 1
    assert done.stdout.startswith(f"skipped {len(padded)} rows: ")
    assert "0 of 0 compared rows differ" in done.stdout


@pytest.mark.parametrize("arguments", [(), ("tokenizers",), ("torch", "golden.jsonl", "x.json")])
def test_other_arguments_have_a_line_on_usage(arguments: tuple[str, ...]) -> None:
    command = [sys.executable, EXAMPLES / "check_golden.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 2
    usage, libraries = done.stderr.splitlines()
    assert usage.startswith("usage: python check_golden.py LIBRARY ")
    assert libraries.startswith("LIBRARY is one of tokenizers, transformers, ")


def test_the_adapter_answers_the_protocol(files: tuple[Path, Path], tmp_path: Path) -> None:
    golden, tokenizer = files
    program = [sys.executable, str(EXAMPLES / "adapter.py"), str(tokenizer)]
    found = pw.analysis.check_golden(pw.analysis.Golden.load(golden), program=program)
    assert found.is_equal
    assert 0 < sum(found.skipped.values()) < found.rows
    wrong = planted(golden, lambda row: row.update(ids=[0]), tmp_path)
    again = pw.analysis.check_golden(pw.analysis.Golden.load(wrong), program=program)
    assert [one.row.row for one in again.differences] == [2]
