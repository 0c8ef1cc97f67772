"""Write a safetensors file with other rows in some tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from piecework.errors import FileError
from piecework.integrations.embeddings.tables import BLOCK_BYTES, Change, NewRows
from piecework.io.read_file import exact_bytes
from piecework.io.safetensors_files import Rows, SafetensorsFile, TableFile


def as_bytes(rows: Rows, dtype: str) -> npt.NDArray[np.uint8]:
    """Return rows of numbers as bytes, rounded to the nearest, by way of float32 for 16 bits (as torch does).

    >>> as_bytes(np.array([[1.0]]), "BF16")
    array([[128,  63]], dtype=uint8)
    """
    if dtype == "F64":
        return np.ascontiguousarray(rows, "<f8").view(np.uint8)
    with np.errstate(over="ignore"):
        singles = np.ascontiguousarray(rows, np.float32)
        if dtype != "BF16":
            kind = "<f4" if dtype == "F32" else "<f2"
            return np.ascontiguousarray(singles, kind).view(np.uint8)
    bits = singles.view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = (bits + np.uint32(0x7FFF) + odd) >> np.uint32(16)
    nan = np.where(np.isnan(singles), np.uint32(0x7FC0), rounded)
    return np.ascontiguousarray(nan.astype("<u2")).view(np.uint8)


def resized_header(
    file: SafetensorsFile, tables: Mapping[str, int], new_rows: int
) -> tuple[bytes, int]:
    """Return the first bytes of a file whose tables have another number of rows, and the size of its data."""
    header: dict[str, Any] = {} if file.metadata is None else {"__metadata__": file.metadata}
    end = 0
    for name, tensor in file.tensors.items():
        length, shape = tensor.end - tensor.start, list(tensor.type.shape)
        if name in tables:
            length = length // max(tables[name], 1) * new_rows
            shape[1 if tensor.type.is_transposed else 0] = new_rows
        header[name] = {
            "dtype": tensor.type.dtype,
            "shape": shape,
            "data_offsets": [end, end + length],
        }
        end += length
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text, end


def write_resized(
    file: SafetensorsFile, target: BinaryIO, tables: Mapping[str, int], change: Change
) -> None:
    """Write a file with other rows in some tables; only some megabytes of rows are in memory at a time."""
    with FileError.while_reading(file.path):
        source = open(file.path, "rb")  # noqa: SIM115 (the next line closes it)
    with source:
        target.write(resized_header(file, tables, len(change.old_ids))[0])
        for name, tensor in file.tensors.items():
            if name in tables:
                for block in _new_blocks(TableFile(source, file, name, tables[name]), change):
                    target.write(block)
                continue
            source.seek(file.data_start + tensor.start)
            for at in range(tensor.start, tensor.end, BLOCK_BYTES):
                size = min(BLOCK_BYTES, tensor.end - at)
                target.write(exact_bytes(source, size, file.path))


def _new_blocks(table: TableFile, change: Change) -> Iterator[memoryview]:
    new_rows, old_ids = NewRows(table.read, table.width, change), change.old_ids
    step = max(BLOCK_BYTES // (8 * max(table.width, 1)), 1)
    for at in range(0, len(old_ids), step):
        ids = old_ids[at : at + step]
        block = np.empty((len(ids), table.row_bytes), np.uint8)
        block[ids >= 0] = table.read_bytes(ids[ids >= 0])
        added = np.flatnonzero(ids < 0)
        if len(added):
            block[added] = as_bytes(new_rows.rows(added + at), table.dtype)
        yield block.reshape(-1).data
