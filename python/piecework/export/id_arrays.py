"""Flat arrays of ids on disk: numpy's `.npy`, and the `.bin` and `.idx` that Megatron-LM trains from.

Both are to be memory-mapped. Lengths are not known before the end, so that headers are written last;
what grows with the number of rows goes to disk as it comes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from piecework.export.text_lines import EncodedLines, Write
from piecework.io.atomic_files import whole_file, whole_stream
from piecework.tokenizer import Tokenizer

MEGATRON_MAGIC = b"MMIDIDX\x00\x00"
MEGATRON_HEADER = struct.Struct("<9sQBQQ")  # magic, version, dtype code, sequences, documents
MEGATRON_DTYPES = {1: "u1", 2: "i1", 3: "<i2", 4: "<i4", 5: "<i8", 8: "<u2"}  # of integers, by code
_MEGATRON_CODES = {dtype: code for code, dtype in MEGATRON_DTYPES.items()}
_MEGATRON_UINT16_ENTRIES = 65_500  # as Megatron-LM itself decides
_ROWS_A_READ = 1 << 16


# ---- numpy


def npy_files(path: str) -> tuple[str, str]:
    """Name the files of flat ids and of row offsets: `a.npy` and `a.row_offsets.npy`."""
    return path, f"{path.removesuffix('.npy')}.row_offsets.npy"


@contextmanager
def write_npy(path: str, tokenizer: Tokenizer) -> Iterator[Write]:
    """Write ids as uint16 if all of the vocabulary fit, else uint32; row offsets as int64."""
    ids_path, offsets_path = npy_files(path)
    ids_type = "<u2" if _id_count(tokenizer) <= 1 << 16 else "<u4"
    # The last to be opened gets its name first: the offsets appear when the ids are there.
    with (
        whole_stream(offsets_path) as offsets_stream,
        whole_stream(ids_path) as ids_stream,
        _npy_array(offsets_stream, "<i8") as offsets,
        _npy_array(ids_stream, ids_type) as ids,
    ):
        offsets.append(np.zeros(1, np.int64))

        def write(lines: EncodedLines) -> None:
            offsets.append(lines.batch.row_offsets[1:] + ids.length)
            ids.append(lines.batch.ids)

        yield write


class _NpyArray:
    """A one-dimensional `.npy` that grows. Format 1.0: magic, version, header length, header."""

    def __init__(self, stream: BinaryIO, type_name: str) -> None:
        self.length = 0
        self._stream = stream
        self._type = type_name
        self._write_header()

    def append(self, values: np.ndarray[Any, Any]) -> None:
        self._stream.write(values.astype(self._type).data)
        self.length += len(values)

    def finish(self) -> None:
        self._stream.seek(0)
        self._write_header()

    def _write_header(self) -> None:
        shape = f"{{'descr': '{self._type}', 'fortran_order': False, 'shape': ({self.length},), }}"
        header = shape.ljust(117) + "\n"  # ends at byte 128, whatever the length
        prefix = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
        self._stream.write(prefix + header.encode("ascii"))


@contextmanager
def _npy_array(stream: BinaryIO, type_name: str) -> Iterator[_NpyArray]:
    array = _NpyArray(stream, type_name)
    yield array
    array.finish()


# ---- Megatron-LM


def megatron_files(path: str) -> tuple[str, str]:
    """Name the data and the index by their common prefix; `a`, `a.bin` and `a.idx` mean the same."""
    prefix = path.removesuffix(".bin").removesuffix(".idx")
    return f"{prefix}.bin", f"{prefix}.idx"


@contextmanager
def write_megatron(path: str, tokenizer: Tokenizer) -> Iterator[Write]:
    """Write each row as a document of one sequence.

    The index holds, after its header, the lengths (int32), the byte pointers (int64) and the first
    sequence of each document, closed by the number of sequences (int64), all little-endian.

    Source: Megatron-LM, `megatron/core/datasets/indexed_dataset.py`.
    """
    data_path, index_path = megatron_files(path)
    ids_type = "<u2" if _id_count(tokenizer) < _MEGATRON_UINT16_ENTRIES else "<i4"
    # The last to be opened gets its name first: the index appears when the data are there.
    with (
        whole_file(index_path) as index,
        index.open("wb") as index_stream,
        whole_stream(data_path) as data,
    ):
        index_stream.write(bytes(MEGATRON_HEADER.size))

        def write(lines: EncodedLines) -> None:
            data.write(lines.batch.ids.astype(ids_type).data)
            index_stream.write(lines.batch.lengths.astype("<i4").data)

        yield write
        index_stream.flush()
        _finish_index(index, index_stream, ids_type)


def _finish_index(index: Path, stream: BinaryIO, ids_type: str) -> None:
    """Follow the lengths by what derives from them, and fill in the header."""
    rows = (stream.tell() - MEGATRON_HEADER.size) // 4
    pointer = 0
    for lengths in _stored_lengths(index, rows):
        sizes = lengths.astype(np.int64) * np.dtype(ids_type).itemsize
        stream.write((pointer + np.cumsum(sizes) - sizes).astype("<i8").data)
        pointer += int(sizes.sum())
    for start in range(0, rows + 1, _ROWS_A_READ):
        stream.write(np.arange(start, min(start + _ROWS_A_READ, rows + 1), dtype="<i8").data)
    stream.seek(0)
    code = _MEGATRON_CODES[ids_type]
    stream.write(MEGATRON_HEADER.pack(MEGATRON_MAGIC, 1, code, rows, rows + 1))


def _stored_lengths(index: Path, rows: int) -> Iterator[np.ndarray[Any, Any]]:
    with index.open("rb") as stream:
        stream.seek(MEGATRON_HEADER.size)
        for start in range(0, rows, _ROWS_A_READ):
            count = min(_ROWS_A_READ, rows - start)
            yield np.frombuffer(stream.read(4 * count), "<i4")


def _id_count(tokenizer: Tokenizer) -> int:
    """Return how many ids there are up to the greatest, unused ones included."""
    return 1 + max(tokenizer.get_vocab().values(), default=-1)
