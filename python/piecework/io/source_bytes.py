"""The bytes of a tokenizer file: find it in a directory, read it, decompress gzip."""

from __future__ import annotations

import os
from io import BytesIO

from piecework._core import gguf_section_length, is_cache, is_gguf
from piecework.errors import ArgumentError, FileError, FormatError
from piecework.io.load_options import LoadOptions, shortened
from piecework.io.read_file import reason

_VOCAB_AND_MERGES = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))
_GZIP_MAGIC = b"\x1f\x8b"
_MAX_DECOMPRESSED_BYTES = 1 << 29
_HEAD_BYTES = 8


def files_of_directory(source: str, options: LoadOptions) -> tuple[str, LoadOptions]:
    """Return the tokenizer file in a directory, and the options with its merges file.

    A path that is not a directory is returned unchanged. Raises `FileError` for a directory without
    a tokenizer.
    """
    if not os.path.isdir(source):
        return source, options
    whole = _file_in(source, "tokenizer.json")
    if whole is not None:
        return whole, options
    for names in _VOCAB_AND_MERGES:
        vocab, merges = (_file_in(source, name) for name in names)
        if vocab is not None and merges is not None:
            return vocab, _with_merges(options, merges)
    expected = "tokenizer.json, vocab.json with merges.txt, or encoder.json with vocab.bpe in it"
    raise FileError(source, "a directory", expected)


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
                file.seek(0)
                if is_gguf(head):
                    return file.read(gguf_section_length(source, source)) or b""
                head = b""
            return head + file.read()
    except OSError as error:
        raise FileError(source, reason(error), _expected(source)) from error


def _expected(source: str) -> str:
    """Return what to pass to `load`; a name without directory and suffix is probably not a path."""
    if os.path.dirname(source) or os.path.splitext(source)[1]:
        return "a tokenizer file"
    from piecework.spec import ENCODINGS

    if source in ENCODINGS:
        ranks = ENCODINGS[source].rank_file
        call = f"Tokenizer.load({ranks!r}, encoding={source!r})"
        return f"the path of a tokenizer file, or of the ranks of this encoding: {call}"
    return "the path of a tokenizer file or its folder; names of models are not looked up"


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


def _file_in(folder: str, name: str) -> str | None:
    path = os.path.join(folder, name)
    return path if os.path.isfile(path) else None


def _with_merges(options: LoadOptions, merges: str) -> LoadOptions:
    if options.merges is not None:
        expected = "None for a directory with both files"
        raise ArgumentError("merges", shortened(options.merges), expected)
    return options.with_merges(merges)
