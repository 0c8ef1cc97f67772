"""The workflows name targets, programs and jobs that exist, and build every file of a release."""

from __future__ import annotations

import importlib
import re
import subprocess
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
# The workflow `ci` runs `tools/test_wheel.py` in each version.
IN_CI = {"test-pythons"}


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
    of_jobs = (jobs("nightly")[name]["strategy"]["matrix"] for name in ("target", "check"))
    return {row["target"] for matrix in of_jobs for row in matrix["include"]}


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
    tests = {name for name in TARGETS if name.startswith("test")} - IN_TEST - IN_CI
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
    built_before = {"deny", "sdist", "wheels", "free-threaded", "packages", "site"}
    assert set(built["complete"]["needs"]) == built_before


def test_nothing_goes_to_pypi_before_the_crates_are_published() -> None:
    order = ["complete", "crates", "publish"]
    built = jobs("release")
    assert [built[name]["needs"] for name in order[1:]] == order[:-1]
    assert {built[name]["needs"] for name in ("pages", "page")} == {"publish"}
    [upload] = [step for step in built["publish"]["steps"] if "pypi-publish" in step["uses"]]
    assert upload["with"]["skip-existing"] is True
    after_a_tag = ("crates", "publish", "npm", "pages", "page")
    assert all("tag" in built[name]["if"] for name in after_a_tag)


def test_the_package_for_npm_goes_to_npm_after_the_crates_and_not_to_pypi() -> None:
    built = jobs("release")
    assert built["npm"]["needs"] == "crates"
    assert built["npm"]["permissions"]["id-token"] == "write"
    [stored] = [
        step["with"] for step in built["complete"]["steps"] if "upload" in step.get("uses", "")
    ]
    assert stored["path"].split() == ["dist/*", "!dist/*.tgz"]


def test_one_wheel_is_tested_in_every_supported_version() -> None:
    job = jobs("ci")["python"]
    assert job["needs"] == "wheel"
    assert job["strategy"]["matrix"]["python"] == [f"3.{minor}" for minor in range(10, 15)]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "PYTHONS ?= python3.10 python3.11 python3.12 python3.13\n" in makefile


def test_no_check_of_crates_builds_the_package() -> None:
    steps = jobs("nightly")["check"]["steps"]
    assert "make test-data" not in [step.get("run") for step in steps]


def test_the_workflows_name_one_version_of_rust() -> None:
    versions = {workflow(name)["env"]["RUSTUP_TOOLCHAIN"] for name in ("ci", "nightly", "release")}
    assert len(versions) == 1
    manifest = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    [oldest] = re.findall(r'^rust-version = "1\.(\d+)"', manifest, re.MULTILINE)
    assert int(versions.pop().split(".")[1]) >= int(oldest)


def test_dependabot_sees_every_lock_file() -> None:
    yaml = pytest.importorskip("yaml", reason="yaml comes with transformers")
    updates = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text(encoding="utf-8"))
    [cargo] = [one for one in updates["updates"] if one["package-ecosystem"] == "cargo"]
    command = ["git", "ls-files", "*Cargo.lock"]
    locks = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    folders = {"/" + path.rpartition("/")[0] for path in locks.split()}
    assert set(cargo["directories"]) == folders


def test_actions_are_pinned_to_commits() -> None:
    for path in FOLDER.glob("*.yml"):
        for action in re.findall(r"uses: (.+)", path.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", action), action
