"""BlingFire, by its own model of bert-base-uncased, the only one of the definitions' that it has."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

import blingfire as peer
import numpy as np

MODELS = ("wordpiece",)
FILES = {"bert-base-uncased": "bert_base_tok.bin"}


def version() -> str:
    """Return the version that runs."""
    return installed_version("blingfire")


def start(path: Path) -> str:
    """Return the program that a user would write to import and load."""
    package = "os.path.dirname(blingfire.__file__)"
    model = f"os.path.join({package}, {FILES[path.stem]!r})"
    return f"import os, blingfire; blingfire.load_model({model})"


def load(path: Path) -> Any:
    """Load the model that comes with the package."""
    return peer.load_model(str(Path(peer.__file__).parent / FILES[path.stem]))


def encode(tokenizer: Any, texts: list[str], threads: int) -> Any:
    """Encode into one array a text."""
    return [encode_one(tokenizer, text) for text in texts]


def flat_ids(result: Any) -> Any:
    """Return the ids of all texts as one buffer of 32-bit integers."""
    return np.concatenate(result)


def encode_one(tokenizer: Any, text: str) -> Any:
    """Encode one text, to its ids; no text has more tokens than bytes."""
    return peer.text_to_ids(tokenizer, text, 4 * len(text) + 1, unk=100, no_padding=True)
