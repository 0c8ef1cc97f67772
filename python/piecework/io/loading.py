"""Load a tokenizer: read the file, detect its format, call the reader of that format.

`source_bytes` reads and decompresses, `format_detection` names the format, and `format_readers` has one
function for each format. Compiled caches (`.pwc`) are tokenizers with their built tables; the core rejects a
cache that is damaged or that another version of this library wrote.
"""

from __future__ import annotations

from contextlib import suppress

from piecework._internal._core import fingerprint, is_cache, read_cache, write_cache
from piecework._internal.validation import PathLike, check_choice, check_type, path_text
from piecework.errors import ArgumentError, FileError, FormatError, PieceworkError
from piecework.io.format_detection import (
    COMPILED_CACHE,
    TIKTOKEN_RANKS,
    VOCAB_TXT,
    detect_format,
    format_of_name,
)
from piecework.io.format_readers import READERS, CoreAndSpecial, check_ranks
from piecework.io.load_options import LoadOptions
from piecework.io.read_file import check_that_it_ends
from piecework.io.source_bytes import files_of_directory, gunzipped, source_bytes

_CACHE_SUFFIX = ".pwc"


def read_tokenizer(
    path: PathLike, options: LoadOptions, compiled_cache: bool | PathLike = False
) -> CoreAndSpecial:
    """Return the compiled core of a tokenizer file, and the `parse_special` of its tokenizer.

    `path` is a file, or a directory that contains one under its usual name. A path in `.pwc` is a
    compiled cache. For other files, `compiled_cache` names a cache to read, or to write if it is not
    current; True stands for the path with the suffix `.pwc`.
    """
    source, options = files_of_directory(path_text(path), options)
    if source.endswith(_CACHE_SUFFIX):
        return _read_cache(source, options)
    stored = source_bytes(source)
    if is_cache(stored):
        if compiled_cache is False:
            expected = f"compiled_cache=True to read it, or a name that ends in {_CACHE_SUFFIX}"
            raise FormatError(source, f"is a compiled cache under another name; pass {expected}")
        return _read_cache(source, options)
    if compiled_cache is False:
        return _read(gunzipped(stored, source), source, options)
    if compiled_cache is True:
        compiled_cache = f"{source}{_CACHE_SUFFIX}"
    path = path_text(compiled_cache, "compiled_cache")
    return _read_through_cache(path, stored, source, options)


def read_tokenizer_bytes(
    data: bytes, source: str, options: LoadOptions, format: str | None = None
) -> CoreAndSpecial:
    """Return the core and the `parse_special` of a tokenizer file in memory, gzipped or not.

    `format` is a key of `READERS`; None detects it. `source` names the data in errors.
    """
    check_type("data", data, bytes, "bytes")
    if is_cache(data):
        raise FormatError(source, "is a compiled cache; Tokenizer.load reads it from its path")
    if format is not None:
        check_choice("format", format, READERS)
    return _read(gunzipped(data, source), source, options, format)


def _read_cache(source: str, options: LoadOptions) -> CoreAndSpecial:
    """Read a compiled cache; raises `FileError`, and `FormatError` for one that is not valid."""
    options.reject_unused((), "a compiled cache, which contains this setting")
    with FileError.while_reading(source):
        check_that_it_ends(source, "a compiled cache")
        return read_cache(source, source=source, key=None)


def _read(
    data: bytes, source: str, options: LoadOptions, format: str | None = None
) -> CoreAndSpecial:
    detected = format or detect_format(data, options)
    if detected == COMPILED_CACHE:
        raise FormatError(source, "is a compiled cache that is compressed; unpack it first")
    try:
        return READERS[detected](data, source, options)
    except (FormatError, ArgumentError) as error:
        from piecework.io.other_files import other_kind

        named = format_of_name(source)
        kind = other_kind(data, detected, named)
        if kind is not None:
            raise FormatError(source, f"found {kind[0]}, expected {kind[1]}") from error
        # Lines of text are the format of last resort: the name says which file is damaged.
        if format is not None or detected != VOCAB_TXT or named is None:
            raise
    if named == TIKTOKEN_RANKS:
        check_ranks(data, source)
    return READERS[named](data, source, options)


def _read_through_cache(
    path: str, stored: bytes, source: str, options: LoadOptions
) -> CoreAndSpecial:
    """Read a valid cache of this source and these options; otherwise read the source and write the cache."""
    key = _cache_key(stored, options)
    try:
        check_that_it_ends(path, "a compiled cache")
        cached = read_cache(path, source=path, key=key)
    except (PieceworkError, OSError):
        cached = None
    if cached is not None:
        return cached
    loaded = _read(gunzipped(stored, source), source, options)
    from piecework.io.atomic_files import atomic_file

    with suppress(PieceworkError, OSError), atomic_file(path) as temporary:
        temporary.write_bytes(write_cache(*loaded, key))
    return loaded


def _cache_key(stored: bytes, options: LoadOptions) -> bytes:
    """Return the digest of everything that affects the tables: both files and the options."""
    merges = b"" if options.merges is None else source_bytes(path_text(options.merges))
    settings = repr(options._replace(merges=None)).encode()
    return fingerprint([stored, merges, settings])
