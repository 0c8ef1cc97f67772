"""tiktoken, from the ranks that lie beside the `tokenizer.json`, special tokens left aside."""

from __future__ import annotations

import json
from array import array
from itertools import chain
from pathlib import Path
from typing import Any

import tiktoken as peer
from tiktoken.load import load_tiktoken_bpe

MODELS = ("byte-bpe",)
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def version() -> str:
    """Return the version that runs."""
    return peer.__version__


def start(path: Path) -> str:
    """Return the program that a user would write to import and load."""
    ranks = str(path.with_suffix(".tiktoken"))
    return (
        "import tiktoken; from tiktoken.load import load_tiktoken_bpe\n"
        f"tiktoken.Encoding('x', pat_str={pattern(path)!r}, special_tokens={{}},"
        f" mergeable_ranks=load_tiktoken_bpe({ranks!r}))"
    )


def load(path: Path) -> Any:
    """Load ranks and the pattern of the `tokenizer.json`."""
    return peer.Encoding(
        path.stem,
        pat_str=pattern(path),
        mergeable_ranks=load_tiktoken_bpe(str(path.with_suffix(".tiktoken"))),
        special_tokens={},
    )


def pattern(path: Path) -> str:
    """Return the pattern of a `tokenizer.json`; a byte level alone stands for GPT-2's."""
    stages = json.loads(path.read_text(encoding="utf-8"))["pre_tokenizer"].get("pretokenizers")
    return stages[0]["pattern"]["Regex"] if stages else GPT2


def encode(tokenizer: Any, texts: list[str], threads: int) -> Any:
    """Encode: on one thread a plain loop is faster than its batch."""
    if threads == 1:
        return [tokenizer.encode_ordinary(text) for text in texts]
    return tokenizer.encode_ordinary_batch(texts, num_threads=threads)


def flat_ids(result: Any) -> Any:
    """Return the ids of all texts as one buffer of 32-bit integers."""
    return array("I", chain.from_iterable(result))


def lists(tokenizer: Any, texts: list[str], threads: int) -> list[list[int]]:
    """Encode into Python lists, which is what it gives."""
    return encode(tokenizer, texts, threads)


def encode_one(tokenizer: Any, text: str) -> Any:
    """Encode one text, to its ids."""
    return tokenizer.encode_ordinary(text)


def rows(result: Any) -> Any:
    """Return the ids as `decode` takes them."""
    return result


def decode(tokenizer: Any, encoded: Any) -> list[str]:
    """Decode every row on one thread."""
    return tokenizer.decode_batch(encoded, num_threads=1)
