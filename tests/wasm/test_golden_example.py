"""`examples/golden/check_golden.mjs` runs the module on a golden file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import piecework as pw
from tests.wasm.module import MODULE, ROOT


def check(golden: Path, tokenizer: Path) -> subprocess.CompletedProcess[str]:
    program = ROOT / "examples" / "golden" / "check_golden.mjs"
    return subprocess.run(
        ["node", program, MODULE, golden, tokenizer],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_a_golden_file_passes_and_one_of_another_tokenizer_does_not(tmp_path: Path) -> None:
    tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    tok.save(tmp_path / "tokenizer.json")
    pw.analysis.golden(tok).save(tmp_path / "golden.jsonl")
    done = check(tmp_path / "golden.jsonl", tmp_path / "tokenizer.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "piecework: 0 of " in done.stdout
    assert "skipped " in done.stdout
    pw.Tokenizer(pw.spec.WordPiece({"hug": 0, "[UNK]": 1, "##s": 2})).save(tmp_path / "other.json")
    done = check(tmp_path / "golden.jsonl", tmp_path / "other.json")
    assert done.returncode == 1, done.stderr
    assert "  ids: expected [0], found [1]" in done.stdout
