"""`examples/golden/check_golden.mjs` runs the package for npm on a golden file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import piecework as pw
from tests.wasm.module import MODULE, ROOT

TEXTS = ["to be or not to be, that is the question", "Whether 'tis nobler in the mind to suffer"]


def check(*arguments: Path) -> subprocess.CompletedProcess[str]:
    program = ROOT / "examples" / "golden" / "check_golden.mjs"
    return subprocess.run(
        ["node", program, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize(("model", "size"), [("wordpiece", 45), ("byte-bpe", 265), ("unigram", 38)])
def test_only_rows_with_padding_are_skipped(model: str, size: int, tmp_path: Path) -> None:
    tok = pw.Tokenizer.train_from_iterator(TEXTS, model=model, vocab_size=size, progress=False)
    tok.save(tmp_path / "tokenizer.json")
    pw.analysis.golden(tok).save(tmp_path / "golden.jsonl")
    done = check(MODULE, tmp_path / "golden.jsonl", tmp_path / "tokenizer.json")
    assert done.returncode == 0, done.stdout + done.stderr
    _, *lines = (tmp_path / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert any("pair" in row for row in rows)
    assert any("truncation" in row for row in rows)
    assert any(not row["parse_special"] for row in rows)
    padded = sum("padding" in row for row in rows)
    *skipped, last = done.stdout.splitlines()
    assert skipped == ([f"skipped {padded} rows: no padding"] if padded else [])
    assert last == f"piecework: 0 of {len(rows) - padded} compared rows differ"


def test_a_golden_file_of_another_tokenizer_does_not_pass(tmp_path: Path) -> None:
    tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    pw.analysis.golden(tok).save(tmp_path / "golden.jsonl")
    pw.Tokenizer(pw.spec.WordPiece({"hug": 0, "[UNK]": 1, "##s": 2})).save(tmp_path / "other.json")
    done = check(MODULE, tmp_path / "golden.jsonl", tmp_path / "other.json")
    assert done.returncode == 1, done.stderr
    assert "  ids: expected [0], found [1]" in done.stdout


def test_other_arguments_have_a_line_on_usage() -> None:
    for arguments in ((), (MODULE,)):
        done = check(*arguments)
        assert done.returncode == 2
        assert done.stderr.startswith("usage: node check_golden.mjs ")
        assert len(done.stderr.splitlines()) == 1
