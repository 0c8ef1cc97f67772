"""fastokens, by its fastest route (`encode_batch_flat`); threads are set by the environment."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

import fastokens as peer

MODELS = ("byte-bpe", "sentencepiece-bpe")


def version() -> str:
    """Return the version that runs."""
    return installed_version("fastokens")


def start(path: Path) -> str:
    """Return the program that a user would write to import and load."""
    return f"import fastokens; fastokens.Tokenizer.from_file({str(path)!r})"


def load(path: Path) -> Any:
    """Load a `tokenizer.json`."""
    return peer.Tokenizer.from_file(str(path))


def encode(tokenizer: Any, texts: list[str], threads: int) -> Any:
    """Encode without special tokens."""
    return tokenizer.encode_batch_flat(texts)


def flat_ids(result: Any) -> Any:
    """Return the ids of all texts as one buffer of 32-bit integers."""
    return memoryview(result[0]).cast("I")


def lists(tokenizer: Any, texts: list[str], threads: int) -> list[list[int]]:
    """Encode into Python lists."""
    return [encoding.ids for encoding in tokenizer.encode_batch(texts)]


def encode_one(tokenizer: Any, text: str) -> Any:
    """Encode one text, to its ids."""
    return tokenizer.encode_ordinary(text)
