"""Reads that fail: an error of the system, and files that become shorter while they are read."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import pytest

import piecework as pw
from piecework.corpus import read_corpus
from piecework.errors import FileError, PieceworkError
from piecework.export import read_ids
from tests.corpus.formats.samples import arrow_data, parquet_data, pyarrow
from tests.faults.readers import READERS

# Linux has no first page of memory, so reading this file fails with EIO. Its size is 0.
UNREADABLE = Path("/proc/self/mem")
# Files whose size is compared before they are read, and shards, which are written again.
SIZE_FIRST = {"tok.pwc", "out.megatron.bin"}
WRITTEN = {f"{stem}.npy" for stem in ("a", "a.row_offsets", "b", "b.row_offsets")}


@pytest.mark.skipif(not UNREADABLE.exists(), reason="Linux has a file that fails")
@pytest.mark.parametrize("name", READERS)
def test_an_error_of_the_system_is_a_file_error_that_names_the_file(
    name: str, tmp_path: Path
) -> None:
    reader = READERS[name]
    reader.write(tmp_path)
    for path in [path for path in tmp_path.rglob("*") if path.is_file()]:
        if path.name in WRITTEN:
            continue
        kept = path.with_name("kept")
        path.rename(kept)
        path.symlink_to(UNREADABLE)
        with pytest.raises(PieceworkError) as caught:
            reader.read(tmp_path)
        assert str(tmp_path) in str(caught.value)
        if path.name not in SIZE_FIRST:
            assert str(path) in str(caught.value)
            assert isinstance(caught.value, FileError)
            assert caught.value.errno == errno.EIO
        path.unlink()
        kept.rename(path)


ROWS = [[n, n + 1, n + 2] * 40 for n in range(30_000)]
TEXTS = [f"line {n} with some words " * 8 for n in range(30_000)]


def write_ids(form: str) -> Callable[[Path], list[Path]]:
    def write(folder: Path) -> list[Path]:
        (folder / "in.txt").write_text("\n".join(TEXTS))
        words = pw.spec.WordLevel({"[UNK]": 0, **{f"{n}": n + 1 for n in range(999)}})
        tok = pw.Tokenizer(words, pre_tokenizer=pw.spec.WhitespaceSplit())
        pw.encode_files(tok, folder / "in.txt", folder / "ids", format=form)  # type: ignore[arg-type]
        (folder / "in.txt").unlink()
        return [folder / "ids", *(path for path in folder.iterdir() if path.name != "ids")]

    return write


def write_corpus(name: str, data: Callable[[], bytes]) -> Callable[[Path], list[Path]]:
    def write(folder: Path) -> list[Path]:
        (folder / name).write_bytes(data())
        return [folder / name]

    return write


def table() -> object:
    return pyarrow.table({"text": TEXTS})


SHRINKING: dict[str, tuple[Callable[[Path], list[Path]], Callable[[Path], Iterable[object]]]] = {
    **{form: (write_ids(form), read_ids) for form in pw.export.FORMATS if form != "tokens"},
    **{
        name: (write_corpus(name, data), lambda path: read_corpus(path, field="text"))
        for name, data in {
            "a.parquet": lambda: parquet_data(table(), row_group_size=5000, compression="none"),
            "file.arrow": lambda: arrow_data("file", table()),
            "stream.arrow": lambda: arrow_data("stream", table()),
        }.items()
    },
    "a.txt": (write_corpus("a.txt", lambda: "\n".join(TEXTS).encode()), read_corpus),
}


@pytest.mark.parametrize("name", SHRINKING)
def test_a_file_that_is_truncated_while_it_is_read_ends_no_process(
    name: str, tmp_path: Path
) -> None:
    write, read = SHRINKING[name]
    paths = write(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for path in before:
        parts = iter(read(paths[0]))
        next(parts)
        os.truncate(path, 1000)
        with suppress(PieceworkError):
            for part in parts:
                str(getattr(part, "texts", part))
        path.write_bytes(before[path])
