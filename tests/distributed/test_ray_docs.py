"""The page of docs/ about Ray runs, and prints what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.test_docs import NEED_RAY, ROOT, run_page


@pytest.mark.parametrize("name", NEED_RAY)
def test_examples_run_and_print_what_they_show(
    name: str, english_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_page(ROOT / name, english_corpus, tmp_path, monkeypatch)
