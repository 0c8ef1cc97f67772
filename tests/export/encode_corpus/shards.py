"""A corpus of four files, and what folders of shards hold."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import piecework as pw
from piecework.export import (
    read_ids,
)

FORMATS = list(pw.export.SHARD_FORMATS)


Rows = list[list[int]]


def sentences(count: int, seed: int) -> list[str]:
    """Return lines of very different lengths."""
    draw = random.Random(seed)
    words = ["hug", "hugs", "hugging", "a", "cafe", "!", "internationalization", "b c"]
    lengths = [draw.choice([0, 1, 3, 10, 40, 400 * (draw.random() < 0.02)]) for _ in range(count)]
    return [" ".join(draw.choices(words, k=length)) for length in lengths]


def texts_of(paths: list[Path]) -> list[str]:
    texts = [text for rows in pw.corpus.read_corpus(paths) for text in rows.texts]
    return [text for text in texts if text.strip()]


def ids_of(tok: pw.Tokenizer, texts: list[str]) -> Rows:
    return tok.encode_batch(texts).to_lists()


def content(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def main_files(folder: Path) -> list[Path]:
    """Return one file of each shard, in the order of the manifest."""
    manifest = json.loads((folder / "manifest.json").read_text())
    return [folder / shard["files"][0]["name"] for shard in manifest["shards"]]


def rows_in(path: Path) -> Rows:
    return [row for rows in read_ids(path) for row in rows]


def all_rows(folder: Path) -> Rows:
    return [row for path in main_files(folder) for row in rows_in(path)]


class StoppedError(Exception):
    """Raised by a test in place of a crash."""


def stop_after(batches: int, error: type[BaseException] = StoppedError) -> Any:
    """Return a progress function that raises after some batches."""
    seen = 0

    def progress(done: int, total: int) -> None:
        nonlocal seen
        seen += 1
        if seen == batches:
            raise error

    return progress
