"""The bytes of a tokenizer file: find it in a directory, read it, decompress gzip."""

from __future__ import annotations

import errno
import os
from io import BytesIO, FileIO

from piecework._internal._core import gguf_section_length, is_cache, is_gguf
from piecework.errors import ArgumentError, FileError, FormatError
from piecework.io.load_options import LoadOptions
from piecework.io.read_file import check_that_it_ends, errors_of_reading, too_large

# The first of these that a folder contains is loaded. To add a format, add the usual names of its files.
USUAL_NAMES: tuple[tuple[str, ...], ...] = (
    ("tokenizer.json",),
    ("tokenizer.model",),
    ("spiece.model",),
    ("sentencepiece.bpe.model",),
    ("spm.model",),
    ("vocab.txt",),
    ("vocab.json", "merges.txt"),
    ("encoder.json", "vocab.bpe"),
    ("tekken.json",),
    ("tiktoken.model",),
)
_GZIP_SUFFIX = ".gz"
_GZIP_MAGIC = b"\x1f\x8b"
_MAX_BYTES = 1 << 29
_READ_BYTES = 1 << 20
_HEAD_BYTES = 8
_WEIGHTS_HEAD_BYTES = 4096
_WEIGHTS = "a tokenizer file: weights do not contain one"
_MAX_SAFETENSORS_HEADER = 1 << 27


def files_of_directory(source: str, options: LoadOptions) -> tuple[str, LoadOptions]:
    """Return the tokenizer file in a directory, and the options with its merges file.

    A path that is not a directory is returned unchanged. Raises `FileError` for a directory without
    a tokenizer.
    """
    if not os.path.isdir(source):
        return source, options
    files = tokenizer_files(source)
    if not files:
        expected = (
            "tokenizer.json, tokenizer.model, vocab.txt, vocab.json with merges.txt, "
            "encoder.json with vocab.bpe, or tekken.json, gzipped or not"
        )
        problem = f"is a directory without a tokenizer; it must contain {expected}"
        raise FileError(source, problem, errno=errno.EISDIR)
    if len(files) == 1:
        return files[0], options
    if options.merges is not None:
        raise ArgumentError("merges", "does not apply to a folder, which has its own merges file")
    return files[0], options._replace(merges=files[1])


def tokenizer_files(folder: str) -> tuple[str, ...]:
    """Return the tokenizer file in a folder, or a vocabulary and its merges; empty if there is none.

    Files without compression win, as other libraries read no others.
    """
    for suffixes in (("",), ("", _GZIP_SUFFIX)):
        for names in USUAL_NAMES:
            files = tuple(file for name in names for file in _files(folder, name, suffixes)[:1])
            if len(files) == len(names):
                return files
    return ()


def _files(folder: str, name: str, suffixes: tuple[str, ...]) -> list[str]:
    paths = (os.path.join(folder, name + suffix) for suffix in suffixes)
    return [path for path in paths if os.path.isfile(path)]


def plain_name(path: str) -> str:
    """Return the name of a file without its folder and the suffix of gzip.

    >>> plain_name("folder/vocab.txt.gz")
    'vocab.txt'
    """
    return os.path.basename(path).removesuffix(_GZIP_SUFFIX)


def source_bytes(source: str) -> bytes:
    """Return the bytes of a file as stored.

    For a compiled cache, which the core reads, return the first 8 bytes; for a GGUF file, whose tensors take
    many gigabytes, return the key-value section.

    Raises `FileError` for devices and named pipes, `FormatError` for over 512 MiB in another pipe, and
    `MemoryLimitError` for a file that does not fit into memory.
    """
    with errors_of_reading(source):
        check_that_it_ends(source, "a tokenizer file")
        with open(source, "rb", buffering=0) as file:
            head = file.read(_HEAD_BYTES) or b""
            if is_cache(head):
                return head
            if file.seekable():
                # Reading the whole file at once avoids a copy to append it to the head.
                _reject_large_files(file, source, head)
                file.seek(0)
                if is_gguf(head):
                    return file.read(gguf_section_length(source, source)) or b""
                head = b""
            return head + _bounded(file, source)


def _bounded(file: FileIO, source: str) -> bytes:
    """Return the rest of a file; pipes and files of the kernel have no size that bounds them."""
    if file.seekable() and os.fstat(file.fileno()).st_size:
        return file.read()
    parts: list[bytes] = []
    size = 0
    while part := file.read(_READ_BYTES):
        parts.append(part)
        size += len(part)
        if size > _MAX_BYTES:
            raise FormatError(source, "has over 512 MiB, which is too large for a tokenizer file")
    return b"".join(parts)


def _reject_large_files(file: FileIO, source: str, head: bytes) -> None:
    """Raise `FormatError` for the weights of a model, whose gigabytes need not be read.

    Raises `MemoryLimitError` for another file that is larger than the memory of the process.
    """
    size = os.fstat(file.fileno()).st_size
    if size <= _MAX_BYTES or is_gguf(head):
        return
    from piecework._internal.memory_budget import available_memory

    file.seek(0)
    kind = weights_kind(file.read(_WEIGHTS_HEAD_BYTES) or b"")
    if kind is not None:
        raise FormatError(source, f"found {kind[0]}, expected {kind[1]}")
    if size >= available_memory():
        raise too_large(source)


def weights_kind(data: bytes) -> tuple[str, str] | None:
    """Return which file of weights begins with these bytes; nothing of it is unpickled."""
    is_header = data[8:10] == b'{"' and int.from_bytes(data[:8], "little") < _MAX_SAFETENSORS_HEADER
    if is_header:
        return "weights in the safetensors format", _WEIGHTS
    if data.startswith(b"PK\x03\x04") and b"/data.pkl" in data[:_WEIGHTS_HEAD_BYTES]:
        return "weights of PyTorch", _WEIGHTS
    if data[:1] == b"\x80" and data[1:2] in b"\x02\x03\x04\x05":
        return "a pickle, such as weights of PyTorch", _WEIGHTS
    return None


def gunzipped(data: bytes, source: str) -> bytes:
    """Return the decompressed bytes of a gzip file, and other data unchanged.

    Raises `FormatError` for damaged data and for more than 512 MiB.
    """
    if not data.startswith(_GZIP_MAGIC):
        return data
    import gzip
    import zlib

    try:
        with gzip.open(BytesIO(data)) as stream:
            decompressed = stream.read(_MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(source, f"has damaged gzip data: {error}") from error
    if len(decompressed) > _MAX_BYTES:
        problem = "has over 512 MiB when decompressed, which is too large for a tokenizer file"
        raise FormatError(source, problem)
    return decompressed
