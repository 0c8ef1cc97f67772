"""Write and read Megatron-LM's indexed datasets: ids in `a.bin`, an index of the rows in `a.idx`.

The index has a header, then for each sequence its length (int32) and byte pointer (int64), then for each
document its first sequence (int64) and at last the number of sequences, all little-endian. Memory is
constant: lengths go to disk batch by batch, and the columns that follow are computed from them at the end.

Source: Megatron-LM, `megatron/core/datasets/indexed_dataset.py`.
"""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from piecework.errors import CorpusError, FileError
from piecework.export.damaged_files import damage_as_corpus_error
from piecework.export.encoded_lines import PLAIN, EncodedLines, RowLayout, Write, id_limit_of
from piecework.io.atomic_files import atomic_file, atomic_stream
from piecework.io.read_file import exact_bytes
from piecework.tokenizer import Tokenizer

MEGATRON_MAGIC = b"MMIDIDX\x00\x00"

MEGATRON_HEADER = struct.Struct("<9sQBQQ")  # magic, version, type code, sequences, documents + 1
MEGATRON_TYPES = {1: "u1", 2: "i1", 3: "<i2", 4: "<i4", 5: "<i8", 8: "<u2"}
_CODE_OF_TYPE = {type_name: code for code, type_name in MEGATRON_TYPES.items()}
_UINT16_LIMIT = 65_500  # Megatron-LM writes uint16 for vocabularies below this size
_VALUES_AT_ONCE = 1 << 16


def megatron_files(path: str, layout: RowLayout = PLAIN) -> tuple[str, str]:
    """Return the paths of data and index; `a`, `a.bin` and `a.idx` mean the same pair."""
    prefix = path.removesuffix(".bin").removesuffix(".idx")
    return f"{prefix}.bin", f"{prefix}.idx"


def is_megatron_data(path: str) -> bool:
    """Return whether `path` is the `.bin` file or the common prefix of a pair of files."""
    data, index = megatron_files(path)
    is_pair = os.path.isfile(data) and os.path.isfile(index)
    return is_pair and (path == data or not os.path.exists(path))


@contextmanager
def write_megatron(path: str, tokenizer: Tokenizer, layout: RowLayout) -> Iterator[Write]:
    """Write each row as a document of one sequence."""
    data_path, index_path = megatron_files(path)
    ids_type = "<u2" if id_limit_of(tokenizer) < _UINT16_LIMIT else "<i4"
    # Contexts close in reverse order: the index appears after the data.
    with (
        atomic_file(index_path) as index,
        index.open("wb") as index_stream,
        atomic_stream(data_path) as data,
    ):
        index_stream.write(bytes(MEGATRON_HEADER.size))

        def write(lines: EncodedLines) -> None:
            data.write(lines.batch.ids.astype(ids_type).data)
            index_stream.write(lines.batch.lengths.astype("<i4").data)

        yield write
        index_stream.flush()
        _finish_index(index, index_stream, ids_type)


def read_megatron(path: str, rows_at_once: int) -> Iterator[list[list[int]]]:
    """Yield the sequences of a pair of files in lists of at most `rows_at_once`."""
    data_path, index_path = megatron_files(path)
    if not os.path.isfile(data_path):
        message = f"cannot be read: no such file; it has the data of {index_path}"
        raise FileError(data_path, message, errno=errno.ENOENT)
    with damage_as_corpus_error(index_path, "a complete index of Megatron-LM"):
        size = os.path.getsize(data_path)
        dtype, number = _type_and_rows(index_path)
    if size and not number:
        found = f"no sequences for {size} bytes of data"
        raise CorpusError(index_path, f"has {found}; it is not the index of {data_path}")
    read = row = 0
    stored_starts = index_column(index_path, 4 * number, number, "<i8", rows_at_once)
    for lengths in index_column(index_path, 0, number, "<i4", rows_at_once):
        starts = next(stored_starts)
        rows = []
        with FileError.while_reading(data_path), open(data_path, "rb") as data:
            for length, start in zip(lengths.tolist(), starts.tolist(), strict=True):
                row += 1
                place = f"{index_path} row {row}"
                end = start + length * dtype.itemsize
                if length < 0 or start < 0 or end > size:
                    found = f"bytes {start} to {end}"
                    raise CorpusError(place, f"has {found}, and the data {size} bytes")
                read += end - start
                # Rows of a damaged index that share the same bytes would need memory without bound.
                if read > size:
                    raise CorpusError(place, "has bytes of an earlier row")
                data.seek(start)
                rows.append(
                    np.frombuffer(exact_bytes(data, end - start, data_path), dtype).tolist()
                )
        yield rows


def _finish_index(index: Path, stream: BinaryIO, ids_type: str) -> None:
    """Append byte pointers and documents to the lengths, and write the header."""
    rows = (stream.tell() - MEGATRON_HEADER.size) // 4
    pointer = 0
    for lengths in index_column(str(index), 0, rows, "<i4"):
        sizes = lengths.astype(np.int64) * np.dtype(ids_type).itemsize
        stream.write((pointer + np.cumsum(sizes) - sizes).astype("<i8").data)
        pointer += int(sizes.sum())
    for start in range(0, rows + 1, _VALUES_AT_ONCE):
        stream.write(np.arange(start, min(start + _VALUES_AT_ONCE, rows + 1), dtype="<i8").data)
    stream.seek(0)
    stream.write(MEGATRON_HEADER.pack(MEGATRON_MAGIC, 1, _CODE_OF_TYPE[ids_type], rows, rows + 1))


def _type_and_rows(index_path: str) -> tuple[np.dtype[Any], int]:
    """Return the type of the ids and the number of rows; raises ValueError for damage."""
    with open(index_path, "rb") as index:
        head = index.read(MEGATRON_HEADER.size)
        size = os.fstat(index.fileno()).st_size
    if len(head) < MEGATRON_HEADER.size:
        raise ValueError(f"{len(head)} bytes")
    _, _, code, rows, _ = MEGATRON_HEADER.unpack(head)
    if code not in MEGATRON_TYPES:
        raise ValueError(f"type code {code}")
    if MEGATRON_HEADER.size + 12 * rows > size:
        raise ValueError(f"{size} bytes for {rows} sequences")
    return np.dtype(MEGATRON_TYPES[code]), rows


def index_column(
    index_path: str, start: int, count: int, type_name: str, at_once: int | None = None
) -> Iterator[np.ndarray[Any, Any]]:
    """Yield a column of an index that begins at a byte after the header, in parts."""
    width = np.dtype(type_name).itemsize
    with FileError.while_reading(index_path), open(index_path, "rb") as stream:
        stream.seek(MEGATRON_HEADER.size + start)
        while count:
            values = min(count, at_once or _VALUES_AT_ONCE)
            yield np.frombuffer(exact_bytes(stream, values * width, index_path), type_name)
            count -= values
