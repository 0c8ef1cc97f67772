"""Small Parquet and Arrow files that state hundreds of megabytes: an error, within the memory there is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import copyfile
from typing import Any

import numpy as np
import pytest

import piecework as pw
from tests import data
from tests.conftest import trim_memory
from tests.corpus.formats.samples import arrow_data, parquet_data, pyarrow
from tests.faults.damaged_files import in_child
from tests.faults.readers import Reader, corpus
from tests.processes import LINUX

MEMORY = 64 << 20
ZSTD: Any = {"compression": "zstd", "use_dictionary": False, "write_statistics": False}
# A text that the reader has memory for may have none as a string of Python.
NO_MEMORY = ("MemoryLimitError:1", "MemoryError")


def one_text() -> object:
    return pyarrow.table({"text": ["a" * 150_000_000]})


def one_row() -> object:
    ids, ends = np.zeros(20_000_000, np.uint32), np.array([0, 20_000_000], np.int32)
    return pyarrow.table({"ids": pyarrow.ListArray.from_arrays(ends, ids)})


def one_word() -> object:
    return pyarrow.table({"word": ["a" * 150_000_000], "count": [1]})


def same_value() -> object:
    rows = np.zeros(2_000, np.int32)
    values = pyarrow.array(["a" * 1_000_000])
    return pyarrow.table({"text": pyarrow.DictionaryArray.from_arrays(rows, values)})


def deep_lists() -> object:
    lists = pyarrow.array(["a"])
    for _ in range(200):
        lists = pyarrow.ListArray.from_arrays(np.array([0, 1], np.int32), lists)
    return pyarrow.table({"text": lists})


def compressed_arrow(table: object) -> bytes:
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    return arrow_data("file", table, options=options)


def ids(name: str, data: Callable[[], bytes]) -> Reader:
    return Reader(
        lambda out: (out / name).write_bytes(data()),
        lambda out: [len(rows) for rows in pw.export.read_ids(out / name)],
    )


BOMBS: dict[str, tuple[Reader, tuple[str, ...]]] = {
    "text.parquet": (
        corpus("a.parquet", lambda: parquet_data(one_text(), **ZSTD)),
        NO_MEMORY,
    ),
    "text.arrow": (
        corpus("a.arrow", lambda: compressed_arrow(one_text()), field="text"),
        NO_MEMORY,
    ),
    "dictionary.parquet": (corpus("a.parquet", lambda: parquet_data(same_value())), ("read:1",)),
    "dictionary.arrow": (corpus("a.arrow", lambda: arrow_data("file", same_value())), ("read:1",)),
    "lists.parquet": (corpus("a.parquet", lambda: parquet_data(deep_lists())), ("CorpusError:1",)),
    "ids.parquet": (
        ids("a.parquet", lambda: parquet_data(one_row(), **ZSTD)),
        NO_MEMORY,
    ),
    "ids.arrow": (ids("a.arrow", lambda: compressed_arrow(one_row())), NO_MEMORY),
    "counts.parquet": (
        Reader(
            lambda out: (out / "a.parquet").write_bytes(parquet_data(one_word(), **ZSTD)),
            lambda out: pw.Counts.load(out / "a.parquet"),
        ),
        NO_MEMORY,
    ),
}


def outcome(name: str, folder: Path) -> str:
    """Write a file and read it with little memory; return what became of that."""
    place = folder / "place"
    place.mkdir()
    reader, _ = BOMBS[name]
    reader.write(place)
    pyarrow.default_memory_pool().release_unused()
    trim_memory()
    (path,) = place.iterdir()
    assert path.stat().st_size < 3_000_000
    copyfile(path, folder / "copy")
    _, said, _ = in_child(reader, path, [folder / "copy"], folder / "kept", MEMORY)
    return said.strip().rpartition("\n")[2]


@LINUX
@pytest.mark.parametrize("name", BOMBS)
def test_a_file_that_states_more_than_the_memory_is_an_error(name: str, tmp_path: Path) -> None:
    # A process that has run other tests has addresses to spare, which the limit does not count.
    code = f"from pathlib import Path; from {__name__} import outcome"
    code += f"; print(outcome({name!r}, Path({str(tmp_path)!r})))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=data.ROOT
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in BOMBS[name][1]
