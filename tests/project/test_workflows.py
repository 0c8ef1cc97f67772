"""The workflows name targets, programs and jobs that exist, and build every file of a release."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github/workflows"
TARGETS = set(
    re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
)
# What `make test` is, and parts of it.
IN_TEST = {"test", "test-fast", "test-data"}


def workflow(name: str) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="yaml comes with transformers")
    return yaml.safe_load((FOLDER / f"{name}.yml").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def jobs(name: str) -> dict[str, Any]:
    found = workflow(name)["jobs"]
    assert isinstance(found, dict)
    return found


def commands(name: str) -> list[str]:
    return [step["run"] for job in jobs(name).values() for step in job["steps"] if "run" in step]


def nightly_targets() -> set[str]:
    return {row["target"] for row in jobs("nightly")["target"]["strategy"]["matrix"]["include"]}


@pytest.mark.parametrize("name", ["ci", "nightly", "release"])
def test_commands_exist(name: str) -> None:
    for command in commands(name):
        program, first, *_ = [*command.split(), ""]
        if program == "make":
            assert first in TARGETS or first == "${{", command
        elif program == "python":
            assert (ROOT / first).is_file(), command
        else:
            assert program in {".ci/run", "rustup", "sudo"}, command


@pytest.mark.parametrize("name", ["ci", "nightly", "release"])
def test_jobs_need_jobs_and_use_keys_of_their_matrix(name: str) -> None:
    for job in jobs(name).values():
        needed = job.get("needs", [])
        assert {needed} if isinstance(needed, str) else set(needed) <= jobs(name).keys()
        matrix = job.get("strategy", {}).get("matrix", {})
        keys = matrix.keys() | {key for row in matrix.get("include", ()) for key in row}
        used = set(re.findall(r"matrix\.(\w+)", str(job)))
        assert used == keys - {"include", "exclude"}


def test_what_a_change_does_not_run_is_run_at_night() -> None:
    of_change = (ROOT / ".ci/run").read_text(encoding="utf-8")
    tests = {name for name in TARGETS if name.startswith("test")} - IN_TEST
    assert {name for name in tests - nightly_targets() if name not in of_change} == set()
    assert nightly_targets() <= TARGETS


def test_the_release_builds_every_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    release = importlib.import_module("check_release")
    built = jobs("release")
    targets = {row["target"] for row in built["wheels"]["strategy"]["matrix"]["include"]}
    assert targets == release.PLATFORM_TAGS.keys()
    matrix = built["free-threaded"]["strategy"]["matrix"]
    targets = {platform["target"] for platform in matrix["platform"]}
    assert targets == set(release.FREE_THREADED_TARGETS)
    versions = {f"cp{version.replace('.', '').rstrip('t')}" for version in matrix["python"]}
    assert versions == set(release.FREE_THREADED_VERSIONS)
    assert set(built["complete"]["needs"]) == {"deny", "sdist", "wheels", "free-threaded"}
    assert built["publish"]["needs"] == built["crates"]["needs"] == "complete"


def test_actions_are_pinned_to_commits() -> None:
    for path in FOLDER.glob("*.yml"):
        for action in re.findall(r"uses: (.+)", path.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", action), action
