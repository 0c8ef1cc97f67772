"""Progress in bytes, and memory that does not grow with the corpus."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from piecework._internal import progress as bars
from tests.corpus.formats.samples import COMPRESSIONS, parquet_data, write
from tests.processes import LINUX, PEAK_MEMORY

pyarrow = pytest.importorskip("pyarrow", reason="Parquet and Arrow files need pyarrow")


# ---- progress


def test_progress_in_bytes_has_rate_remaining_time_and_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(bars, "monotonic", lambda: now)
    with bars.progress_bar("counting", in_bytes=True) as progress:
        bars.show_source(progress, "folder/a.jsonl.gz")
        now = 30.0
        progress(300_000_000, 1_200_000_000)
        now = 60.0
        progress(600_000_000, 0)
    assert capsys.readouterr().err.splitlines() == [
        "counting: 25% after 0:30, 10.0 MB/s, 1:30 left, a.jsonl.gz",
        "counting: 600,000,000 after 1:00, 10.0 MB/s, a.jsonl.gz",
    ]


def test_a_terminal_shows_the_current_file(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with bars.progress_bar("counting", in_bytes=True) as progress:
        bars.show_source(progress, "folder/[red]a.txt")
        progress(50_000_000, 100_000_000)
        bars.show_source(progress, "folder/b.txt")
        progress(60_000_000, 100_000_000)
    assert "b.txt" in terminal.getvalue()
    assert "left" in terminal.getvalue()


# ---- memory


_READ = """
import sys
from piecework.corpus import read_corpus
import pyarrow.parquet, zstandard, fsspec
list(read_corpus(sys.argv[2]))
before = peak_memory()
size = sum(
    len(piece.data) if hasattr(piece, "data") else sum(map(len, piece.texts))
    for piece in read_corpus(sys.argv[1])
)
print(size, peak_memory() - before)
"""


def memory_growth(large: Path, small: Path) -> tuple[int, int]:
    """Return the size of the texts of a file, and the growth of memory in MB while a process reads it."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK_MEMORY + _READ, str(large), str(small)],
        capture_output=True,
        text=True,
        check=True,
    )
    size, growth = map(int, done.stdout.split())
    return size, growth >> 20


@LINUX
@pytest.mark.parametrize(
    "name",
    [
        "a.txt.gz",
        "a.txt.zst",
        "a.txt.xz",
        pytest.param("a.txt.bz2", marks=pytest.mark.slow),
        "a.jsonl.gz",
        "a.csv.zst",
    ],
)
def test_memory_does_not_grow_with_the_decompressed_size(tmp_path: Path, name: str) -> None:
    text = b"hug pug " * 100
    line = b'{"text": "%b"}\n' % text if ".jsonl" in name else text + b"\n"
    header = b"text\n" if ".csv" in name else b""
    compress = COMPRESSIONS[Path(name).suffix]
    small = write(tmp_path / f"small-{name}", compress(header + line))
    member = compress(line * (20_000_000 // len(line)))  # 20 MB of text in a few kilobytes
    large = write(tmp_path / name, compress(header) + member * 10)
    assert large.stat().st_size < 1_000_000
    size, growth = memory_growth(large, small)
    assert size > 190_000_000
    # Zstandard decompresses 4 KB at once, which can be as much as 128 MB.
    assert growth < (160 if name.endswith(".zst") else 60)


@LINUX
def test_memory_does_not_grow_with_the_rows_of_a_table(tmp_path: Path) -> None:
    table = pyarrow.table({"id": range(500_000), "text": ["hug pug " * 12] * 500_000})
    tiny = pyarrow.table({"id": [1], "text": ["hug"]})
    large = write(tmp_path / "a.parquet", parquet_data(table, use_dictionary=False))
    size, growth = memory_growth(large, write(tmp_path / "small.parquet", parquet_data(tiny)))
    assert size == 48_000_000
    assert growth < 60
