"""The corpus and tokenizer of these tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from piecework.cli.app import run
from tests.cli.commands.streams import PMI, SENTENCES


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    path = tmp_path / "corpus.txt"
    path.write_text(SENTENCES)
    return str(path)


@pytest.fixture
def tokenizer(corpus: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    path = str(tmp_path / "tokenizer.json")
    assert run(["train", corpus, *PMI, "-o", path]) == 0
    capsys.readouterr()
    return path
