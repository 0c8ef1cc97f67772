"""Every example of the README and docs/ is run, so that none of them can grow old.

`python` blocks of a file run in order in one namespace, in a folder that holds `corpus.txt`; blocks
with `>>>` are checked as doctests. `console` blocks are not run, but each option of their
`piecework` commands must be one that the command has.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOUR = ROOT / "python" / "piecework" / "reference" / "README.md"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", TOUR, *sorted((ROOT / "docs").rglob("*.md"))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page: Path, language: str) -> Iterator[tuple[int, str]]:
    """Yield the fenced blocks of one language with the line each starts at."""
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        yield text.count("\n", 0, match.start(1)) + 1, match[1]


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if any(blocks(page, language))]


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("python"), ids=page_name)
def test_python_examples_run(
    page: Path, english_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "corpus.txt").write_bytes(english_corpus.read_bytes())
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line, code in blocks(page, "python"):
            run_block(page, line, code, namespace)


def run_block(page: Path, line: int, code: str, namespace: dict[str, object]) -> None:
    """Run one block: as a doctest when it holds prompts, as a program otherwise."""
    if ">>>" not in code:
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
        return
    test = doctest.DocTestParser().get_doctest(code, {}, page_name(page), str(page), line - 1)
    test.globs = namespace
    output: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=FLAGS).run(
        test, out=output.append, clear_globs=False
    )
    assert not failed, "".join(output)


def piecework_commands(page: Path) -> Iterator[tuple[int, str]]:
    """Yield the `piecework ...` commands of the console blocks, continued lines joined."""
    for line, block in blocks(page, "console"):
        for command in re.findall(
            r"^\$ (.*\bpiecework .*)$", block.replace("\\\n", " "), re.MULTILINE
        ):
            yield line, command


@cache
def help_text(verb: str) -> str:
    """Return the help of a verb, wide enough that no option is folded."""
    result = subprocess.run(
        [sys.executable, "-c", "from piecework.cli import main; main()", verb, "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"},
    )
    return result.stdout


@pytest.mark.parametrize("page", pages_with("console"), ids=page_name)
def test_console_examples_use_options_that_exist(page: Path) -> None:
    wrong = []
    for line, command in piecework_commands(page):
        for verb, rest in re.findall(r"\bpiecework\s+([a-z]+)\b([^|>]*)", command):
            known = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", help_text(verb)))
            used = re.findall(r"(?<=\s)--?[a-zA-Z][\w-]*", rest)
            wrong += [f"line {line}: {verb} {option}" for option in used if option not in known]
    assert wrong == []


LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#]+)")


@pytest.mark.parametrize("page", [*PAGES, ROOT / "ARCHITECTURE.md"], ids=page_name)
def test_links_between_documents_lead_somewhere(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
