"""Files appear whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from piecework.errors import FileError
from piecework.io.atomic_files import atomic_file, check_writable, locked_folder
from tests.processes import POSIX


def test_a_file_appears_whole_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    with atomic_file(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_file(tmp_path: Path, failure: type[BaseException]) -> None:
    path = tmp_path / "a"
    path.write_text("old")

    def fail_half_way() -> None:
        with atomic_file(path) as temporary:
            temporary.write_text("half")
            raise failure

    with pytest.raises(failure):
        fail_half_way()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


class _Interrupt:
    """Raises `KeyboardInterrupt` before one of the lines that a thread runs in the given functions."""

    def __init__(self, line: int, *functions: str) -> None:
        self._line = line
        self._functions = functions

    def __call__(self, frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_name not in self._functions:
            return None
        if event == "line":
            self._line -= 1
            if self._line == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self

    @property
    def was_raised(self) -> bool:
        return self._line <= 0


@pytest.mark.parametrize("file", ["a", "state/a"], ids=["a file", "a file in a locked folder"])
def test_an_interrupt_before_any_line_leaves_no_other_file(tmp_path: Path, file: str) -> None:
    """A signal handler runs between two calls, also right after a temporary file is created."""
    functions = ("atomic_file", "_temporary_beside", "_create", "_rename", "write")

    def write() -> None:
        with atomic_file(path) as temporary:
            temporary.write_text("whole")

    def write_locked() -> None:
        with locked_folder(path.parent, "a folder in use"):
            write()

    path, earlier = tmp_path / file, sys.gettrace()
    for line in range(1, 100):
        interrupt = _Interrupt(line, *functions)
        sys.settrace(interrupt)
        try:
            (write_locked if "/" in file else write)()
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(earlier)
        if not interrupt.was_raised:
            break
        assert {other.name for other in path.parent.iterdir()} <= {"a"}
    assert line > 10
    assert not interrupt.was_raised
    assert path.read_text() == "whole"


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    with atomic_file(path) as temporary:
        temporary.write_text("x")
    assert path.read_text() == "x"


@POSIX
def test_permissions_follow_the_old_file_or_the_umask(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("")
    old.chmod(0o640)
    before = os.umask(0o027)
    try:
        for path in (old, new):
            with atomic_file(path) as temporary:
                temporary.write_text("x")
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (old, new)] == [0o640, 0o640]


@POSIX
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    with atomic_file(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"


@POSIX
def test_a_pipe_is_written_and_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    check_writable(pipe)
    with atomic_file(pipe) as given:
        assert given == Path(os.path.realpath(pipe))
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_paths_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing" / "a"):
        with pytest.raises(FileError, match=path.name):
            check_writable(path)
        with pytest.raises(FileError, match=path.name), atomic_file(path) as temporary:
            temporary.write_text("x")
    assert list(tmp_path.iterdir()) == []


@POSIX
@pytest.mark.parametrize("option", ["-u", "-B"])
def test_stdout_gets_all_of_a_long_write_or_fails(option: str) -> None:
    """An unbuffered stdout writes a part and says how much; here that would be lost bytes."""
    code = (
        "from piecework.io.atomic_files import atomic_stream\n"
        "with atomic_stream('-') as stream: stream.write(b'x' * 1_000_000)\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    command = [sys.executable, option, "-c", code]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.read(10) == b"x" * 10
    process.stdout.close()
    assert b"BrokenPipeError" in process.stderr.read()
    assert process.wait(timeout=300) != 0
    process.stderr.close()
