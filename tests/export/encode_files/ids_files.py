"""Write texts, and read files of ids with the libraries that own their formats."""

from __future__ import annotations

import struct
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import piecework as pw

ARRAY_FORMATS = ["npy", "arrow", "parquet", "megatron"]
LINE_FORMATS = ["ids", "tokens", "jsonl"]


def write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def ids_in(path: Path) -> list[list[int]]:
    return [[int(id) for id in line.split()] for line in path.read_text().split("\n")[:-1]]


def read_npy(path: Path) -> list[list[int]]:
    ids = np.load(path, mmap_mode="r") if path.stat().st_size > 128 else np.load(path)
    row_offsets = np.load(path.with_name(f"{path.name.removesuffix('.npy')}.row_offsets.npy"))
    assert row_offsets.dtype == np.int64
    return [ids[start:end].tolist() for start, end in pairwise(row_offsets)]


def read_arrow(path: Path) -> list[list[int]]:
    pyarrow = pytest.importorskip("pyarrow")
    with pyarrow.memory_map(str(path)) as source:
        table = pyarrow.ipc.open_file(source).read_all()
    assert table.schema.field("ids").type == pyarrow.list_(pyarrow.uint32())
    rows: list[list[int]] = table.column("ids").to_pylist()
    return rows


def read_parquet(path: Path) -> list[list[int]]:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows: list[list[int]] = parquet.read_table(path).column("ids").to_pylist()
    return rows


def read_megatron(path: Path) -> list[list[int]]:
    """Read the published layout by itself, field by field, as a trainer maps it into memory."""
    index = path.with_name(f"{path.name}.idx").read_bytes()
    assert index[:9] == b"MMIDIDX\x00\x00"
    version, code, sequences, documents = struct.unpack_from("<QBQQ", index, 9)
    assert version == 1
    dtype: Any = {4: np.int32, 8: np.uint16}[code]
    at = 34
    lengths = np.frombuffer(index, "<i4", sequences, at)
    at += 4 * sequences
    pointers = np.frombuffer(index, "<i8", sequences, at)
    at += 8 * sequences
    document_index = np.frombuffer(index, "<i8", documents, at)
    assert at + 8 * documents == len(index)
    assert document_index.tolist() == list(range(sequences + 1))
    data_path = path.with_name(f"{path.name}.bin")
    size = data_path.stat().st_size
    assert size == lengths.sum() * np.dtype(dtype).itemsize
    data = np.memmap(data_path, np.uint8, mode="r") if size else np.empty(0, np.uint8)
    return [
        np.frombuffer(data, dtype, length, pointer).tolist()
        for length, pointer in zip(lengths.tolist(), pointers.tolist(), strict=True)
    ]


READERS = {
    "ids": ids_in,
    "npy": read_npy,
    "arrow": read_arrow,
    "parquet": read_parquet,
    "megatron": read_megatron,
}


def start(tok: pw.Tokenizer, folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    tok.save(folder / "t.json")
    command = [sys.executable, "-m", "piecework", "encode", str(folder / "t.json"), *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
