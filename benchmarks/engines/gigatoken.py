"""gigatoken, which trains from the file itself."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from pathlib import Path
from time import perf_counter
from typing import Any

import awkward
import gigatoken as peer
import numpy as np

MODELS = ("byte-bpe", "sentencepiece-bpe")
SCORES = ("byte-bpe",)
INPUTS = ("str", "buffer", "file")


def version() -> str:
    """Return the version that runs."""
    return installed_version("gigatoken")


def start(path: Path) -> str:
    """Return the program that a user would write to import and load."""
    return f"import gigatoken; gigatoken.Tokenizer.from_json(open({str(path)!r}, 'rb').read())"


def load(path: Path) -> Any:
    """Load a `tokenizer.json`."""
    return peer.Tokenizer.from_json(path.read_bytes())


def encode(tokenizer: Any, texts: list[str], threads: int) -> Any:
    """Encode into its own arrays."""
    return tokenizer.encode_batch(texts, parallel=threads > 1)


def flat_ids(result: Any) -> Any:
    """Return the ids of all texts as one buffer of 32-bit integers."""
    return awkward.to_numpy(awkward.flatten(result))


def buffer(texts: list[str]) -> Any:
    """Return the texts as an awkward array of strings: one buffer of UTF-8, 64-bit offsets."""
    encoded = [text.encode() for text in texts]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    contents = awkward.contents
    characters = contents.NumpyArray(
        np.frombuffer(b"".join(encoded), np.uint8), parameters={"__array__": "char"}
    )
    strings = contents.ListOffsetArray(
        awkward.index.Index64(offsets), characters, parameters={"__array__": "string"}
    )
    return awkward.Array(strings)


def encode_buffer(tokenizer: Any, strings: Any, threads: int) -> Any:
    """Encode an awkward array of strings into its own arrays."""
    return tokenizer.encode_batch(strings, parallel=threads > 1)


def file_source(path: Path) -> Any:
    """Return a file that has a document on each line."""
    return peer.TextFileSource([path], separator="\n")


def encode_file(tokenizer: Any, source: Any, threads: int) -> Any:
    """Encode the documents of a file into its own arrays."""
    return tokenizer.encode_files(source, parallel=threads > 1)


def lists(tokenizer: Any, texts: list[str], threads: int) -> list[list[int]]:
    """Encode into Python lists."""
    return tokenizer.encode_batch_list(texts, parallel=threads > 1)


def encode_one(tokenizer: Any, text: str) -> Any:
    """Encode one text, to its ids as a numpy array."""
    return tokenizer.encode(text)


def train(corpus: Path, score: str, vocab_size: int, min_frequency: int) -> dict[str, float]:
    """Learn from a file; it knows no least frequency, so that must be 1."""
    assert (score, min_frequency) == ("byte-bpe", 1)
    start = perf_counter()
    vocab, _merges = peer.train_bpe(str(corpus), vocab_size, [])
    return {"entries": len(vocab), "total_s": perf_counter() - start}
