"""Write and read ids as numpy arrays: flat ids in `a.npy`, row offsets in `a.row_offsets.npy`.

Both files can be memory-mapped. Row i is `ids[offsets[i]:offsets[i + 1]]`. Memory is constant: the arrays
go to disk batch by batch, and their headers, which contain the length, are written again at the end.
"""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np

from piecework.errors import CorpusError, FileError
from piecework.export.chats import MASK_NAME, ids_and_mask
from piecework.export.damaged_files import damage_as_corpus_error
from piecework.export.encoded_lines import PLAIN, EncodedLines, RowLayout, Write, id_limit_of
from piecework.io.atomic_files import atomic_stream
from piecework.io.read_file import exact_bytes
from piecework.tokenizer import Tokenizer

NPY_MAGIC = b"\x93NUMPY"

_OFFSETS_SUFFIX = ".row_offsets.npy"
_NAMES_OF_PACKED = ("document_lengths", "document_offsets")


def npy_files(path: str, layout: RowLayout = PLAIN) -> tuple[str, ...]:
    """Return the paths of all files of a layout: ids, row offsets or lengths of documents, and masks.

    >>> npy_files("a.npy", RowLayout(has_mask=True))
    ('a.npy', 'a.row_offsets.npy', 'a.assistant_masks.npy')
    """
    names = ["row_offsets"] if layout.packed_length is None else list(_NAMES_OF_PACKED)
    if layout.has_mask:
        names.append(MASK_NAME)
    return (path, *(f"{path.removesuffix('.npy')}.{name}.npy" for name in names))


@contextmanager
def write_npy(path: str, tokenizer: Tokenizer, layout: RowLayout = PLAIN) -> Iterator[Write]:
    """Write ids as uint16 if the whole vocabulary fits, otherwise as uint32; row offsets as int64.

    Packed rows are an array of shape (rows, `layout.packed_length`). The documents of row i have the lengths
    `lengths[offsets[i]:offsets[i + 1]]`, int32.
    """
    ids_path, *others = npy_files(path, layout)
    row_shape = () if layout.packed_length is None else (layout.packed_length,)
    masks = lengths = None
    with ExitStack() as stack:
        # Contexts close in reverse order: the offsets appear last.
        mask_path = others.pop() if layout.has_mask else None
        offsets = stack.enter_context(_growing_array(others[-1], "<i8"))
        if row_shape:
            lengths = stack.enter_context(_growing_array(others[0], "<i4"))
        if mask_path is not None:
            masks = stack.enter_context(_growing_array(mask_path, "|u1", row_shape))
        ids = stack.enter_context(_growing_array(ids_path, _ids_type(tokenizer), row_shape))
        offsets.append(np.zeros(1, np.int64))

        def write(lines: EncodedLines) -> None:
            if lengths is None or lines.documents is None:
                offsets.append(lines.batch.row_offsets[1:] + ids.length)
            else:
                offsets.append(lines.documents.row_offsets[1:] + lengths.length)
                lengths.append(lines.documents.lengths)
            if masks is None:
                ids.append(lines.batch.ids)
            else:
                for array, values in zip((ids, masks), ids_and_mask(lines.batch), strict=True):
                    array.append(values)

        yield write


def _ids_type(tokenizer: Tokenizer) -> str:
    return "<u2" if id_limit_of(tokenizer) <= 1 << 16 else "<u4"


def read_npy(path: str, rows_at_once: int) -> Iterator[list[list[int]]]:
    """Yield the rows of a pair of files in lists of at most `rows_at_once`."""
    if path.endswith(_OFFSETS_SUFFIX):
        problem = "has row offsets; give the file of ids, without `.row_offsets` in its name"
        raise CorpusError(path, problem)
    ids = _StoredArray(path)
    offsets_path = npy_files(path)[1]
    if not os.path.isfile(offsets_path):
        message = f"cannot be read: no such file; it has the row offsets of {path}"
        raise FileError(offsets_path, message, errno=errno.ENOENT)
    offsets = _StoredArray(offsets_path)
    if not offsets.length:
        raise CorpusError(offsets_path, f"is empty; the row offsets of {path} begin with 0")
    previous_end = 0
    for start in range(0, max(offsets.length - 1, 0), rows_at_once):
        bounds = offsets.values(start, start + rows_at_once + 1).astype(np.int64)
        if bounds[0] != previous_end or (np.diff(bounds) < 0).any() or bounds[-1] > ids.length:
            raise CorpusError(offsets_path, f"does not have the row offsets of {path}")
        previous_end = int(bounds[-1])
        flat = ids.values(int(bounds[0]), previous_end).tolist()
        yield [flat[a:b] for a, b in pairwise((bounds - bounds[0]).tolist())]
    if previous_end != ids.length:
        problem = f"has a last offset of {previous_end}, and {path} {ids.length} ids"
        raise CorpusError(offsets_path, problem)


class _GrowingArray:
    """A `.npy` file to append values or rows to."""

    def __init__(self, stream: BinaryIO, type_name: str, row_shape: tuple[int, ...]) -> None:
        self._row_shape = row_shape
        self.length = 0
        self._stream = stream
        self._type = np.dtype(type_name)
        self._write_header()
        self._data_start = stream.tell()

    def append(self, values: np.ndarray[Any, Any]) -> None:
        """Append values; rows are given as one flat array."""
        self._stream.write(values.astype(self._type).data)
        self.length += len(values) // math.prod(self._row_shape)

    def finish(self) -> None:
        """Write the header again, now with the length; numpy pads it, so its size does not change."""
        self._stream.seek(0)
        self._write_header()
        assert self._stream.tell() == self._data_start

    def _write_header(self) -> None:
        shape = (self.length, *self._row_shape)
        header = {"descr": self._type.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._stream, header)


@contextmanager
def _growing_array(
    path: str, type_name: str, row_shape: tuple[int, ...] = ()
) -> Iterator[_GrowingArray]:
    with atomic_stream(path) as stream:
        array = _GrowingArray(stream, type_name, row_shape)
        yield array
        array.finish()


class _StoredArray:
    """A one-dimensional `.npy` file of integers, of which parts are read.

    Its data are not mapped: a mapped file that another process truncates ends this process.
    """

    def __init__(self, path: str) -> None:
        expected = "an array of integers of one dimension"
        with damage_as_corpus_error(path, expected), np.errstate(over="ignore"):
            mapped = np.load(path, mmap_mode="r")  # reads the header only
            shape, self._type, self._start = mapped.shape, mapped.dtype, mapped.offset
            size = os.path.getsize(path) - self._start
        if len(shape) != 1 or self._type.kind not in "iu":
            raise CorpusError(path, f"found {self._type} of shape {shape}, expected {expected}")
        self._path, self.length = path, shape[0]
        if size != self.length * self._type.itemsize:
            found = f"{self.length} integers according to its header"
            raise CorpusError(path, f"is damaged: it has {size} bytes for {found}")

    def values(self, start: int, end: int) -> np.ndarray[Any, Any]:
        """Return the values from `start` to `end`, at most to the last."""
        start, end = (min(place, self.length) for place in (start, end))
        width = self._type.itemsize
        with FileError.while_reading(self._path), open(self._path, "rb") as stream:
            stream.seek(self._start + start * width)
            data = exact_bytes(stream, (end - start) * width, self._path)
        return np.frombuffer(data, self._type)
