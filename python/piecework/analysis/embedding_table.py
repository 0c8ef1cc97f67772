"""Read the table of embeddings of a model: what tells rows apart, without keeping them."""

from __future__ import annotations

import os
from collections.abc import Collection
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from piecework.errors import FileError, FormatError
from piecework.io.safetensors_files import INDEX, INPUT_TABLE, TableFile, read_header, weight_files

_BLOCK = 2048
_MOST_EXTRA_ROWS = 0.1


class Table(NamedTuple):
    """The table with a row for each id: its name, the digests and norms of its rows, and their distances.

    A distance is to the mean of the unused rows: rows of unused ids and after the last id, without zero rows.
    None without such rows.
    """

    name: str
    digests: tuple[bytes, ...]
    norms: npt.NDArray[np.float64]
    distances: npt.NDArray[np.float64] | None


def read_table(path: str, size: int, unused: Collection[int]) -> Table:
    """Read the table of a file, in blocks of rows.

    Raises `FormatError` that names the file if it has no table with a row for each of `size` ids.
    """
    file_path, name = _place_of_table(path, size)
    file = read_header(file_path)
    count = file.tensors[name].type.rows
    with FileError.while_reading(file_path), open(file_path, "rb") as stream:
        rows = TableFile(stream, file, name, count)
        blocks = [np.arange(at, min(at + _BLOCK, count)) for at in range(0, count, _BLOCK)]
        digests: list[bytes] = []
        norms: list[npt.NDArray[np.float64]] = []
        total, number = np.zeros(rows.width), 0
        for ids in blocks:
            digests += [
                blake2b(row.tobytes(), digest_size=16).digest() for row in rows.read_bytes(ids)
            ]
            block = rows.read(ids)
            norms.append(np.linalg.norm(block, axis=1))
            is_unused = (norms[-1] > 0) & np.isin(ids, [*unused, *range(size, count)])
            total += block[is_unused].sum(axis=0)
            number += int(is_unused.sum())
        mean = total / max(number, 1)
        distances = [np.linalg.norm(rows.read(ids) - mean, axis=1) for ids in blocks if number]
    found = np.concatenate(distances) if distances else None
    return Table(name, tuple(digests), np.concatenate(norms), found)


def _place_of_table(path: str, size: int) -> tuple[str, str]:
    """Return the file and the name of the first table with a row for each of `size` ids.

    The name of an input table comes first; else the shape decides, with at most a tenth more rows.
    """
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    if path.endswith(".json") and os.path.basename(path) != INDEX:
        problem = f"is not {INDEX}; pass that file, a .safetensors file or the folder of the model"
        raise FormatError(path, problem)
    is_several = os.path.isdir(path) or os.path.basename(path) == INDEX
    files = (
        [os.path.join(folder, name) for name in weight_files(folder)[0]] if is_several else [path]
    )
    shapes = {
        (file, name): tensor.type
        for file in files
        for name, tensor in read_header(file).tensors.items()
        if len(tensor.type.shape) == 2 and tensor.type.is_floating
    }
    most = size + max(size * _MOST_EXTRA_ROWS, 1024)
    fitting = [place for place, kind in shapes.items() if size <= kind.shape[0] <= most]
    if not fitting:
        largest = max((kind.shape[0] for kind in shapes.values()), default=0)
        problem = f"has no table with a row for each of the {size:,} ids; its largest has {largest:,} rows"
        raise FormatError(path, f"{problem}; is it the model of this tokenizer?")
    named = [place for place in fitting if INPUT_TABLE.search(place[1])]
    return min(named or fitting, key=lambda place: shapes[place].shape[0])
