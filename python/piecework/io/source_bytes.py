"""The bytes of a tokenizer file: find it in a directory, read it, decompress gzip."""

from __future__ import annotations

import errno
import os
from io import BytesIO, FileIO

from piecework._core import gguf_section_length, is_cache, is_gguf
from piecework.errors import ArgumentError, FileError, FormatError
from piecework.io.load_options import LoadOptions, shortened
from piecework.io.read_file import reason

# The first of these that a folder contains is loaded. To add a format, add the usual names of its files.
_USUAL_NAMES: tuple[tuple[str, ...], ...] = (
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
_GZIP_MAGIC = b"\x1f\x8b"
_MAX_DECOMPRESSED_BYTES = 1 << 29
_HEAD_BYTES = 8
_WEIGHTS_HEAD_BYTES = 4096


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
            "encoder.json with vocab.bpe, or tekken.json in it"
        )
        raise FileError(source, "a directory", expected, errno.EISDIR)
    if len(files) == 1:
        return files[0], options
    return files[0], _with_merges(options, files[1])


def tokenizer_files(folder: str) -> tuple[str, ...]:
    """Return the tokenizer file in a folder, or a vocabulary and its merges; empty if there is none."""
    for names in _USUAL_NAMES:
        files = tuple(os.path.join(folder, name) for name in names)
        if all(os.path.isfile(file) for file in files):
            return files
    return ()


def source_bytes(source: str) -> bytes:
    """Return the bytes of a file as stored.

    Of a compiled cache, which the core reads, these are the first 8; of a GGUF file, whose tensors are many
    gigabytes, the key-value section.
    """
    try:
        with open(source, "rb", buffering=0) as file:
            head = file.read(_HEAD_BYTES) or b""
            if is_cache(head):
                return head
            if file.seekable():
                # Reading the whole file at once avoids a copy to append it to the head.
                _reject_large_weights(file, source)
                file.seek(0)
                if is_gguf(head):
                    return file.read(gguf_section_length(source, source)) or b""
                head = b""
            return head + file.read()
    except OSError as error:
        raise FileError(source, reason(error), "a tokenizer file", error.errno) from error


def _reject_large_weights(file: FileIO, source: str) -> None:
    """Raise `FormatError` for the weights of a model, whose gigabytes need not be read."""
    if os.fstat(file.fileno()).st_size <= _MAX_DECOMPRESSED_BYTES:
        return
    from piecework.io.other_files import weights_kind

    file.seek(0)
    kind = weights_kind(file.read(_WEIGHTS_HEAD_BYTES) or b"")
    if kind is not None:
        raise FormatError(source, *kind)


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
            decompressed = stream.read(_MAX_DECOMPRESSED_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(source, f"damaged gzip data: {error}", "a complete file") from error
    if len(decompressed) > _MAX_DECOMPRESSED_BYTES:
        raise FormatError(source, "over 512 MiB when decompressed", "a tokenizer file")
    return decompressed


def _with_merges(options: LoadOptions, merges: str) -> LoadOptions:
    if options.merges is not None:
        expected = "None for a directory with both files"
        raise ArgumentError("merges", shortened(options.merges), expected)
    return options.with_merges(merges)
