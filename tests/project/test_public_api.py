"""The listing of public names has functions, classes and commands."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("public_api")


def test_a_listing_has_names_and_signatures(tool: ModuleType) -> None:
    api = tool.public_api()
    assert api["piecework.Tokenizer.token_to_id"] == "(token)"
    assert api["piecework.train.Counts"] == "is piecework.Counts"
    assert api["piecework encode --encoding-errors"] == "replace|strict, default replace"
    assert api["piecework encode"] == ""
    lines = tool.as_text(api).splitlines()
    assert len(lines) == len(api)
    assert {"piecework encode", "piecework.Tokenizer.token_to_id: (token)"} <= {*lines}
