"""The tokenizer and corpus of these tests, encoded in small batches."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import piecework as pw
from piecework.export import input_lines as lines_module
from piecework.export import shards as shards_module
from tests.export.encode_corpus.shards import sentences


@pytest.fixture(scope="module")
def tok() -> pw.Tokenizer:
    return pw.Tokenizer.train_from_iterator(sentences(300, 1), vocab_size=120)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Plain text, compressed text, an empty file, and JSON lines."""
    folder = tmp_path_factory.mktemp("corpus")
    paths = [folder / name for name in ("a.txt", "b.txt.gz", "c.txt", "d.jsonl")]
    paths[0].write_text("\n".join(sentences(900, 2)) + "\n")
    paths[1].write_bytes(gzip.compress("\n".join(sentences(700, 3)).encode()))
    paths[2].touch()
    objects = [{"text": text, "n": index} for index, text in enumerate(sentences(800, 4))]
    paths[3].write_text("".join(json.dumps(item) + "\n" for item in objects))
    return paths


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks and batches so small that a few kilobytes are many."""
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", 2048)
    monkeypatch.setattr("piecework.corpus.rows.READ_BYTES_OF_LINES", 512)
    monkeypatch.setattr(shards_module, "BATCH_BYTES", 4096)
