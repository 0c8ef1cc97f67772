"""Detect the format of a tokenizer file from its content.

The name of the file decides nothing, except that a path in `.pwc` is a compiled cache, and that errors about
damaged data are those of the format that the name promises.
"""

from __future__ import annotations

import os

from piecework._core import is_cache, is_gguf, is_ranks, is_sentencepiece
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
# The first bytes of a `.piecework` file, which no reader of a tokenizer.json accepts.
_LAYOUT_KEY = b'{"piecework":'
_KEY_AFTER_LAYOUT = b',"special_in_text":"'
PIECEWORK_FILE_HEAD = _LAYOUT_KEY + b"1" + _KEY_AFTER_LAYOUT
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_FLAT_OBJECT = rb'\{\s*"[^"\\]*(?:\\.[^"\\]*)*"\s*:\s*\d'
# The regular expression engine needs many bytes of memory for each character of a key.
_MAX_MATCHED_BYTES = 1 << 16


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
    if is_gguf(data[:8]):
        return GGUF
    if options.encoding_name is not None or is_ranks(data):
        return TIKTOKEN_RANKS
    if is_sentencepiece(data):
        return SENTENCEPIECE_MODEL
    head = data.lstrip(BYTE_ORDER_MARK + b" \t\r\n")
    return _json_format(data, head) if head.startswith(b"{") else _line_format(data)


def format_of_name(source: str) -> str | None:
    """Return the format that the suffix of a path promises, None for a suffix of several formats."""
    name = os.path.basename(source).lower().removesuffix(".gz")
    if name == TEKKEN_JSON:
        return TEKKEN_JSON
    return _FORMAT_OF_SUFFIX.get(os.path.splitext(name)[1])


def _json_format(data: bytes, head: bytes) -> str:
    if _begins_as_piecework_file(head):
        return PIECEWORK_FILE
    # Nearly every tokenizer.json begins with its version: no regular expression, no scan of the file.
    if _begins_with_version(head):
        return TOKENIZER_JSON
    if _is_flat_object(head):
        return VOCAB_JSON
    is_tekken = b'"token_bytes"' in data and b'"default_vocab_size"' in data
    return TEKKEN_JSON if is_tekken else TOKENIZER_JSON


def _line_format(data: bytes) -> str:
    first_line = data[: data.find(b"\n") + 1]
    if b"bpe_simple_vocab_16e6" in first_line:
        return CLIP_MERGES
    return MERGES_TXT if first_line.startswith(b"#version") else VOCAB_TXT


def _begins_as_piecework_file(head: bytes) -> bool:
    """Return whether data begin as a `.piecework` file, of this layout or of a later one."""
    if not head.startswith(_LAYOUT_KEY):
        return False
    layout, key, _ = head[len(_LAYOUT_KEY) : 64].partition(_KEY_AFTER_LAYOUT)
    return layout.isdigit() and bool(key)


def _is_flat_object(head: bytes) -> bool:
    """Return whether the first value of a JSON object is a number, as in a vocab.json."""
    import re

    return re.match(_FLAT_OBJECT, head[:_MAX_MATCHED_BYTES]) is not None


def _begins_with_version(head: bytes) -> bool:
    """Return whether the first member of a JSON object is a string named `version`."""
    key, _, value = head[1:64].partition(b":")
    return key.strip() == b'"version"' and value.lstrip().startswith(b'"')
