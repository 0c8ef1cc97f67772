"""nanotoken, by its flat arrays: WordPiece only."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

import nanotoken as peer

MODELS = ("wordpiece",)


def version() -> str:
    """Return the version that runs."""
    return installed_version("nanotoken")


def load(path: Path) -> Any:
    """Load a `tokenizer.json`."""
    return peer.Tokenizer.from_json(path.read_text(encoding="utf-8")).backend


def encode(tokenizer: Any, texts: list[str], threads: int) -> Any:
    """Encode without special tokens, into flat arrays."""
    return tokenizer.encode_batch(texts, add_special_tokens=False, parallel=threads > 1)


def load_truncating(path: Path, max_length: int) -> Any:
    """Load a `tokenizer.json`; the length is that of each call."""
    return peer.Tokenizer.from_json(path.read_text()).backend, max_length


def encode_truncated(tokenizer: Any, texts: list[str], threads: int) -> Any:
    """Encode with special tokens on one thread, truncated, into flat arrays."""
    backend, max_length = tokenizer
    return backend.encode_batch(texts, max_length=max_length, parallel=threads > 1)


def flat_ids(result: Any) -> Any:
    """Return the ids of all texts as one buffer of 32-bit integers."""
    return result[0]
