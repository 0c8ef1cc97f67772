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
    assert api["piecework.analysis.training_example -> TrainingExample"] == (
        "name counts trainer texts preset"
    )
    lines = tool.as_text(api).splitlines()
    assert len(lines) == len(api)
    assert {"piecework encode", "piecework.Tokenizer.token_to_id: (token)"} <= {*lines}


def test_classes_that_are_only_returned_are_listed_and_documented(tool: ModuleType) -> None:
    returned = importlib.import_module("returned_classes").returned_classes
    modules = map(importlib.import_module, tool.MODULES)
    exported = {module: tool.public_names(module) for module in modules}
    classes = {one.cls.__name__: one for one in returned(exported)}
    assert classes["Comparison"].functions == ("compare",)
    assert classes["Measures"].module == "piecework.analysis"
    assert {"fertility", "charged_tokens", "to_dict()"} <= {*classes["Measures"].members()}
    assert "Encoding" not in classes
    assert not [name for name, one in classes.items() if not one.cls.__doc__]
