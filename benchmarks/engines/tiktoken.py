"""tiktoken, from the ranks that lie beside the `tokenizer.json`, special tokens left aside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tiktoken as peer
from tiktoken.load import load_tiktoken_bpe

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def version() -> str:
    """Return the version that runs."""
    return peer.__version__


def load(path: Path) -> Any:
    """Load ranks and the pattern of the `tokenizer.json`; a byte level alone stands for GPT-2's."""
    stages = json.loads(path.read_text(encoding="utf-8"))["pre_tokenizer"].get("pretokenizers")
    return peer.Encoding(
        path.stem,
        pat_str=stages[0]["pattern"]["Regex"] if stages else GPT2,
        mergeable_ranks=load_tiktoken_bpe(str(path.with_suffix(".tiktoken"))),
        special_tokens={},
    )


def encode(tokenizer: Any, texts: list[str]) -> Any:
    """Encode on one thread."""
    return tokenizer.encode_ordinary_batch(texts, num_threads=1)


def count_tokens(result: Any) -> int:
    """Return how many tokens `encode` made."""
    return sum(map(len, result))


def ids(result: Any) -> Any:
    """Return the ids as `decode` takes them."""
    return result


def decode(tokenizer: Any, rows: Any) -> list[str]:
    """Decode every row on one thread."""
    return tokenizer.decode_batch(rows, num_threads=1)
