"""Two builds compared by the instructions that they execute."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import instructions
from tests.benchmarks.made_up_records import BENCHMARKS

OLD = {"wordpiece, cold": 1_000, "wordpiece, warm": 100}


@pytest.fixture
def meter(tmp_path: Path) -> instructions.Meter:
    return instructions.Meter(tmp_path, 1.02)


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ({"wordpiece, cold": 1_020, "wordpiece, warm": 50}, ""),
        ({"wordpiece, cold": 1_000, "wordpiece, warm": 103}, "wordpiece, warm +3.0 %"),
    ],
)
def test_a_class_over_the_limit_is_named(
    meter: instructions.Meter, new: instructions.Counts, said: str
) -> None:
    assert meter.slower("new", OLD, new).endswith(said)
    assert bool(meter.slower("new", OLD, new)) == bool(said)


@pytest.mark.parametrize("slow", range(5))
def test_the_first_commit_over_the_limit_is_found(
    meter: instructions.Meter, monkeypatch: pytest.MonkeyPatch, slow: int
) -> None:
    commits = [f"commit{at}" for at in range(5)]

    def git(*arguments: str) -> str:
        if arguments[0] == "log":
            return f"{arguments[-1]} title"
        return " ".join(commits) if "--reverse" in arguments else "before"

    def counts(build: str) -> instructions.Counts:
        is_slow = build in commits[slow:]
        return {name: count * (2 if is_slow else 1) for name, count in OLD.items()}

    monkeypatch.setattr(instructions, "git", git)
    monkeypatch.setattr(instructions, "built", lambda commit: commit)
    monkeypatch.setattr(meter, "counts", counts)
    assert meter.slower_commit("yesterday").startswith(f"commit{slow} title\n")


def test_the_process_that_writes_bytecode_is_not_counted(
    meter: instructions.Meter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counted: list[bool] = []

    def python(where: Path, code: str, *arguments: str, before: list[str] | None = None) -> str:
        counted.append(before is not None)
        return "Collected : 5"

    meter.text.write_text("text")
    monkeypatch.setattr(instructions, "import_folder", lambda build, folder: folder)
    monkeypatch.setattr(meter, "_python", python)
    meter.counts(tmp_path)
    assert counted == [False] + [True] * 3 * len(instructions.MODELS)


def test_two_builds_or_a_time_are_needed() -> None:
    command = [sys.executable, str(BENCHMARKS / "instructions.py"), "one"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "name two builds, or give --since" in done.stderr
