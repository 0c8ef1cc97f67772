"""The Go package: its own tests, its ids, and the programs of its page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.capi.answers import BYTES, CONFORMANCE, GOLDEN, Job, answers, differences, jobs
from tests.capi.library import PROGRAMS, ROOT, environment, run, run_page

PACKAGE = ROOT / "extensions" / "go"
GO = shutil.which("go")

pytestmark = pytest.mark.skipif(GO is None, reason="needs Go 1.19 or newer: apt install golang-go")


def settings(**others: str) -> dict[str, str]:
    """Return an environment in which nothing is downloaded and builds are kept."""
    cache = str(ROOT / "build" / "go-cache")
    offline = {"GOCACHE": cache, "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOWORK": "off"}
    return environment(**offline, **others)


def go(*arguments: object, **others: str) -> str:
    done = run(["go", *arguments], cwd=PACKAGE, env=settings(**others))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_sources_are_formatted_and_vetted() -> None:
    sources = [*PACKAGE.glob("*.go"), *PROGRAMS.glob("*.go")]
    assert run(["gofmt", "-l", *sources]).stdout == ""
    go("vet", ".")


def test_methods_do_what_they_say_and_obey_the_rules_of_cgo() -> None:
    go("test", "-count=1", ".", GODEBUG="cgocheck=2")


def test_goroutines_do_not_race() -> None:
    go("test", "-race", "-count=1", "-run", "Goroutines|CloseWhile|Stream", ".")


@pytest.fixture(scope="module")
def all_jobs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Job]:
    return jobs(tmp_path_factory.mktemp("jobs"))


@pytest.fixture(scope="module")
def answered(
    all_jobs: dict[str, Job], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[str]]:
    program = tmp_path_factory.mktemp("answers") / "answers"
    go("build", "-o", program, PROGRAMS / "answers.go")
    return answers([program], all_jobs, env=settings(GODEBUG="cgocheck=2"))


@pytest.mark.parametrize("name", [*CONFORMANCE, *GOLDEN])
def test_ids_tokens_and_offsets_are_those_of_python(
    name: str, all_jobs: dict[str, Job], answered: dict[str, list[str]]
) -> None:
    if name not in all_jobs:
        pytest.skip(f"the tokenizer of {name} is not at hand: make test-data")
    assert differences(all_jobs[name], answered[name], BYTES) == []


def test_programs_print_what_the_page_shows(tmp_path: Path) -> None:
    run_page(ROOT / "docs" / "how-to" / "use-from-go.md", "go", tmp_path, settings())
