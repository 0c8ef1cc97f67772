"""The files of these tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.start.command_names import TEXT


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT * 20)
    return str(path)
