"""Recognize files that are not tokenizers, after no reader could read them."""

from __future__ import annotations

import json

from piecework._internal.binary_data import binary_kind
from piecework._internal.role_attributes import ROLES
from piecework.io.format_detection import TIKTOKEN_RANKS, VOCAB_TXT
from piecework.io.source_bytes import weights_kind

_AGAIN = "a tokenizer file: download it again"
_UNPACK = "a tokenizer file: unpack it first"
_BESIDE = "the tokenizer file that belongs to it, such as tokenizer.json, or their folder"

# The beginning of a text, in lower case; its kind, and what to pass instead.
_TEXTS = (
    (
        b"version https://git-lfs.github.com/spec/",
        "a Git LFS pointer",
        "the file: run git lfs pull",
    ),
    (b"/annex/objects/", "a git-annex pointer", "the file: run git annex get"),
    (b"<!doctype html", "an HTML page, such as a login or error page", _AGAIN),
    (b"<html", "an HTML page, such as a login or error page", _AGAIN),
    (b"<?xml", "an XML document, such as an error of a server", _AGAIN),
)
# A key that only files of this kind have at the top.
_SETTINGS = {
    "tokenizer_class": "a tokenizer_config.json",
    "added_tokens_decoder": "a tokenizer_config.json",
    "clean_up_tokenization_spaces": "a tokenizer_config.json",
    "do_lower_case": "a tokenizer_config.json",
    "architectures": "the config.json of a model",
    "model_type": "the config.json of a model",
    "weight_map": "an index of weights",
    "image_processor_type": "a preprocessor_config.json",
    "feature_extractor_type": "a preprocessor_config.json",
    "peft_type": "an adapter_config.json",
    "transformers_version": "a generation_config.json",
    "nbformat": "a notebook",
}
_MAGIC = (
    (b"\x28\xb5\x2f\xfd", "Zstandard data", _UNPACK),
    (b"GIF8", "a GIF image", "a tokenizer file"),
)
# Formats without magic bytes, which are detected where nothing else is, or where an option asks for them.
_NEED_NO_MAGIC = (VOCAB_TXT, TIKTOKEN_RANKS)
_SPECIAL_TOKENS = {*ROLES, "additional_special_tokens", "extra_special_tokens"}
_HEAD_BYTES = 4096
_MAX_JSON_BYTES = 1 << 26


def other_kind(data: bytes, format: str, named: str | None) -> tuple[str, str] | None:
    """Return what kind of file this is if not a tokenizer, and what to pass instead; None if unknown.

    >>> pointer = b"version https://git-lfs.github.com/spec/v1\\noid sha256:4d7a\\nsize 499723\\n"
    >>> other_kind(pointer, "vocab.txt", None)
    ('a Git LFS pointer', 'the file: run git lfs pull')

    `format` is the format that the content suggests, `named` the format that the name of the file promises.
    """
    head = data[:_HEAD_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head and (not data or named is None):
        return "an empty file" if not data else "a file of blank lines", _AGAIN
    for beginning, kind, expected in _TEXTS:
        if head.lower().startswith(beginning):
            return kind, expected
    if head.startswith(b"{"):
        return _json_kind(data)
    if format not in _NEED_NO_MAGIC:
        return None
    return weights_kind(data) or _binary_kind(data, named)


def _json_kind(data: bytes) -> tuple[str, str] | None:
    """Return which file of a model a JSON object is, by its keys."""
    try:
        value = json.loads(data) if len(data) <= _MAX_JSON_BYTES else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not value or "model" in value:
        return None
    if value.keys() <= _SPECIAL_TOKENS:
        return "a special_tokens_map.json", _BESIDE
    kinds = [kind for key, kind in _SETTINGS.items() if key in value]
    return (kinds[0], _BESIDE) if kinds else None


def _binary_kind(data: bytes, named: str | None) -> tuple[str, str] | None:
    """Return the kind of binary data by its first bytes; the reader of a known format says more."""
    for magic, kind, expected in _MAGIC:
        if data.startswith(magic):
            return kind, expected
    kind, expected, _ = binary_kind(data) or ("", "", "")
    if kind.startswith("UTF-"):
        return (kind, expected) if named else None
    if not kind or (named and kind.startswith(("a GGUF", "binary data"))):
        return None
    is_packed = "archive" in kind or kind.endswith(" data")
    return kind, _UNPACK if is_packed else "a tokenizer file"
