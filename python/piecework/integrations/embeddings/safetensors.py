"""Read the header of a safetensors file, and write a file with other rows in some tables.

Layout: 8 bytes with the length of the header (little-endian), the header in JSON, the data.
Source: https://github.com/huggingface/safetensors (format).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from piecework.errors import FileError, FormatError
from piecework.integrations.embeddings.new_rows import NewRows, Rows
from piecework.io.read_file import exact_bytes

_MAX_HEADER_BYTES = 100_000_000  # the limit of the safetensors library
_MAX_DIMENSIONS = 64  # as in numpy
_BLOCK_BYTES = 4 << 20
_FLOATS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}
_SIZES = _FLOATS | {
    "I64": 8,
    "U64": 8,
    "I32": 4,
    "U32": 4,
    "I16": 2,
    "U16": 2,
    "I8": 1,
    "U8": 1,
    "BOOL": 1,
}


@dataclass(frozen=True)
class Tensor:
    """A tensor of a file: its type, its shape, and its bytes in the data of the file."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int


@dataclass(frozen=True)
class SafetensorsFile:
    """The header of a file, checked against the size of the file."""

    path: str
    tensors: Mapping[str, Tensor]
    metadata: Mapping[str, str] | None
    data_start: int


def read_header(path: str) -> SafetensorsFile:
    """Read and check the header; raises `FileError` and `FormatError`."""
    with FileError.while_reading(path), open(path, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        length = int.from_bytes(stream.read(8), "little")
        if size < 8 or length > min(size - 8, _MAX_HEADER_BYTES):
            problem = (
                f"is not a safetensors file: it has a header of {length} bytes in a file of {size}"
            )
            raise FormatError(path, problem)
        raw = stream.read(length)
    try:
        header = json.loads(raw)
        metadata = header.pop("__metadata__", None)
        tensors = {name: _tensor(path, name, value) for name, value in header.items()}
    except (ValueError, AttributeError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        problem = f"is not a safetensors file: its header is no JSON object ({error})"
        raise FormatError(path, problem) from error
    _check_places(path, tensors, size - 8 - length)
    return SafetensorsFile(path, tensors, metadata, 8 + length)


def _tensor(path: str, name: str, value: Any) -> Tensor:
    def bad(found: object) -> FormatError:
        problem = (
            f"found {name!r} with {found!r}, expected dtype, shape and data_offsets that agree"
        )
        return FormatError(path, problem)

    if not isinstance(value, dict):
        raise bad(value)
    dtype, shape, places = (value.get(key) for key in ("dtype", "shape", "data_offsets"))
    if not isinstance(dtype, str) or not isinstance(shape, list) or not isinstance(places, list):
        raise bad(value)
    if len(shape) > _MAX_DIMENSIONS:
        # The product of many large sizes takes time quadratic in their number.
        found = f"{name!r} with a shape of {len(shape)} dimensions"
        raise FormatError(path, f"has {found}; the limit is {_MAX_DIMENSIONS}")
    if not all(_is_size(number) for number in (*shape, *places)) or len(places) != 2:
        raise bad(value)
    known = _SIZES.get(dtype)
    if places[0] > places[1]:
        raise bad(value)
    if known is not None and math.prod(shape) * known != places[1] - places[0]:
        raise bad(value)
    return Tensor(dtype, tuple(shape), places[0], places[1])


def _is_size(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**63


def _check_places(path: str, tensors: Mapping[str, Tensor], size: int) -> None:
    """Raise unless the tensors cover the data of the file without gaps."""
    end = 0
    for name, tensor in sorted(tensors.items(), key=lambda item: (item[1].start, item[1].end)):
        if tensor.start != end:
            raise FormatError(path, f"has {name!r} at byte {tensor.start}, not at byte {end}")
        end = tensor.end
    if end != size:
        raise FormatError(path, f"has {size} bytes of data, and {end} according to its header")


class TableFile:
    """The rows of a table in an open file; only the rows in use are in memory."""

    def __init__(self, stream: BinaryIO, file: SafetensorsFile, name: str, rows: int) -> None:
        tensor = file.tensors[name]
        if tensor.dtype not in _FLOATS:
            found = f"{name!r} of type {tensor.dtype}"
            problem = f"has {found}, which is not floating-point ({', '.join(_FLOATS)})"
            raise FormatError(file.path, problem)
        self._stream, self._start = stream, file.data_start + tensor.start
        self._path = file.path
        self.dtype = tensor.dtype
        self.row_bytes = (tensor.end - tensor.start) // max(rows, 1)
        self.width = self.row_bytes // _FLOATS[tensor.dtype]

    def read_bytes(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        """Return the bytes of rows; adjacent rows are read at once."""
        found = np.empty((len(ids), self.row_bytes), np.uint8)
        ends = np.append(np.flatnonzero(np.diff(ids) != 1) + 1, len(ids))
        start = 0
        for end in ends.tolist() if len(ids) else ():
            self._stream.seek(self._start + int(ids[start]) * self.row_bytes)
            data = exact_bytes(self._stream, (end - start) * self.row_bytes, self._path)
            found[start:end] = np.frombuffer(data, np.uint8).reshape(end - start, self.row_bytes)
            start = end
        return found

    def read(self, ids: npt.NDArray[np.int64]) -> Rows:
        """Return rows as float64."""
        return as_float64(self.read_bytes(ids), self.dtype)


def as_float64(data: npt.NDArray[np.uint8], dtype: str) -> Rows:
    """Return rows of bytes as numbers.

    >>> as_float64(np.array([[0x80, 0x3F]], np.uint8), "BF16")
    array([[1.]])
    """
    numbers: npt.NDArray[Any] = data
    if dtype == "BF16":
        numbers = (data.view("<u2").astype(np.uint32) << np.uint32(16)).view(np.float32)
    else:
        numbers = data.view({"F64": "<f8", "F32": "<f4", "F16": "<f2"}[dtype])
    with np.errstate(invalid="ignore"):  # signaling NaN
        return numbers.astype(np.float64)


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
    for name, tensor in _in_order(file):
        length, shape = tensor.end - tensor.start, list(tensor.shape)
        if name in tables:
            length = length // max(tables[name], 1) * new_rows
            shape[1 if len(shape) == 2 and shape[0] == 1 else 0] = new_rows
        header[name] = {"dtype": tensor.dtype, "shape": shape, "data_offsets": [end, end + length]}
        end += length
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text, end


def write_resized(
    source: BinaryIO,
    target: BinaryIO,
    file: SafetensorsFile,
    tables: Mapping[str, int],
    old_ids: npt.NDArray[np.int64],
    rules: Mapping[str, tuple[TableFile, NewRows]],
) -> None:
    """Write a file with other rows in some tables; memory holds some megabytes of rows at a time."""
    target.write(resized_header(file, tables, len(old_ids))[0])
    for name, tensor in _in_order(file):
        if name in tables:
            for block in _new_blocks(*rules[name], old_ids):
                target.write(block)
        else:
            source.seek(file.data_start + tensor.start)
            for at in range(tensor.start, tensor.end, _BLOCK_BYTES):
                size = min(_BLOCK_BYTES, tensor.end - at)
                target.write(exact_bytes(source, size, file.path))


def _new_blocks(
    table: TableFile, rule: NewRows, old_ids: npt.NDArray[np.int64]
) -> Iterator[memoryview]:
    step = max(_BLOCK_BYTES // (8 * max(table.width, 1)), 1)
    for at in range(0, len(old_ids), step):
        ids = old_ids[at : at + step]
        block = np.empty((len(ids), table.row_bytes), np.uint8)
        block[ids >= 0] = table.read_bytes(ids[ids >= 0])
        added = np.flatnonzero(ids < 0)
        if len(added):
            block[added] = as_bytes(rule.rows(added + at), table.dtype)
        yield block.reshape(-1).data


def _in_order(file: SafetensorsFile) -> list[tuple[str, Tensor]]:
    return sorted(file.tensors.items(), key=lambda item: (item[1].start, item[1].end))
