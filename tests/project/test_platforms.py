"""What other platforms lack, simulated here."""

from __future__ import annotations

import ctypes
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from piecework.io.atomic_files import locked_folder
from tests import conftest


def _library_of_windows(name: str | None) -> object:
    if name is None:
        raise TypeError("argument of type 'NoneType' is not iterable")
    raise OSError


def _unlink_of_windows(path: object) -> None:
    raise PermissionError(13, "the file is open")


def test_tests_start_without_a_c_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", _library_of_windows)
    runpy.run_path(conftest.__file__)["trim_memory"]()


@pytest.mark.slow
def test_windows_collects_every_test() -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "tests.windows",
        "tests",
    ]
    done = subprocess.run(command, cwd=conftest.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr


def test_a_folder_keeps_no_lock_file_that_windows_cannot_delete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "unlink", _unlink_of_windows)
    with locked_folder(tmp_path / "state", "a folder in use"):
        (tmp_path / "state" / "ids.npy").touch()
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["ids.npy"]
