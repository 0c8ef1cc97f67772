"""A public name or signature that changes is named in the changelog."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
LISTED = {
    "piecework.Tokenizer": "(model)",
    "piecework.Tokenizer.count": "(text)",
    "piecework encode": "",
    "piecework encode --format": "ids|npy",
}


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("public_api")


def changelog(*lines: str) -> str:
    names = "\n".join(f"- `{line}`: changed" for line in lines)
    return f"# Changelog\n\n## [Unreleased]\n\n### Names and signatures\n\n{names}\n\n## [0.1.0]\n"


def test_the_changelog_names_what_differs_from_the_last_release(tool: ModuleType) -> None:
    listed = tool.from_text(tool.LISTING.read_text(encoding="utf-8"))
    missing = tool.unnamed_changes(
        listed, tool.public_api(), tool.CHANGELOG.read_text(encoding="utf-8")
    )
    assert missing == [], f"CHANGELOG.md needs these lines under {tool.HEADING!r}"


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("piecework.Tokenizer.count", None, "- `piecework.Tokenizer.count`: removed"),
        ("piecework.Tokenizer.count", "(t)", "- `piecework.Tokenizer.count`: (text) became (t)"),
        ("piecework.Tokenizer.size", "", "- `piecework.Tokenizer.size`: new"),
        ("piecework encode --format", "ids", "- `piecework encode --format`: ids|npy became ids"),
        ("piecework encode --pack", "flag", "- `piecework encode --pack`: new"),
        ("piecework.Batch", "()", "- `piecework.Batch`: new"),
    ],
)
def test_a_change_without_an_entry_is_found(
    tool: ModuleType, name: str, value: str | None, line: str
) -> None:
    changed = {key: text for key, text in (LISTED | {name: value}).items() if text is not None}
    assert tool.unnamed_changes(LISTED, changed, changelog()) == [line]
    assert tool.unnamed_changes(LISTED, changed, changelog("piecework.Other")) == [line]
    assert tool.unnamed_changes(LISTED, changed, changelog(name)) == []


def test_entries_of_a_released_version_do_not_count(tool: ModuleType) -> None:
    released = changelog().replace("[0.1.0]", "[0.1.0]\n\n- `piecework encode`")
    without = {name: text for name, text in LISTED.items() if not name.startswith("piecework ")}
    assert tool.unnamed_changes(LISTED, without, released) == ["- `piecework encode`: removed"]


def test_a_listing_keeps_names_and_signatures(tool: ModuleType) -> None:
    api = tool.public_api()
    assert tool.from_text(tool.as_text(api)) == api
    assert api["piecework.Tokenizer.token_to_id"] == "(token)"
    assert api["piecework.train.Counts"] == "is piecework.Counts"
    assert api["piecework encode --encoding-errors"] == "replace|strict, default replace"


def test_a_release_needs_its_heading(tool: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["public_api.py", "--release"])
    with pytest.raises(SystemExit, match=r"under \[Unreleased\], expected it under a version"):
        tool.main()
