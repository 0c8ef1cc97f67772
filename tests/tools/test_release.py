"""A release that is interrupted can be repeated: crates in order, and what exists is skipped."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def tool(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module(name)


def test_every_crate_follows_those_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    *parts, last = tool("publish_crates", monkeypatch).in_order(ROOT)
    order = [name.removeprefix(f"{last}-") for name in parts]
    assert sorted(order) == sorted(tool("rename", monkeypatch).PARTS)
    assert order.index("kernels") < order.index("core") < order.index("formats")
    assert all((ROOT / f"crates/{name}/LICENSE").is_file() for name in (*order, "piecework"))


def answers(*errors: str) -> Any:
    """Return a stand-in for `subprocess.run`, whose calls fail with these errors and then succeed."""
    left = list(errors)

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        error = left.pop(0) if left else ""
        return subprocess.CompletedProcess(command, 101 if error else 0, "", error)

    return run


@pytest.mark.parametrize(
    ("errors", "said", "slept"),
    [
        ((), "published", []),
        (("error: crate a@0.1.0 already exists on crates.io index",), "skipped", []),
        (("crate version `0.1.0` is already uploaded",), "skipped", []),
        (("status 429: You have published too many new crates",) * 2, "published", [600.0] * 2),
    ],
)
def test_a_version_that_exists_is_skipped_and_a_limit_waited_for(
    errors: tuple[str, ...],
    said: str,
    slept: list[float],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    module = tool("publish_crates", monkeypatch)
    waited: list[float] = []
    monkeypatch.setattr(module.subprocess, "run", answers(*errors))
    monkeypatch.setattr(module.time, "sleep", waited.append)
    module.publish("a", ROOT, [], 600.0, 2)
    assert said in capsys.readouterr().out
    assert waited == slept


@pytest.mark.parametrize("errors", [("error: no network",), ("429 Too Many Requests",) * 3])
def test_another_failure_or_too_many_waits_end_the_run(
    errors: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tool("publish_crates", monkeypatch)
    monkeypatch.setattr(module.subprocess, "run", answers(*errors))
    monkeypatch.setattr(module.time, "sleep", lambda _: None)
    with pytest.raises(SystemExit, match=r"a: not published"):
        module.publish("a", ROOT, [], 0.0, 2)


@pytest.mark.slow
def test_a_rehearsal_publishes_each_crate_once() -> None:
    command = [sys.executable, str(ROOT / "tools/rehearse_release.py"), "--crates-only"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the first run stopped after 5" in done.stdout


def test_an_upload_that_is_cut_is_completed_by_the_second_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rehearsal = tool("rehearse_release", monkeypatch)
    index = tool("local_index", monkeypatch).LocalIndex()
    files = [tmp_path / f"piecework-0.1.{at}.tar.gz" for at in range(5)]
    for path in files:
        path.write_bytes(path.name.encode())

    def upload(index: Any, files: list[Path]) -> bool:
        stored = [index.add_file(path.name, path.read_bytes()) for path in files]
        return all(status == 200 or "already exists" in text for status, text in stored)

    monkeypatch.setattr(rehearsal, "upload", upload)
    rehearsal.rehearse_packages(index, files)
    assert index.refusals == [path.name for path in files[:2]]
    assert index.page_of_files().count("#sha256=") == 5


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_the_package_for_npm_is_published_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rehearsal = tool("rehearse_release", monkeypatch)
    (tmp_path / "package.json").write_text('{"name": "piecework", "version": "0.1.0"}')
    packed = ["npm", "pack", str(tmp_path), "--silent", "--pack-destination", str(tmp_path)]
    subprocess.run(packed, check=True, capture_output=True)
    (tmp_path / "home").mkdir()
    with tool("local_index", monkeypatch).LocalIndex() as ended:
        pass
    monkeypatch.setenv("NPM_CONFIG_FETCH_RETRIES", "0")  # its waits are a minute
    said = rehearsal.publish_npm(ended, tmp_path, tmp_path / "home")
    assert "piecework@0.1.0: the registry does not answer" in said
    with tool("local_index", monkeypatch).LocalIndex() as index:
        rehearsal.rehearse_npm(index, tmp_path, tmp_path / "home")
        said = rehearsal.publish_npm(index, tmp_path / "home", tmp_path / "home")
        assert "found 0 .tgz files, expected one: run make npm" in said


@pytest.mark.slow
def test_another_name_is_one_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tool("rehearse_release", monkeypatch).copy_of_checkout(tmp_path / "copy")
    for command in (["git", "init", "-q"], ["git", "add", "--all"]):
        subprocess.run(command, cwd=copy, check=True)
    address = "https://github.com/someone/else"
    names = ["--pypi", "piece-work", "--npm", "@some/one", "--crates", "other"]
    names += ["--repository", address]
    command = [sys.executable, str(copy / "tools/rename.py"), *names, "--root", str(copy)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    *parts, last = tool("publish_crates", monkeypatch).in_order(copy)
    assert (last, parts[0]) == ("other", "other-kernels")
    for gone in (
        "https://github.com/piecework/piecework",
        "https://piecework.github.io/piecework/",
    ):
        left = subprocess.run(["git", "grep", "-l", gone], cwd=copy, capture_output=True, text=True)
        assert left.stdout.split() == []
    assert 'requires("piece-work")' in (copy / "python/piecework/_internal/extras.py").read_text()
    assert '"name": "@some/one"' in (copy / "crates/wasm/npm/package.json").read_text()
    page = (copy / "docs/how-to/use-from-javascript.md").read_text()
    assert 'from "@some/one"' in page
    assert "node_modules/@some/one/index.js" in page
    assert "npm install @some/one" in page
    assert 'NPM_NAME = "@some/one"' in (copy / "tools/check_release.py").read_text()
    assert "pip install piece-work" in (copy / "docs/how-to/install.md").read_text()
