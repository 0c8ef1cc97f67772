"""A public name or signature of the crate that changes is named in the changelog."""

from __future__ import annotations

import importlib
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


@pytest.fixture
def listings(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("public_api")


def test_the_changelog_names_what_differs_from_the_last_release(
    tool: ModuleType, listings: ModuleType
) -> None:
    listed = listings.from_text(tool.LISTING.read_text(encoding="utf-8"))
    changelog = listings.CHANGELOG.read_text(encoding="utf-8")
    missing = listings.unnamed_changes(listed, tool.rust_api(), changelog)
    assert missing == [], f"CHANGELOG.md needs these lines under {listings.HEADING!r}"


def test_the_listing_has_functions_fields_variants_and_traits(
    tool: ModuleType, listings: ModuleType
) -> None:
    api = tool.rust_api()
    assert listings.from_text(listings.as_text(api)) == api
    encode = "<'t>(&self, input: impl Into<EncodeInput<'t>>) -> Result<Encoding, Error>"
    assert api["piecework::Tokenizer::encode"] == encode
    batch = "(&self, inputs: I, options: &EncodeOptions) -> Result<Batch, Error>"
    assert batch in api["piecework::Tokenizer::encode_batch_with"]
    assert api["piecework::Error.place"] == "String"
    assert api["piecework::ErrorKind::SpecialToken"] == ""
    assert api["piecework::spec::ParseSpecial::Refuse"] == ""
    assert api["piecework::spec::Truncation.max_length"] == "usize"
    assert api["piecework::spec::PostProcessorSpec::Roberta.trim_offsets"] == "bool"
    assert api["piecework::spec::AddedToken.special"] == "bool"
    assert api["piecework::spec::AddedToken::special"] == "(content: &str, id: u32) -> Self"
    assert api["piecework::EncodeInput as From<&'t String>"] == ""
    assert {"piecework::spec", "piecework::formats", "piecework::training"} <= api.keys()
    assert "piecework::Tokenizer::new" not in api, "what the crate alone sees"
    assert "piecework::Tokenizer::tests" not in api


def test_a_changed_signature_is_found(tool: ModuleType, listings: ModuleType) -> None:
    before = dict(tool.names_of("impl A {\n    pub fn f(&self) -> u8 {\n    }\n}\n"))
    after = dict(tool.names_of("impl A {\n    pub fn f(&self) -> u16 {\n    }\n}\n"))
    found = listings.unnamed_changes(before, after, "")
    assert found == ["- `A::f`: (&self) -> u8 became (&self) -> u16"]


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
