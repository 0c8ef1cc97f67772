"""Every example of the README and of docs/ is run, and what it shows is compared with what it prints.

The `python` and `console` blocks of a page run in order: in one namespace, in one folder, which holds
`corpus.txt`. Blocks with `>>>` are doctests. A console command that shows output must print it, on stdout
and stderr together; one that shows none must succeed. `...` stands for any output. `sh` blocks are not run,
because they need files or programs that the tests lack; their options must exist.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import pytest

from piecework import reference
from piecework.cli.app import VERBS, run
from piecework.train import LEARNERS, Learner
from piecework.train.trainers import TRAINERS

ROOT = Path(__file__).parents[2]
TOUR = ROOT / "python" / "piecework" / "reference" / "README.md"
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")),
    TOUR,
    ROOT / "tools" / "docs_site" / "home.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
# Run by `make test-torch`.
NEED_TORCH = (
    "docs/how-to/adapt-a-model.md",
    "docs/how-to/train-a-bert.md",
    "docs/how-to/train-with-torch.md",
)
# Run by `make test-ray` and `make test-spark`.
NEED_RAY = ("docs/how-to/count-with-ray.md",)
NEED_SPARK = ("docs/how-to/count-with-spark.md",)
# Run by `make test-embeddings`.
NEED_EMBEDDINGS = ("docs/how-to/embed-texts.md",)
NEED_OTHER_PACKAGES = (*NEED_TORCH, *NEED_RAY, *NEED_SPARK, *NEED_EMBEDDINGS)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
RUNS = "python|console"
GENERATORS = {
    "tools/reference_pages.py": ["--check"],
    "tools/train_settings.py": ["--check"],
    "tools/public_api.py": ["--check"],
    "tools/rust_api.py": ["--check"],
    "tools/c_reference.py": ["--check"],
    "tools/third_party.py": ["--check"],
    "tools/pypi_page.py": ["--check"],
    "benchmarks/speed_chart.py": ["--check"],
    "benchmarks/language_model_report.py": ["--check"],
}


def blocks(page: Path, languages: str) -> Iterator[tuple[int, str, str]]:
    """Yield the fenced blocks of some languages: the line each starts at, its language and its text."""
    text = page.read_text(encoding="utf-8")
    fence = rf"^```({languages})\n(.*?)^```$"
    for match in re.finditer(fence, text, re.DOTALL | re.MULTILINE):
        yield text.count("\n", 0, match.start(2)) + 1, match[1], match[2]


def pages_with(languages: str) -> list[Path]:
    return [page for page in PAGES if any(blocks(page, languages))]


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in pages_with(RUNS) if page_name(page) not in NEED_OTHER_PACKAGES],
    ids=page_name,
)
def test_examples_run_and_print_what_they_show(
    page: Path, english_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_page(page, english_corpus, tmp_path, monkeypatch)


def run_page(
    page: Path, english_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run the examples of a page in order, in a folder that holds `corpus.txt`."""
    (tmp_path / "corpus.txt").write_bytes(english_corpus.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{folder_with_piecework(tmp_path)}{os.pathsep}{os.environ['PATH']}")
    namespace: dict[str, object] = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line, language, code in blocks(page, RUNS):
            if language == "console":
                run_console(page, line, code)
            else:
                run_python(page, line, code, namespace)


def run_python(page: Path, line: int, code: str, namespace: dict[str, object]) -> None:
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


def run_console(page: Path, line: int, block: str) -> None:
    """Run the commands of one block in bash and compare what they show."""
    for command, expected in commands_with_output(block):
        done = subprocess.run(
            ["bash", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"},
        )
        place = f"{page_name(page)}, line {line}: {command}\n{done.stdout}"
        if expected:
            assert doctest.OutputChecker().check_output(expected, done.stdout, FLAGS), place
        else:
            assert done.returncode == 0, place


def commands_with_output(block: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block with the output shown below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        match = re.match(r"((?:.*\\\n)*.*\n)", part)
        assert match
        yield match[1].strip(), part[match.end() :]


def folder_with_piecework(folder: Path) -> Path:
    """Write the commands `piecework` and `python` of this interpreter into a folder, for the PATH."""
    bin_folder = folder / ".bin"
    bin_folder.mkdir()
    for name, arguments in (("piecework", "-m piecework "), ("python", "")):
        command = bin_folder / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments}"$@"\n')
        command.chmod(0o755)
    return bin_folder


def piecework_commands(page: Path) -> Iterator[tuple[int, str]]:
    """Yield the `piecework ...` commands of the console and sh blocks, continued lines joined."""
    for line, _, block in blocks(page, "console|sh"):
        for command in re.findall(
            r"^\$ (.*\bpiecework .*)$", block.replace("\\\n", " "), re.MULTILINE
        ):
            yield line, command


@cache
def help_text(*command: str) -> str:
    """Return the help of a command, wide enough that no option is folded."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as output:
        for name, value in {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}.items():
            patch.setenv(name, value)
        assert run([*command, "--help"]) == 0
    return output.getvalue()


def help_of(verb: str, rest: str) -> str:
    """Return the help of a command that has these arguments."""
    if verb not in ("train", "explain-training"):
        return help_text(verb)
    model = re.search(r"--model (\S+)", rest)
    return help_text(verb, "--model", model[1] if model else "wordpiece")


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("console|sh"), ids=page_name)
def test_console_examples_use_options_that_exist(page: Path) -> None:
    wrong = []
    for line, command in piecework_commands(page):
        for verb, rest in re.findall(r"\bpiecework\s+([a-z][a-z-]*)\b([^|>]*)", command):
            known = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", help_of(verb, rest)))
            used = re.findall(r"(?<=\s)--?[a-zA-Z][\w-]*", rest)
            wrong += [f"line {line}: {verb} {option}" for option in used if option not in known]
    assert wrong == []


def test_options_of_the_table_of_names_exist() -> None:
    page = (ROOT / "docs" / "reference" / "names.md").read_text(encoding="utf-8")
    options = set(re.findall(r"^\|[^|]*\|[^|]*\| `(--[a-z-]+)` \|", page, re.MULTILINE))
    models = TRAINERS.keys() - {"sentencepiece"}  # train-sentencepiece
    helps = {help_of(verb, f"--model {model}") for verb in VERBS for model in models}
    assert len(options) > 20
    assert {option for option in options if not any(option in text for text in helps)} == set()


LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
DOCUMENTS = [
    *PAGES,
    *(ROOT / name for name in ("CHANGELOG.md", "RELEASING.md", "SECURITY.md")),
    *(ROOT / "benchmarks").rglob("*.md"),
    ROOT / "python/piecework/reference/README.md",
]


@pytest.mark.parametrize("page", DOCUMENTS, ids=page_name)
def test_links_lead_to_files_and_headings_that_exist(page: Path) -> None:
    links = LINK.findall(without_code(page.read_text(encoding="utf-8")))
    assert [target for target in links if not leads_somewhere(page, *target)] == []


def leads_somewhere(page: Path, path: str, heading: str) -> bool:
    """Whether a relative link names a file, and a heading of it."""
    target = page.parent / path if path else page
    if not heading:
        return target.exists()
    return target.is_file() and heading in anchors(target.read_text(encoding="utf-8"))


def anchors(text: str) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", without_code(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("learner", LEARNERS.values())
def test_the_reference_describes_each_learner(learner: type[Learner]) -> None:
    page = ROOT / "docs" / "reference" / "training-settings.md"
    assert f"\n### `{learner.__name__}`\n" in page.read_text(encoding="utf-8")


def test_the_reference_lists_its_files() -> None:
    words = re.findall(r"\w+", reference.__doc__ or "")
    twins = {f"wordpiece_{name.replace('-', '_')}" for name in LEARNERS}
    for file in TOUR.parent.glob("[!_]*.py"):
        assert file.stem in words or file.stem in twins


def test_pages_that_the_code_names_exist() -> None:
    files = [
        path
        for folder in ("python", "tests", "crates", "benchmarks", "tools")
        for suffix in ("*.py", "*.rs", "*.toml", "*.md")
        for path in (ROOT / folder).rglob(suffix)
    ]
    named = {
        name
        for path in files
        for name in re.findall(r"\bdocs/[\w/.-]+\.md", path.read_text(encoding="utf-8"))
    }
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("script", GENERATORS)
def test_generated_pages_are_up_to_date(script: str) -> None:
    command = [sys.executable, str(ROOT / script), *GENERATORS[script]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
