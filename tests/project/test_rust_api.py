"""The listing of the crate's public names, and what the crate depends on."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("rust_api")


def test_the_listing_has_functions_fields_variants_and_traits(tool: ModuleType) -> None:
    api = tool.rust_api()
    encode = "<'t>(&self, input: impl Into<EncodeInput<'t>>) -> Result<Encoding, Error>"
    assert api["piecework::Tokenizer::encode"] == encode
    batch = "(&self, inputs: I, options: &EncodeOptions) -> Result<Batch, Error>"
    assert batch in api["piecework::Tokenizer::encode_batch_with"]
    assert api["piecework::Error::place"] == "(&self) -> &str"
    assert api["piecework::ErrorKind::SpecialToken"] == ""
    assert api["piecework::Truncation"] == ""
    assert api["piecework::Truncation::stride"] == "(mut self, stride: usize) -> Self"
    assert api["piecework::EncodeInput as From<&'t String>"] == ""
    assert "piecework::WordPieceTrainer" in api
    assert "piecework::Tokenizer::new" not in api, "what the crate alone sees"
    assert "piecework::Tokenizer::tests" not in api


def test_nothing_of_the_core_is_public(tool: ModuleType) -> None:
    names = " ".join(f"{name} {signature}" for name, signature in tool.rust_api().items())
    assert not re.search(r"piecework_|spec::|engine::|Core", names)


def test_no_dependency_of_the_crate_compiles_c() -> None:
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    dependencies = {
        package["name"]: {name.split()[0] for name in package.get("dependencies", ())}
        for package in lock["package"]
    }
    found, waiting = set(), {"piecework"}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= dependencies[name] - found
    assert "piecework-kernels" in found
    assert found.isdisjoint({"bindgen", "cc", "cmake", "pkg-config"})
