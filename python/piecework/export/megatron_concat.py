"""Concatenate indexed datasets of Megatron-LM, in constant memory."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from piecework._internal.counted import counted
from piecework._internal.validation import PathLike, path_text
from piecework.errors import ArgumentError, CorpusError, FileError
from piecework.export.encoded_files import system_errors_as_file_errors
from piecework.export.file_arguments import path_list
from piecework.export.megatron_files import (
    MEGATRON_HEADER,
    MEGATRON_MAGIC,
    MEGATRON_TYPES,
    index_column,
    megatron_paths,
)
from piecework.io.atomic_files import atomic_stream
from piecework.io.read_file import exact_bytes

_COPY_BYTES = 4 << 20


def concat_megatron(inputs: Sequence[PathLike], output: PathLike) -> int:
    """Write the documents of several `.bin` and `.idx` pairs to one pair; return the number of sequences.

    >>> import pathlib, tempfile
    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0, "a": 1, "b": 2}))
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name, text in {"one": "ab\\n", "two": "ba\\nb\\n"}.items():
    ...     _ = (folder / name).write_text(text)
    ...     _ = pw.encode_files(tok, folder / name, folder / f"{name}.bin", format="megatron")
    >>> concat_megatron([folder / "one.bin", folder / "two.bin"], folder / "all.bin")
    3
    >>> list(pw.export.read_ids(folder / "all.bin"))
    [[[1, 2], [2, 1], [2]]]

    A pair is named by either file or their common prefix. Documents keep their sequences and their order.
    Memory is constant, and the output is written atomically. Raises `ArgumentError` if an input is the
    output, `CorpusError` if the inputs have ids of different types or a damaged index, and `FileError`.
    """
    pairs = [_Pair.opened(path) for path in path_list(inputs, "inputs")]
    data_path, index_path = megatron_paths(path_text(output, "output"))
    for pair in pairs:
        _check_apart(pair, data_path, index_path)
        if pair.code != pairs[0].code:
            problem = (
                f"has ids of {np.dtype(MEGATRON_TYPES[pair.code])}, and {pairs[0].index_path} "
                f"{np.dtype(MEGATRON_TYPES[pairs[0].code])}; inputs must have ids of one type"
            )
            raise CorpusError(pair.index_path, problem)
    sequences = sum(pair.sequences for pair in pairs)
    # Contexts close in reverse order: the index appears after the data.
    with (
        system_errors_as_file_errors([data_path, index_path]),
        atomic_stream(index_path) as index,
        atomic_stream(data_path) as data,
        tempfile.TemporaryFile(dir=os.path.dirname(os.path.abspath(index_path))) as pointers,
    ):
        documents = sum(pair.documents for pair in pairs)
        code = pairs[0].code
        index.write(MEGATRON_HEADER.pack(MEGATRON_MAGIC, 1, code, sequences, documents + 1))
        data_start = 0
        for pair in pairs:
            data_start = _copy_sequences(pair, data_start, index, pointers, data)
        pointers.seek(0)
        shutil.copyfileobj(pointers, index, _COPY_BYTES)
        _write_documents(pairs, index)
    return sequences


@dataclass(frozen=True)
class _Pair:
    """The two files of one input; `documents` does not count the sentinel."""

    data_path: str
    index_path: str
    code: int
    sequences: int
    documents: int

    @classmethod
    def opened(cls, path: str) -> _Pair:
        """Read the header of an index; raises unless the sizes of the index match it."""
        data_path, index_path = megatron_paths(path)
        expected = "the pair of a .bin and an .idx file"
        try:
            os.stat(data_path)
            size = os.stat(index_path).st_size
            with open(index_path, "rb") as stream:
                head = stream.read(MEGATRON_HEADER.size)
        except OSError as error:
            name = str(error.filename or index_path)
            raise FileError.reading(name, error) from error
        expected = "a complete index of Megatron-LM"
        if len(head) < MEGATRON_HEADER.size or not head.startswith(MEGATRON_MAGIC):
            raise CorpusError(index_path, f"is not {expected}")
        _, version, code, sequences, documents = MEGATRON_HEADER.unpack(head)
        whole = MEGATRON_HEADER.size + 12 * sequences + 8 * documents
        if version != 1 or code not in MEGATRON_TYPES or not documents:
            found = f"version {version}, type code {code}, {documents} document entries"
            raise CorpusError(index_path, f"found {found}, expected {expected}")
        if size != whole:
            found = counted(size, "byte")
            rows = counted(sequences, "sequence")
            expected = f"{counted(whole, 'byte')} for {rows}, without sequence modes"
            raise CorpusError(index_path, f"found {found}, expected {expected}")
        return cls(data_path, index_path, code, sequences, documents - 1)


def _check_apart(pair: _Pair, data_path: str, index_path: str) -> None:
    for mine, its in ((pair.data_path, data_path), (pair.index_path, index_path)):
        if os.path.exists(its) and os.path.samefile(mine, its):
            raise ArgumentError("output", f"{its!r} is an input")


def _copy_sequences(
    pair: _Pair, data_start: int, lengths_out: BinaryIO, pointers_out: Any, data_out: BinaryIO
) -> int:
    """Append lengths, byte pointers and ids; returns the size of the data until now.

    Raises `CorpusError` unless the ids are stored one sequence after the other, as Megatron-LM writes them.
    """
    width = np.dtype(MEGATRON_TYPES[pair.code]).itemsize
    position = 0
    stored = index_column(pair.index_path, 4 * pair.sequences, pair.sequences, "<i8")
    for lengths in index_column(pair.index_path, 0, pair.sequences, "<i4"):
        sizes = lengths.astype(np.int64) * width
        pointers = position + np.cumsum(sizes) - sizes
        if (lengths < 0).any() or (pointers != next(stored)).any():
            problem = "has byte pointers of sequences that do not follow each other in the data"
            raise CorpusError(pair.index_path, problem)
        lengths_out.write(lengths.data)
        pointers_out.write((pointers + data_start).astype("<i8").data)
        position += int(sizes.sum())
    size = os.path.getsize(pair.data_path)
    if size != position:
        problem = f"has {size} bytes, and {position} according to {pair.index_path}"
        raise CorpusError(pair.data_path, problem)
    with FileError.while_reading(pair.data_path):
        data = open(pair.data_path, "rb")  # noqa: SIM115 (the next line closes it)
    with data:
        for start in range(0, size, _COPY_BYTES):
            data_out.write(exact_bytes(data, min(_COPY_BYTES, size - start), pair.data_path))
    return data_start + size


def _write_documents(pairs: Sequence[_Pair], index: BinaryIO) -> None:
    """Append the first sequence of each document, and at last the number of sequences."""
    first = 0
    for pair in pairs:
        previous = 0
        # The last entry of an input is the first entry of the next.
        entries = index_column(pair.index_path, 12 * pair.sequences, pair.documents, "<i8")
        for starts in entries:
            if (np.diff(starts, prepend=previous) < 0).any() or starts[-1] > pair.sequences:
                expected = f"ascending numbers up to {pair.sequences}"
                problem = f"is damaged: its numbers of documents are not {expected}"
                raise CorpusError(pair.index_path, problem)
            previous = int(starts[-1])
            index.write((first + starts).astype("<i8").data)
        first += pair.sequences
    index.write(np.array([first], "<i8").data)
