"""The C library has the ids of the Python package, on golden files and on conformance cases."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.analysis import golden
from piecework.spec import Regex, Split, named_encoding
from tests import data
from tests.capi.library import ROOT, VALGRIND, compile_program, run
from tests.case_files import read_cases
from tests.differential.test_published_golden import SETS, TOOL, unpacked
from tests.project.test_conformance import spec_of

SOURCE = ROOT / "examples" / "golden" / "check_golden.c"


@pytest.fixture(scope="module")
def check_golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(SOURCE, tmp_path_factory.mktemp("golden"))


def options_of(source: Path) -> Iterator[str]:
    """Yield what a file lacks."""
    if source.suffix == ".tiktoken":
        tok = pw.Tokenizer.load(source, encoding_name=source.stem)
        yield from pattern_options(tok)
        for token, number in named_encoding(source.stem).special_tokens.items():
            yield from ("--special", token, str(number))


def pattern_options(tok: pw.Tokenizer) -> Iterator[str]:
    stages = getattr(tok.spec.pre_tokenizer, "pretokenizers", ())
    for stage in stages:
        if isinstance(stage, Split) and isinstance(stage.pattern, Regex):
            yield from ("--pattern", stage.pattern.pattern)
    if not stages:
        yield from ("--pattern", GPT2)


GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


@pytest.mark.parametrize("name", sorted(SETS))
def test_published_tokenizers_have_the_ids_of_their_golden_files(
    name: str, check_golden: Path, tmp_path: Path
) -> None:
    source = unpacked(name, tmp_path)
    if source.is_dir():  # C reads files; a folder becomes one in Python
        pw.Tokenizer.load(source).save(tmp_path / "saved.json")
        source = tmp_path / "saved.json"
    done = run([check_golden, TOOL.PUBLISHED / f"{name}.jsonl", source, *options_of(source)])
    assert done.returncode == 0, done.stdout[:3000] + done.stderr
    header = TOOL.header_of(TOOL.PUBLISHED / f"{name}.jsonl")
    assert done.stdout.endswith(f": 0 of {header['rows']} compared rows differ\n")


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind: apt install valgrind")
def test_valgrind_finds_nothing_in_a_golden_run(check_golden: Path, tmp_path: Path) -> None:
    tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    tok.save(tmp_path / "tokenizer.json")
    golden(tok).save(tmp_path / "golden.jsonl")
    files = [tmp_path / "golden.jsonl", tmp_path / "tokenizer.json"]
    done = run([*VALGRIND, check_golden, *files])
    assert (done.returncode, done.stderr[-3000:]) == (0, "")


@pytest.mark.parametrize("field", ["ids", "tokens", "byte_offsets", "char_offsets", "decoded"])
def test_a_row_that_differs_is_named_with_its_field(
    field: str, check_golden: Path, tmp_path: Path
) -> None:
    tok = pw.Tokenizer(pw.spec.WordPiece({"[UNK]": 0, "hug": 1, "##s": 2}))
    tok.save(tmp_path / "tokenizer.json")
    golden(tok).save(tmp_path / "golden.jsonl")
    lines = (tmp_path / "golden.jsonl").read_text("utf-8").splitlines()
    row = json.loads(lines[5])
    row["decoded"] = row.get("decoded", row["text"])
    wrong: dict[str, Any] = {"ids": [9], "tokens": ["x"], "decoded": "x"}
    row[field] = wrong.get(field, [[7, 9]])
    lines[5] = json.dumps(row)
    (tmp_path / "golden.jsonl").write_text("\n".join(lines), "utf-8")
    done = run([check_golden, tmp_path / "golden.jsonl", tmp_path / "tokenizer.json"])
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith(f"row {row['row']}: {field} differs")


def published(case: dict[str, Any]) -> bool:
    return isinstance(case.get("vocab"), str)


CASES = [case for case in read_cases("encoding.toml")["case"] if not published(case)]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_conformance_cases_have_the_same_ids(
    case: dict[str, Any], check_golden: Path, tmp_path: Path
) -> None:
    tok = pw.Tokenizer.from_spec(spec_of(case))
    tok.save(tmp_path / "tok.piecework")
    rows = list(rows_of(tok, case["examples"]))
    lines = [{"piecework_golden": 1}, *rows]
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    (tmp_path / "golden.jsonl").write_text(text, encoding="utf-8")
    done = run([check_golden, tmp_path / "golden.jsonl", tmp_path / "tok.piecework"])
    assert done.stdout.endswith(f"0 of {len(rows)} compared rows differ\n"), done.stdout


def rows_of(tok: pw.Tokenizer, examples: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a row of a golden file for each example, with the answer of Python."""
    for number, example in enumerate(examples, 1):
        text = example["text"] if "text" in example else example["repeat"][0] * example["repeat"][1]
        special = example.get("add_special_tokens", False)
        encoded = tok.encode(text, add_special_tokens=special)
        ends = [len(text[:at].encode()) for at in range(len(text) + 1)]
        yield {
            "row": number,
            "text": text,
            "add_special_tokens": special,
            "parse_special": True,
            "ids": list(encoded.ids),
            "tokens": list(encoded.tokens),
            "byte_offsets": [[ends[start], ends[end]] for start, end in encoded.offsets],
            "char_offsets": [list(span) for span in encoded.offsets],
            "decoded": tok.decode(encoded.ids, skip_special_tokens=False),
        }


def test_the_fingerprint_is_that_of_python(tmp_path: Path) -> None:
    program = tmp_path / "fingerprint.c"
    program.write_text(FINGERPRINT, encoding="utf-8")
    compiled = compile_program(program, tmp_path)
    source = data.need("vocab/gpt2/tokenizer.json.gz")
    tok = pw.Tokenizer.load(source)
    tok.save(tmp_path / "tokenizer.json")
    for changed in (tok, tok.with_truncation(9), tok.with_padding(12, pad_id=0, pad_token="!")):
        changed.save(tmp_path / "tokenizer.json")
        assert run([compiled, tmp_path / "tokenizer.json"]).stdout == changed.fingerprint


FINGERPRINT = r"""
#include <piecework.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  char digits[64];
  piecework_tokenizer *tokenizer = piecework_load_file(argv[argc - 1], strlen(argv[argc - 1]), NULL, NULL);
  fwrite(digits, 1, piecework_fingerprint(tokenizer, digits, 64, NULL), stdout);
  piecework_tokenizer_free(tokenizer);
}
"""
