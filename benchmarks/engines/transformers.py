"""transformers, by a call of a fast tokenizer."""

from __future__ import annotations

from array import array
from itertools import chain
from pathlib import Path
from typing import Any

import transformers as peer

SCORES = ()


def version() -> str:
    """Return the version that runs."""
    return peer.__version__


def load_for_calls(path: Path) -> Any:
    """Load a `tokenizer.json`."""
    return peer.TokenizersBackend(tokenizer_file=str(path))


def call(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    """Call the tokenizer; threads are set by the environment."""
    return tokenizer(texts, add_special_tokens=False)["input_ids"]


def load_truncating(path: Path, max_length: int) -> Any:
    """Load a `tokenizer.json`; the length is that of each call."""
    return load_for_calls(path), max_length


def encode_truncated(tokenizer: Any, texts: list[str], threads: int) -> list[list[int]]:
    """Call the tokenizer; threads are set by the environment."""
    call_tokenizer, max_length = tokenizer
    return call_tokenizer(texts, truncation=True, max_length=max_length)["input_ids"]


def flat_ids(result: list[list[int]]) -> Any:
    """Return the ids of all texts as one buffer of 32-bit integers."""
    return array("I", chain.from_iterable(result))
