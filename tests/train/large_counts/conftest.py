"""The corpus of these tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from piecework.train import Counts, count_files
from tests.train.large_counts.counted import numbered_words


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three files of plain text and one of JSON lines, 12 MB in all."""
    folder = tmp_path_factory.mktemp("corpus")
    paths = [folder / f"{name}.txt" for name in "abc"]
    for seed, path in enumerate(paths):
        path.write_text(numbered_words(120_000, seed))
    texts = numbered_words(60_000, 7).splitlines()
    lines = folder / "d.jsonl"
    lines.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return [*paths, lines]


@pytest.fixture(scope="module")
def plain(corpus: list[Path]) -> Counts:
    """The counts without a limit that matters."""
    return count_files(corpus, preset="whitespace", memory="4GB", num_threads=1)
