"""flash-tokenizer, WordPiece only, by the `.txt` beside the `tokenizer.json`.

It adds the tokens around each text whatever it is told; they are taken away after the measurement.
"""

from __future__ import annotations

from array import array
from importlib.metadata import version as installed_version
from itertools import chain
from pathlib import Path
from typing import Any

from flash_tokenizer import BertTokenizerFlash

MODELS = ("wordpiece",)
NO_LIMIT = 10**9


def version() -> str:
    """Return the version that runs."""
    return installed_version("flash-tokenizer")


def start(path: Path) -> str:
    """Return the program that a user would write to import and load."""
    vocabulary = str(path.with_suffix(".txt"))
    return f"from flash_tokenizer import BertTokenizerFlash; BertTokenizerFlash({vocabulary!r})"


def load(path: Path) -> Any:
    """Load the vocabulary, as lowercase as it is."""
    vocabulary = str(path.with_suffix(".txt"))
    return BertTokenizerFlash(vocabulary, do_lower_case=True, model_max_length=NO_LIMIT)


def encode(tokenizer: Any, texts: list[str], threads: int) -> Any:
    """Encode into Python lists, which is what it gives."""
    return tokenizer(
        texts,
        padding="do_not_pad",
        max_length=NO_LIMIT,
        return_token_type_ids=False,
        return_attention_mask=False,
        do_multiprocess=threads > 1,
    )["input_ids"]


def flat_ids(result: Any) -> Any:
    """Return the ids of all texts as one buffer of 32-bit integers."""
    return array("I", chain.from_iterable(row[1:-1] for row in result))


def encode_one(tokenizer: Any, text: str) -> Any:
    """Encode one text, to its ids."""
    return encode(tokenizer, [text], 1)[0]
