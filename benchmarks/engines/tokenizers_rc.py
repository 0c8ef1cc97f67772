"""The 1.0 pre-release of tokenizers, which needs an interpreter of its own.

PIECEWORK_BENCH_PYTHON_TOKENIZERS_RC names it; `tokenizers` itself is the stable line.
"""

from __future__ import annotations

from array import array
from itertools import chain
from pathlib import Path
from typing import Any

import tokenizers as peer

if peer.__version__.startswith("0."):
    raise ModuleNotFoundError(f"found tokenizers {peer.__version__}, expected a release of 1.0")


def version() -> str:
    """Return the version that runs."""
    return peer.__version__


def start(path: Path) -> str:
    """Return the program that a user would write to import and load."""
    return f"import tokenizers; tokenizers.Tokenizer.from_file({str(path)!r})"


def load(path: Path) -> Any:
    """Load a `tokenizer.json`."""
    return peer.Tokenizer.from_file(str(path))


def encode(tokenizer: Any, texts: list[str], threads: int) -> Any:
    """Encode without special tokens; threads are set by the environment."""
    return tokenizer.encode_batch(texts, add_special_tokens=False)


def flat_ids(result: Any) -> Any:
    """Return the ids of all texts as one buffer of 32-bit integers."""
    return array("I", chain.from_iterable(encoding.ids for encoding in result))


def lists(tokenizer: Any, texts: list[str], threads: int) -> list[list[int]]:
    """Encode into Python lists."""
    return [encoding.ids for encoding in encode(tokenizer, texts, threads)]


def encode_one(tokenizer: Any, text: str) -> Any:
    """Encode one text, to its ids."""
    return tokenizer.encode(text, add_special_tokens=False).ids
