"""transformers, by a call of a fast tokenizer."""

from __future__ import annotations

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
