"""Count within a memory budget, and write counts files."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import piecework as pw
from piecework.errors import (
    ArgumentError,
)
from piecework.train import Counts, count_files, count_files_to, count_texts
from tests.processes import LINUX, PEAK_MEMORY, POSIX
from tests.train.large_counts.counted import rows

SMALLEST = "128MB"


@pytest.mark.parametrize("num_threads", [1, 3])
def test_a_budget_does_not_change_the_counts(
    corpus: list[Path], plain: Counts, num_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("piecework.train.counting._SHARE_OF_MAPS", 0.02)
    found = count_files(corpus, preset="whitespace", memory=SMALLEST, num_threads=num_threads)
    assert rows(found) == rows(plain)


def test_counts_are_written_as_they_would_be_saved(
    corpus: list[Path], plain: Counts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("piecework.train.counting._SHARE_OF_MAPS", 0.02)
    for name in ("counts.parquet", "counts.tsv"):
        summary = count_files_to(tmp_path / name, corpus, preset="whitespace", memory=SMALLEST)
        assert summary == (plain.total, len(plain))
        loaded = Counts.load(tmp_path / name)
        assert rows(loaded) == rows(plain)
        assert loaded.pipeline == plain.pipeline
    plain.save(tmp_path / "saved.tsv")
    assert (tmp_path / "saved.tsv").read_bytes() == (tmp_path / "counts.tsv").read_bytes()


def test_parquet_names_the_pipeline_and_the_version(corpus: list[Path], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    count_files_to(tmp_path / "counts.parquet", corpus[0], preset="whitespace")
    metadata = parquet.read_schema(tmp_path / "counts.parquet").metadata
    assert metadata[b"piecework.version"].decode() == pw.__version__
    assert "Whitespace" in metadata[b"piecework"].decode()


def test_scratch_files_are_deleted(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("piecework.train.counting._SHARE_OF_MAPS", 0.02)
    seen: list[str] = []
    count_files(
        corpus,
        preset="whitespace",
        memory=SMALLEST,
        progress=lambda done, total: seen.extend(os.listdir(tmp_path)),
    )
    assert seen
    assert not list(tmp_path.iterdir())


COUNT = """
import sys
from piecework.train import count_files_to
import pyarrow.parquet
before = peak_memory()
summary = count_files_to(sys.argv[1], sys.argv[2:], preset="whitespace", memory="128MB")
print(peak_memory() - before, summary.distinct)
"""


@pytest.mark.slow
@LINUX
def test_the_peak_stays_within_the_budget(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    paths = []
    for seed in range(4):
        path = tmp_path / f"{seed}.txt"
        draw = random.Random(seed)
        path.write_text(
            "".join(f"a{draw.randrange(1 << 40):x} {draw.random()}\n" for _ in range(600_000))
        )
        paths.append(str(path))
    command = [sys.executable, "-c", PEAK_MEMORY + COUNT, str(tmp_path / "counts.parquet"), *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, distinct = map(int, done.stdout.split())
    assert distinct > 4_700_000
    assert peak < 128_000_000


@pytest.mark.parametrize("memory", ["1MB", "much", -1, 0, 1.5, "128 apples", True])
def test_an_invalid_budget_is_rejected(memory: object) -> None:
    with pytest.raises(ArgumentError, match="memory"):
        count_texts(["a"], memory=memory)  # type: ignore[arg-type]


@POSIX
@pytest.mark.parametrize("suffix", ["parquet", "tsv"])
def test_a_disk_that_is_full_when_counts_are_saved_is_an_error_that_names_them(
    tmp_path: Path, suffix: str
) -> None:
    program = (
        "import resource, signal, sys\n"
        "from piecework.errors import FileError\n"
        "from piecework.train import count_texts\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "counts = count_texts([f'w{n}' for n in range(90_000)], preset='whitespace')\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n"
        "    counts.save(sys.argv[1])\n"
        "except FileError as error:\n"
        "    print(error)\n"
    )
    path = tmp_path / f"counts.{suffix}"
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == f"{path}: cannot be written: file too large\n", done.stderr
    assert list(tmp_path.iterdir()) == []


@POSIX
def test_a_full_disk_is_an_error_that_names_the_file(corpus: list[Path], tmp_path: Path) -> None:
    program = (
        "import resource, signal, sys\n"
        "import piecework.train.counting as counting\n"
        "counting._SHARE_OF_MAPS = 0.02\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "from piecework.errors import FileError\n"
        "from piecework.train import count_files\n"
        "try:\n"
        "    count_files(sys.argv[1:], preset='whitespace', memory='128MB')\n"
        "except FileError as error:\n"
        "    print(error)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", program, *map(str, corpus)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert "words" in done.stdout
    assert done.stdout.endswith(": file too large\n")
    assert not list(tmp_path.iterdir())
