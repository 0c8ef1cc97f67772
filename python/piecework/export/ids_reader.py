"""Read rows of ids: every format that `encode_files` writes, recognized by its content."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import pairwise
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from piecework._internal.validation import PathLike, path_text
from piecework.corpus.json_lines import line_lists
from piecework.corpus.text_stream import TextStream
from piecework.errors import CorpusError, FileError, IdRangeError
from piecework.export.arrow_tables import import_pyarrow
from piecework.export.id_arrays import (
    MEGATRON_DTYPES,
    MEGATRON_HEADER,
    MEGATRON_MAGIC,
    megatron_files,
    npy_files,
)
from piecework.io.read_file import reason

Rows: TypeAlias = list[list[int]]

_ROWS_AT_ONCE = 8192
_TEXT_BYTES_AT_ONCE = 1 << 20
_HEAD_BYTES = 8


def read_ids(path: PathLike, *, id_limit: int = 2**32) -> Iterator[Rows]:
    """Give the rows of ids in a file, in lists of bounded size.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ids.txt"
    >>> _ = path.write_text("5 6\\n\\n7\\n")
    >>> list(read_ids(path))
    [[[5, 6], [], [7]]]

    The content says the format: lines of ids or of JSON objects with `ids` (both also with gzip or
    Zstandard), `.npy` with its row offsets beside it, Arrow (a file or a stream), Parquet, Megatron-LM's
    `.bin` and `.idx` (either, or their common prefix). `-` is stdin. Memory is constant.

    Raises `IdRangeError` for an id that is not below `id_limit`, `CorpusError` for anything that is not ids,
    both naming the line or row from 1, `FileError` and `MissingExtraError`.
    """
    source = path_text(path)
    if source == "-":
        yield from _of_stdin(id_limit)
        return
    if _is_megatron_data(source):
        source = megatron_files(source)[1]
    readers = {
        b"\x93NUMPY": _npy_rows,
        b"ARROW1": _arrow_file_rows,
        b"\xff\xff\xff\xff": _arrow_stream_rows,
        b"PAR1": _parquet_rows,
        MEGATRON_MAGIC[:_HEAD_BYTES]: _megatron_rows,
    }
    head = _head_of(source)
    read = next((read for magic, read in readers.items() if head.startswith(magic)), None)
    if read is None:
        yield from _text_rows(source, id_limit)
        return
    first = 1
    for rows in read(source):
        _check(rows, source, first, id_limit)
        first += len(rows)
        yield rows


def _is_megatron_data(path: str) -> bool:
    """Tell whether a path is the data, or the common prefix, of a pair of Megatron files."""
    data, index = megatron_files(path)
    is_pair = os.path.isfile(data) and os.path.isfile(index)
    return is_pair and (path == data or not os.path.exists(path))


def _head_of(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(_HEAD_BYTES)
    except OSError as error:
        raise FileError(path, reason(error), "a readable file of ids") from error


def _of_stdin(id_limit: int) -> Iterator[Rows]:
    if sys.stdin is None:  # started with a closed stdin
        raise FileError("<stdin>", "a closed stream", "ids")
    stream = sys.stdin.buffer
    # The first byte tells text from the rest; to wait for more would hold up a pipe.
    head = stream.peek(1)[:_HEAD_BYTES] if hasattr(stream, "peek") else b""
    read: Callable[[], Iterator[Rows]]
    if head[:1] == b"\xff":
        read = partial(_arrow_stream_of, stream, "<stdin>")
    elif head.startswith(b"ARROW1"):
        read = partial(_arrow_file_of, stream, "<stdin>")
    elif head.startswith(b"PAR1"):
        read = partial(_parquet_of, stream, "<stdin>")
    elif head.startswith((b"\x93NUMPY", b"MMIDIDX")):
        expected = "the path of the file, which has another beside it"
        raise CorpusError("<stdin>", "one of the two files of npy or Megatron", expected)
    else:
        yield from _text_rows("-", id_limit)
        return
    first = 1
    for rows in read():
        _check(rows, "<stdin>", first, id_limit)
        first += len(rows)
        yield rows


def _check(rows: Rows, name: str, first: int, id_limit: int) -> None:
    """Raise unless each id is in the range; `first` is the number of the first row."""
    for number, row in enumerate(rows, start=first):
        if row and (min(row) < 0 or max(row) >= id_limit):
            wrong = next(id for id in row if not 0 <= id < id_limit)
            expected = f"ids from 0 to {id_limit - 1}"
            raise IdRangeError(f"{name} row {number}", str(wrong), expected)


# ---- text


def _text_rows(path: str, id_limit: int) -> Iterator[Rows]:
    with ExitStack() as stack:
        stream = TextStream(path, stack, at_once=True)
        first = 1
        for lines in line_lists(stream, _TEXT_BYTES_AT_ONCE):
            yield [
                _row_of(line, f"{stream.name} line {number}", id_limit)
                for number, line in enumerate(lines, start=first)
            ]
            first += len(lines)


def _row_of(line: bytes, place: str, id_limit: int) -> list[int]:
    if line.lstrip()[:1] == b"{":
        return _json_row(line, place, id_limit)
    ids = []
    for word in line.split():
        if not word.isdigit() or len(word) > 10 or int(word) >= id_limit:
            found = repr(word[:40].decode(errors="replace"))
            raise IdRangeError(place, found, f"ids from 0 to {id_limit - 1} between blanks")
        ids.append(int(word))
    return ids


def _json_row(line: bytes, place: str, id_limit: int) -> list[int]:
    expected = f'an object with "ids", a list of ids from 0 to {id_limit - 1}'
    try:
        ids = json.loads(line)["ids"]
    except KeyError as error:
        raise CorpusError(place, "no field 'ids'", expected) from error
    except (ValueError, RecursionError) as error:
        found = f"broken JSON ({str(error).replace('line 1 ', '')})"
        raise CorpusError(place, found, expected) from error
    if not isinstance(ids, list):
        raise CorpusError(f"{place} field 'ids'", type(ids).__name__, expected)
    for id in ids:
        if type(id) is not int or not 0 <= id < id_limit:
            raise IdRangeError(f"{place} field 'ids'", repr(id)[:40], expected)
    return ids


# ---- numpy and Megatron-LM


def _npy_rows(path: str) -> Iterator[Rows]:
    if path.endswith(".row_offsets.npy"):
        raise CorpusError(
            path, "row offsets", "the file of ids, without `.row_offsets` in its name"
        )
    ids = _npy_array(path)
    offsets_path = npy_files(path)[1]
    if not os.path.isfile(offsets_path):
        raise FileError(offsets_path, "no such file", f"the row offsets of {path}")
    offsets = _npy_array(offsets_path)
    previous = 0
    for start in range(0, max(len(offsets) - 1, 0), _ROWS_AT_ONCE):
        part = np.asarray(offsets[start : start + _ROWS_AT_ONCE + 1], np.int64)
        if part[0] != previous or (np.diff(part) < 0).any() or part[-1] > len(ids):
            raise CorpusError(offsets_path, "offsets that do not fit", f"those of {path}")
        previous = int(part[-1])
        flat = np.asarray(ids[part[0] : part[-1]]).tolist()
        bounds = (part - part[0]).tolist()
        yield [flat[a:b] for a, b in pairwise(bounds)]
    if previous != len(ids):
        raise CorpusError(offsets_path, f"an end at {previous}", f"{len(ids)}, as {path} has")


def _npy_array(path: str) -> Any:
    """Map a `.npy` of integers into memory; an array without items is read."""
    expected = "an array of integers of one dimension"
    with _damage_named(path, expected):
        array = np.load(path, allow_pickle=False)[:0] if _is_empty_npy(path) else None
        array = np.load(path, mmap_mode="r", allow_pickle=False) if array is None else array
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise CorpusError(path, f"{array.dtype} of shape {array.shape}", expected)
    return array


def _is_empty_npy(path: str) -> bool:
    with open(path, "rb") as stream:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0
        return version == (1, 0) and 0 in read(stream)[0]


def _megatron_rows(index_path: str) -> Iterator[Rows]:
    data_path = megatron_files(index_path)[0]
    if not os.path.isfile(data_path):
        raise FileError(data_path, "no such file", f"the data of {index_path}")
    with _damage_named(index_path, "a whole index of Megatron-LM"):
        data: Any = _mapped(data_path)
        index: Any = _mapped(index_path)
        if len(index) < MEGATRON_HEADER.size:
            raise ValueError(f"{len(index)} bytes")
        _, _, code, count, _ = MEGATRON_HEADER.unpack(bytes(index[: MEGATRON_HEADER.size]))
        if code not in MEGATRON_DTYPES:
            raise ValueError(f"type code {code}")
        start = MEGATRON_HEADER.size
        lengths = np.frombuffer(index, "<i4", count, start)
        pointers = np.frombuffer(index, "<i8", count, start + 4 * count)
    dtype = np.dtype(MEGATRON_DTYPES[code])
    for start in range(0, count, _ROWS_AT_ONCE):
        sizes = lengths[start : start + _ROWS_AT_ONCE].tolist()
        places = pointers[start : start + _ROWS_AT_ONCE].tolist()
        rows = []
        for number, (size, place) in enumerate(zip(sizes, places, strict=True), start=start + 1):
            end = place + size * dtype.itemsize
            if size < 0 or place < 0 or end > len(data):
                found = f"bytes {place} to {end}"
                raise CorpusError(f"{index_path} row {number}", found, f"{len(data)} bytes of data")
            rows.append(np.frombuffer(data[place:end], dtype).tolist())
        yield rows


def _mapped(path: str) -> Any:
    is_empty = os.path.getsize(path) == 0
    return np.empty(0, np.uint8) if is_empty else np.memmap(path, np.uint8, mode="r")


# ---- Arrow and Parquet


def _arrow_file_rows(path: str) -> Iterator[Rows]:
    pyarrow = import_pyarrow("pyarrow")
    with _damage_named(path, "a whole Arrow file"), pyarrow.memory_map(path) as source:
        yield from _arrow_batches(pyarrow.ipc.open_file(source), path)


def _arrow_batches(reader: Any, name: str) -> Iterator[Rows]:
    for at in range(reader.num_record_batches):
        yield from _column_rows(reader.get_batch(at), name)


def _arrow_file_of(stream: BinaryIO, name: str) -> Iterator[Rows]:
    pyarrow = import_pyarrow("pyarrow")
    with _damage_named(name, "a whole Arrow file"):
        yield from _arrow_batches(pyarrow.ipc.open_file(io.BytesIO(stream.read())), name)


def _arrow_stream_rows(path: str) -> Iterator[Rows]:
    with open(path, "rb") as stream:
        yield from _arrow_stream_of(stream, path)


def _arrow_stream_of(stream: BinaryIO, name: str) -> Iterator[Rows]:
    pyarrow = import_pyarrow("pyarrow")
    with _damage_named(name, "a whole Arrow stream"):
        for batch in pyarrow.ipc.open_stream(stream):
            yield from _column_rows(batch, name)


def _parquet_rows(path: str) -> Iterator[Rows]:
    with open(path, "rb") as stream:
        yield from _parquet_of(stream, path)


def _parquet_of(stream: BinaryIO, name: str) -> Iterator[Rows]:
    parquet = import_pyarrow("pyarrow.parquet")
    with _damage_named(name, "a whole Parquet file"):
        source = stream if stream.seekable() else io.BytesIO(stream.read())
        for batch in parquet.ParquetFile(source).iter_batches(batch_size=_ROWS_AT_ONCE):
            yield from _column_rows(batch, name)


def _column_rows(batch: Any, name: str) -> Iterator[Rows]:
    """Give the rows of the column `ids` of a record batch."""
    expected = "a column `ids` of lists of integers"
    if "ids" not in batch.schema.names:
        raise CorpusError(name, f"columns {', '.join(batch.schema.names)}", expected)
    column = batch.column(batch.schema.get_field_index("ids"))
    types = import_pyarrow("pyarrow.types")
    is_list = types.is_list(column.type) or types.is_large_list(column.type)
    if not (is_list and types.is_integer(column.type.value_type)):
        raise CorpusError(f"{name} column 'ids'", str(column.type), expected)
    if column.null_count or column.flatten().null_count:
        raise CorpusError(f"{name} column 'ids'", "nulls", expected)
    for start in range(0, len(column), _ROWS_AT_ONCE):
        yield column.slice(start, _ROWS_AT_ONCE).to_pylist()


@contextmanager
def _damage_named(name: str, expected: str) -> Iterator[None]:
    """Turn what a reader of a format raises about a damaged file into `CorpusError`."""
    try:
        yield
    except (CorpusError, FileError):
        raise
    except OSError as error:
        raise CorpusError(name, f"damaged data ({reason(error)})", expected) from error
    except (ValueError, EOFError) as error:
        words = " ".join(str(error).split())[:120]
        raise CorpusError(name, f"damaged data ({words})", expected) from error
