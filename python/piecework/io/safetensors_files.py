"""Read the tensors of safetensors files.

Layout: 8 bytes with the length of the header (little-endian), the header in JSON, the data.
Source: https://github.com/huggingface/safetensors (format).
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from piecework.errors import FileError, FormatError
from piecework.io.read_file import exact_bytes, json_object

Rows: TypeAlias = npt.NDArray[np.float64]

INPUT_TABLE = re.compile(
    r"(^|\.)(word_embeddings|word_embedding|wte|embed_tokens|tok_embeddings|tokens_embed|embed_in|shared)"
    r"\.weight$"
)
"""The names that transformers gives the table of input embeddings."""

MODEL, INDEX = "model.safetensors", "model.safetensors.index.json"
_MAX_HEADER_BYTES = 100_000_000  # the limit of the safetensors library
_MAX_DIMENSIONS = 64  # as in numpy
_FLOATS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}
_SIZES = {**_FLOATS, "I64": 8, "U64": 8, "I32": 4, "U32": 4, "I16": 2, "U16": 2}
_SIZES |= {"I8": 1, "U8": 1, "BOOL": 1}


class TensorType(NamedTuple):
    """The shape of a tensor, the name of its type, and whether that is floating-point."""

    shape: tuple[int, ...]
    dtype: str
    is_floating: bool

    @property
    def rows(self) -> int:
        """The rows of a table or a bias; a bias of shape (1, n) has n.

        >>> [TensorType(shape, "F32", True).rows for shape in ((5, 8), (5,), (1, 5), ())]
        [5, 5, 5, 0]
        """
        return self.shape[1] if self.is_transposed else self.shape[0] if self.shape else 0

    @property
    def is_transposed(self) -> bool:
        """Whether it is a bias of shape (1, n)."""
        return len(self.shape) == 2 and self.shape[0] == 1


class Tensor(NamedTuple):
    """A tensor of a file: its type, and its bytes in the data of the file."""

    type: TensorType
    start: int
    end: int


@dataclass(frozen=True)
class SafetensorsFile:
    """The header of a file, checked against the size of the file; tensors are in the order of their bytes."""

    path: str
    tensors: Mapping[str, Tensor]
    metadata: Mapping[str, str] | None
    data_start: int
    data_size: int


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
        found = [(name, _tensor(path, name, value)) for name, value in header.items()]
    except FormatError:
        raise
    except (ValueError, AttributeError, RecursionError) as error:
        problem = f"is not a safetensors file: its header is no JSON object ({error})"
        raise FormatError(path, problem) from error
    end = 0
    tensors = dict(sorted(found, key=lambda item: (item[1].start, item[1].end)))
    for name, tensor in tensors.items():
        if tensor.start != end:
            raise FormatError(path, f"has {name!r} at byte {tensor.start}, not at byte {end}")
        end = tensor.end
    if end != size - 8 - length:
        found_size = f"{size - 8 - length} bytes of data"
        raise FormatError(path, f"has {found_size}, and {end} according to its header")
    return SafetensorsFile(path, tensors, metadata, 8 + length, end)


def _tensor(path: str, name: str, value: Any) -> Tensor:
    match value:
        case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [start, end]}:
            if len(shape) > _MAX_DIMENSIONS:
                # The product of many large sizes takes time quadratic in their number.
                found = f"{name!r} with a shape of {len(shape)} dimensions"
                raise FormatError(path, f"has {found}; the limit is {_MAX_DIMENSIONS}")
            if all(map(_is_size, (*shape, start, end))) and start <= end:
                size = _SIZES.get(dtype)
                if size is None or math.prod(shape) * size == end - start:
                    kind = TensorType(tuple(shape), dtype, dtype in _FLOATS)
                    return Tensor(kind, start, end)
    expected = "dtype, shape and data_offsets that agree"
    raise FormatError(path, f"found {name!r} with {value!r}, expected {expected}")


def _is_size(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**63


class TableFile:
    """The rows of a table in an open file; only the rows in use are in memory."""

    def __init__(self, stream: BinaryIO, file: SafetensorsFile, name: str, rows: int) -> None:
        tensor = file.tensors[name]
        self._stream, self._start = stream, file.data_start + tensor.start
        self._path = file.path
        self.dtype = tensor.type.dtype
        self.row_bytes = (tensor.end - tensor.start) // max(rows, 1)
        self.width = self.row_bytes // _FLOATS[tensor.type.dtype]

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


def weight_files(folder: str) -> tuple[list[str], dict[str, Any] | None]:
    """Return the names of the weight files of a folder, and the index if there are several."""
    path = os.path.join(folder, INDEX)
    if not os.path.exists(path):
        if not os.path.exists(os.path.join(folder, MODEL)):
            raise FileError(folder, f"has no weights; it needs {MODEL} or {INDEX}")
        return [MODEL], None
    index = json_object(path)
    weight_map = index.get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise FormatError(path, "has no weight_map, an object of tensor names and files")
    for name in weight_map.values():
        if not isinstance(name, str) or os.path.basename(name) != name or name in ("", ".", ".."):
            raise FormatError(path, f"{name!r} is not the name of a file in the folder")
    return sorted(set(weight_map.values())), index
