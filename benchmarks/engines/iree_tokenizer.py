"""iree-tokenizer, by its flat arrays; it has one thread."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

from iree.tokenizer import Tokenizer


def version() -> str:
    """Return the version that runs."""
    return installed_version("iree-tokenizer")


def start(path: Path) -> str:
    """Return the program that a user would write to import and load."""
    return f"from iree.tokenizer import Tokenizer; Tokenizer.from_file({str(path)!r})"


def load(path: Path) -> Any:
    """Load a `tokenizer.json`."""
    return Tokenizer.from_file(str(path))


def encode(tokenizer: Any, texts: list[str], threads: int) -> Any:
    """Encode without special tokens."""
    return tokenizer.encode_batch_to_array(texts)


def flat_ids(result: Any) -> Any:
    """Return the ids of all texts as one buffer of 32-bit integers."""
    return result[0]


def lists(tokenizer: Any, texts: list[str], threads: int) -> list[list[int]]:
    """Encode into Python lists."""
    return tokenizer.encode_batch(texts)


def encode_one(tokenizer: Any, text: str) -> Any:
    """Encode one text, to its ids."""
    return tokenizer.encode(text)
