"""tokie, by its flat arrays; threads are set by the environment."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

import tokie as peer

INPUTS = ("str", "file")


def version() -> str:
    """Return the version that runs."""
    return installed_version("tokie")


def start(path: Path) -> str:
    """Return the program that a user would write to import and load."""
    return f"import tokie; tokie.Tokenizer.from_json({str(path)!r})"


def load(path: Path) -> Any:
    """Load a `tokenizer.json`."""
    return peer.Tokenizer.from_json(str(path))


def encode(tokenizer: Any, texts: list[str], threads: int) -> Any:
    """Encode without special tokens."""
    return tokenizer.encode_batch_flat(texts, add_special_tokens=False)


def flat_ids(result: Any) -> Any:
    """Return the ids of all texts as one buffer of 32-bit integers."""
    return result[0]


def file_source(path: Path) -> str:
    """Return the name of a file."""
    return str(path)


def encode_file(tokenizer: Any, path: str, threads: int) -> Any:
    """Encode the lines of a file without special tokens, into flat arrays."""
    return tokenizer.encode_files([path], separator=b"\n", add_special_tokens=False)


def lists(tokenizer: Any, texts: list[str], threads: int) -> list[list[int]]:
    """Encode into Python lists."""
    return [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]


def encode_one(tokenizer: Any, text: str) -> Any:
    """Encode one text, to its ids."""
    return tokenizer.encode(text, add_special_tokens=False).ids
