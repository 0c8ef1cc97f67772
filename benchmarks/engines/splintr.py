"""splintr, on one thread; ranks are read as ranks, other vocabularies from their `tokenizer.json`."""

from __future__ import annotations

from array import array
from importlib.metadata import version as installed_version
from itertools import chain
from pathlib import Path
from typing import Any

import splintr as peer

PATTERNS = {"cl100k": "CL100K_BASE_PATTERN"}


def version() -> str:
    """Return the version that runs."""
    return installed_version("splintr-rs")


def start(path: Path) -> str:
    """Return the program that a user would write to import and load."""
    pattern = PATTERNS.get(path.stem)
    if pattern is None:
        return f"import splintr; splintr.from_json({str(path)!r})"
    ranks = str(path.with_suffix(".tiktoken"))
    return f"import splintr; splintr.Tokenizer({ranks!r}, splintr.{pattern})"


def load(path: Path) -> Any:
    """Load a `tokenizer.json`."""
    return peer.from_json(str(path))


def encode(tokenizer: Any, texts: list[str], threads: int) -> Any:
    """Encode without special tokens, into Python lists: its flat arrays have them."""
    return [tokenizer.encode_raw(text) for text in texts]


def flat_ids(result: Any) -> Any:
    """Return the ids of all texts as one buffer of 32-bit integers."""
    return array("I", chain.from_iterable(result))
