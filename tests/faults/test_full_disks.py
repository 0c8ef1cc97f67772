"""A disk that is full: a typed error that names the file, no half of it, and the next run completes it."""

from __future__ import annotations

import errno
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import piecework as pw
from tests.conftest import Run
from tests.faults.writers import COMMANDS, WRITERS, inputs

resource = pytest.importorskip("resource", reason="POSIX has a limit of file sizes")

# Records of what is done until now: whole files, which a later run continues from.
STATES = {"manifest.json", "counting.json"}


@contextmanager
def full_after(size: int) -> Iterator[None]:
    """Let every write that would make a file larger than `size` bytes fail."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def content(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder and of those in it."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_an_error_that_names_the_file_and_leaves_no_half_of_it(
    name: str, tmp_path: Path
) -> None:
    write = WRITERS[name]
    folder = tmp_path / "plain"
    folder.mkdir()
    write(folder)
    whole = content(folder)
    sizes = {len(data) for data in whole.values()}
    for limit in sorted({0, max(sizes) // 2, *(size - 1 for size in sizes)}):
        out = tmp_path / f"at-{limit}"
        out.mkdir()
        with full_after(limit), pytest.raises(pw.errors.FileError) as caught:
            write(out)
        error = caught.value
        assert error.errno == errno.EFBIG, (limit, error)
        assert str(out) in str(error.filename), limit
        assert ".tmp" not in str(error), limit
        halves = {name for name, data in content(out).items() if whole.get(name) != data}
        assert halves <= STATES, (limit, halves)
        write(out)
        assert content(out) == whole, limit


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_ends_a_command_with_an_error_that_names_the_file(
    name: str, tmp_path: Path, cli: Run
) -> None:
    words = [word.format(out=tmp_path, inputs=inputs()) for word in COMMANDS[name]]
    code, _, err = cli(*words)
    assert code == 0, err
    whole = content(tmp_path)
    largest = max(map(len, whole.values()))
    for path in tmp_path.iterdir():
        path.unlink()
    for limit in (0, largest - 1):
        with full_after(limit):
            code, _, err = cli(*words)
        assert code == 2
        assert f"piecework: error: {tmp_path}" in err
        assert ": cannot be written: file too large\n" in err
        assert ": file too large" in err
        assert ".tmp" not in err
        assert content(tmp_path).items() <= whole.items(), limit
