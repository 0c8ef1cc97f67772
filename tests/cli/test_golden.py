"""`piecework golden`: the file it writes, the checks with their exit codes, and what it refuses."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from piecework.analysis import Golden, golden
from tests.analysis.golden.tokenizers import few_pins, small

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("golden") / "tokenizer.json"
    small("wordpiece").save(path)
    return str(path)


@pytest.fixture(scope="module")
def pinned(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("golden") / "golden.jsonl"
    few_pins("wordpiece").save(path)
    return str(path)


def test_the_command_writes_the_file_of_the_library(
    cli: Cli, tokenizer: str, tmp_path: Path, few_candidates: None
) -> None:
    path = tmp_path / "golden.jsonl"
    code, out, err = cli("golden", tokenizer, "-o", str(path))
    found = Golden.load(path)
    following = f"next: piecework golden {tokenizer} --check {path}\n"
    assert (code, out, err) == (
        0,
        "",
        f"{len(found.rows)} rows, saved as {path}\n{following}",
    )
    assert found.rows == golden(small("wordpiece")).rows
    assert found.tokenizer["name"] == found.tokenizer["format"] == "tokenizer.json"


def test_a_corpus_is_named_on_stderr(
    cli: Cli, tokenizer: str, tmp_path: Path, few_candidates: None
) -> None:
    (tmp_path / "corpus.txt").write_text("some text\n")
    corpus, path = str(tmp_path / "corpus.txt"), str(tmp_path / "golden.jsonl")
    code, _, err = cli("golden", tokenizer, "--corpus", corpus, "-o", path)
    assert (code, f"with texts of {corpus}" in err) == (0, True)
    assert Golden.load(path).corpus


def test_equal_ids_exit_with_0(cli: Cli, tokenizer: str, pinned: str) -> None:
    code, out, err = cli("golden", tokenizer, "--check", pinned)
    assert (code, err) == (0, "")
    assert out.strip().endswith(f"{len(few_pins('wordpiece').rows)} rows: all are equal")
    code, out, _ = cli("golden", tokenizer, "--check", pinned, "--library", "tokenizers", "--json")
    assert (code, json.loads(out)["is_equal"]) == (0, True)


def test_other_ids_exit_with_1(cli: Cli, pinned: str) -> None:
    script = (
        "import sys, json\n"
        "for line in sys.stdin: print(json.dumps({'row': json.loads(line)['row'], 'ids': [1]}))"
    )
    command = f'"{sys.executable}" -c "{script}"'
    code, out, _ = cli("golden", "--check", pinned, "--with", command)
    assert code == 1
    assert "rows differ" in out
    assert "added-token" in out
    code, out, _ = cli("golden", "--check", pinned, "--with", command, "--json")
    found = json.loads(out)
    assert (code, found["is_equal"]) == (1, False)
    assert found["differences"][0].keys() == {"row", "answer", "differs"}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("TOKENIZER", "tokenizer.json -o golden.jsonl; or one to compare with: --check FILE"),
        ("-o out.jsonl", "Missing argument 'TOKENIZER'. (see piecework golden --help)"),
        ("TOKENIZER -o out.jsonl --library tokenizers", "--library needs --check"),
        ("TOKENIZER -o out.jsonl --json", "--json needs --check"),
        ("TOKENIZER --check PINNED -o out.jsonl", "--output cannot be combined with --check"),
        ("TOKENIZER --check PINNED --corpus a", "--corpus cannot be combined with --check"),
        ("--check PINNED", "--check needs TOKENIZER or --with"),
        ("--check PINNED --library tokenizers", "--check needs TOKENIZER or --with"),
        ("TOKENIZER --check PINNED --with a --library tokenizers", "--with cannot be combined"),
        ("TOKENIZER --check TOKENIZER", "is not JSON"),
        ("--check PINNED --with missing-program", "missing-program: cannot be started"),
        ("--check PINNED --with cat --timeout 0", "--timeout"),
        ("TOKENIZER -o missing/folder/out.jsonl", "missing"),
    ],
)
def test_wrong_usage_exits_with_2(
    cli: Cli, tokenizer: str, pinned: str, arguments: str, problem: str
) -> None:
    names = {"TOKENIZER": tokenizer, "PINNED": pinned}
    code, out, err = cli("golden", *(names.get(word, word) for word in arguments.split()))
    assert (code, out) == (2, "")
    assert problem in err
