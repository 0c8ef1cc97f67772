"""Examples of the page about other libraries run with these, which `make test-clients` installs."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import data
from tests.project.test_docs import ROOT, blocks

PAGE = ROOT / "docs" / "how-to" / "other-libraries.md"
EXAMPLES = list(blocks(PAGE, "py"))
IMPORT = re.compile(r"^(?:import|from) (\w+)", re.MULTILINE)
# One example replaces a module before another imports it, and reads ranks.
REPLACED = ("tiktoken", "tokencost")
RANKS = "vocab/tiktoken/cl100k_base.tiktoken"


def libraries(example: str) -> list[str]:
    """Return the modules that an example imports, without those that are always here."""
    names = dict.fromkeys(IMPORT.findall(example))
    return [name for name in names if name not in ("piecework", *sys.stdlib_module_names)]


@pytest.fixture(scope="module")
def names(english_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what the first example of the page defines."""
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("page")
    (folder / "corpus.txt").write_bytes(english_corpus.read_bytes()[:200_000])
    [(_, _, setup), *_] = blocks(PAGE, "python")
    defined: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(setup, defined)
    return defined


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("example", [text for *_, text in EXAMPLES], ids=lambda e: libraries(e)[0])
def test_a_library_takes_a_tokenizer(
    example: str, names: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for library in libraries(example):
        pytest.importorskip(library, reason="installed by `make test-clients`")
    if 'sys.modules["tiktoken"]' in example:
        monkeypatch.setenv("PIECEWORK_TIKTOKEN_DIR", str(data.need(RANKS).parent))
        for name in [name for name in sys.modules if name.split(".")[0] in REPLACED]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "tiktoken", None)
    monkeypatch.chdir(tmp_path)
    used = set(re.findall(r"\w+", example))
    # Processes of `datasets` receive all names beside a function.
    exec(example, {name: value for name, value in names.items() if name in used})


def test_every_library_of_the_table_has_an_example() -> None:
    lines = PAGE.read_text(encoding="utf-8").partition("|---|---|\n")[2].partition("\n\n")[0]
    named = [re.split(r"[:,]", line.split("|")[1])[0] for line in lines.splitlines()]
    letters = [re.sub(r"[^a-z]", "", name.lower()) for name in named]
    imported = {name.replace("_", "") for *_, text in EXAMPLES for name in libraries(text)}
    imported.add("scikitlearn")  # imported as sklearn
    assert len(letters) == 16
    assert [name for name in letters if not any(each.startswith(name) for each in imported)] == []
