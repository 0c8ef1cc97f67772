"""The golden files of published tokenizers are what the generator writes and what their libraries answer."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest

import piecework as pw
from tests import data
from tests.differential import peer


def load_tool() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(data.ROOT / "tools"))
        return importlib.import_module("golden_sets")


TOOL = load_tool()
SETS = TOOL.sets()
# mistral_common is run by `make golden-engines`.
VERIFIED = sorted(name for name in SETS if SETS[name]["library"] != "mistral_common")
# A full run makes every file, which takes ten seconds each.
MADE = "bert-base-uncased gpt2 mistral-v1".split()
A_SET_OF_EACH_LIBRARY = {
    "tokenizers": "gpt2",
    "transformers": "openai-gpt",
    "tiktoken": "cl100k_base",
    "sentencepiece": "mistral-v1",
}


def unpacked(name: str, folder: Path) -> Path:
    source: Path = TOOL.unpack(
        SETS[name], [data.need(file) for file in SETS[name]["files"]], folder
    )
    return source


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SETS))
def test_the_tokenizer_has_the_same_answers(name: str, tmp_path: Path) -> None:
    pins = pw.analysis.Golden.load(TOOL.PUBLISHED / f"{name}.jsonl")
    found = pw.analysis.check_golden(pins, TOOL.tokenizer_of(unpacked(name, tmp_path)))
    assert found.is_equal, str(found)
    assert found.rows == len(pins.rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SETS) if peer.FULL else MADE)
def test_the_generator_writes_the_same_file(name: str, tmp_path: Path) -> None:
    made = tmp_path / "golden.jsonl"
    TOOL.golden_of(name, unpacked(name, tmp_path)).save(made)
    assert made.read_bytes() == (TOOL.PUBLISHED / f"{name}.jsonl").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", VERIFIED)
def test_the_owner_of_the_format_has_the_same_answers(name: str, tmp_path: Path) -> None:
    done = TOOL.run_checker(name, SETS[name]["library"], unpacked(name, tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("library", sorted(A_SET_OF_EACH_LIBRARY))
def test_a_wrong_id_is_found_with_each_library(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = A_SET_OF_EACH_LIBRARY[library]
    source = unpacked(name, tmp_path)
    lines = (TOOL.PUBLISHED / f"{name}.jsonl").read_text("utf-8").splitlines()
    at, row = next(
        (at, row)
        for at, row in enumerate(map(json.loads, lines))
        if row.get("flags") == ["pattern"]
    )
    row["ids"][0] += 1
    lines[at] = json.dumps(row)
    (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(TOOL, "PUBLISHED", tmp_path)
    done = TOOL.run_checker(name, library, source)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith(f"row {row['row']} (")
    assert ": 1 of " in done.stdout.splitlines()[-1]


def test_the_table_shows_every_file() -> None:
    page = TOOL.README.read_text(encoding="utf-8")
    assert page == TOOL.with_table(page), "run `make golden-sets`"
    files = {path.stem for path in TOOL.PUBLISHED.glob("*.jsonl")}
    assert files == set(SETS)


def test_the_files_are_small() -> None:
    sizes = [path.stat().st_size for path in TOOL.PUBLISHED.glob("*.jsonl")]
    assert max(sizes) < 120_000
    assert sum(sizes) < 3_000_000


@pytest.mark.parametrize("name", sorted(SETS))
def test_every_file_is_of_this_version(name: str) -> None:
    pins = pw.analysis.Golden.load(TOOL.PUBLISHED / f"{name}.jsonl")
    pins.check_header(None)
    assert pins.tokenizer["name"] == name
    assert not pins.corpus
