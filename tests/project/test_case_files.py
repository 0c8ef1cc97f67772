"""The reader of `conformance/` refuses what no test would read or check."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.case_files import CASES, CONFORMANCE, check_cases, read_cases

# `published/` has golden files, and the list that they are made from.
FILES = sorted(
    str(path.relative_to(CONFORMANCE))
    for path in CONFORMANCE.rglob("*.toml")
    if path.parent.name != "published"
)
VALID: dict[str, Any] = {
    "case": [
        {
            "row": "W1",
            "name": "a case",
            "vocab": ["[UNK]", "a"],
            "examples": [{"text": "a", "ids": [1]}],
        }
    ]
}


@pytest.mark.parametrize("name", FILES)
def test_every_file_has_known_keys_and_expectations(name: str) -> None:
    assert read_cases(name)["case"]


def test_every_file_is_listed() -> None:
    assert {name.split("/")[0] for name in FILES} == set(CASES)


def changed(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """Return the valid content with one entry set; None removes it."""
    content = copy.deepcopy(VALID)
    table: Any = content
    for key in path[:-1]:
        table = table[key]
    if value is None:
        del table[path[-1]]
    else:
        table[path[-1]] = value
    return content


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        (("case", 0, "modle"), {}, "a case: unknown key 'modle'"),
        (("case", 0, "row"), None, "a case: no key 'row'"),
        (("case", 0, "vocab"), None, "a case: none of vocab, vocab_of"),
        (("case", 0, "vocab"), [], "a case: 'vocab' is empty"),
        (("case", 0, "examples"), [], "a case: 'examples' is empty"),
        (("case", 0, "examples", 0, "id"), [1], "a case, example 0: unknown key 'id'"),
        (("case", 0, "examples", 0, "ids"), None, "none of tokens, ids, offsets, count"),
        (("case", 0, "engines"), ["cor"], "engines must be .*, not \\['cor'\\]"),
        (("case", 0, "engines"), [], "engines must be .*, not \\[\\]"),
        (("case",), [], "no case"),
        (("cases",), VALID["case"], "unknown kind 'cases'"),
        (("case",), VALID["case"] * 2, "'a case' twice"),
    ],
)
def test_unknown_keys_and_missing_expectations_are_refused(
    path: tuple[Any, ...], value: Any, fault: str
) -> None:
    check_cases("encoding.toml", VALID)
    with pytest.raises(ValueError, match=fault):
        check_cases("encoding.toml", changed(path, value))
