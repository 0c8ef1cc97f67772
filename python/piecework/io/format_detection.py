"""Detect the format of a tokenizer file from its content.

The file name does not matter, except that a path in `.pwc` is a compiled cache, and that damaged data raises
the errors of the format that the name stands for.
"""

from __future__ import annotations

import os

from piecework._internal._core import detect_format as detected
from piecework._internal._core import is_cache
from piecework._internal.validation import PathLike
from piecework.io.load_options import LoadOptions
from piecework.io.names import resolve_name
from piecework.io.source_bytes import files_of_directory, gunzipped, source_bytes

COMPILED_CACHE = "compiled cache"
PIECEWORK_FILE = "piecework file"
VOCAB_MERGES = "vocab.json with merges.txt"
VOCAB_JSON = "vocab.json"
TIKTOKEN_RANKS = "tiktoken ranks"
SENTENCEPIECE_MODEL = "SentencePiece .model"
GGUF = "GGUF"
TOKENIZER_JSON = "tokenizer.json"
TEKKEN_JSON = "tekken.json"
CLIP_MERGES = "CLIP merges"
MERGES_TXT = "merges.txt"
VOCAB_TXT = "vocab.txt"

_FORMAT_OF_SUFFIX = {
    ".json": TOKENIZER_JSON,
    ".model": SENTENCEPIECE_MODEL,
    ".tiktoken": TIKTOKEN_RANKS,
    ".gguf": GGUF,
    ".piecework": PIECEWORK_FILE,
}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def file_format(
    path: PathLike,
    *,
    merges: PathLike | None = None,
    encoding_name: str | None = None,
    revision: str | None = None,
) -> str:
    """Return the name of the format in which `Tokenizer.load` reads a path or name, such as "vocab.txt".

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "words"
    >>> _ = path.write_text("[UNK]\\nhug\\n")
    >>> file_format(path)
    'vocab.txt'

    `merges`, `encoding_name` and `revision` are those passed to `load`. Raises `FileError` if the file
    cannot be read.
    """
    options = LoadOptions(merges=merges, encoding_name=encoding_name)
    source, options = files_of_directory(*resolve_name(path, options, revision=revision))
    stored = source_bytes(source)
    if is_cache(stored):
        return COMPILED_CACHE
    found = detect_format(gunzipped(stored, source), options)
    named = options.encoding_name
    return f"{found} ({named})" if named and found == TIKTOKEN_RANKS else found


def detect_format(data: bytes, options: LoadOptions) -> str:
    """Return the format of uncompressed data, one of the names above.

    `options.merges` and `options.encoding_name` decide before the content does.
    """
    if options.merges is not None:
        return VOCAB_MERGES
    found = detected(data)
    return TIKTOKEN_RANKS if options.encoding_name is not None and found != GGUF else found


def format_of_name(source: str) -> str | None:
    """Return the format that the suffix of a path stands for, None for a suffix of several formats."""
    name = os.path.basename(source).lower().removesuffix(".gz")
    if name == TEKKEN_JSON:
        return TEKKEN_JSON
    return _FORMAT_OF_SUFFIX.get(os.path.splitext(name)[1])
