"""Encodings by name: `cl100k_base` and the others that OpenAI published."""

from __future__ import annotations

import os
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from piecework import Tokenizer
from piecework._internal.validation import PathLike
from piecework.compat.tiktoken.encoding import Encoding
from piecework.errors import ArgumentError
from piecework.io.rank_files import find_rank_file
from piecework.spec import ENCODINGS, NAMED_PATTERNS

_LOADED: dict[tuple[str, str], Encoding] = {}
"""(encoding name, path) -> encoding; each file is read once in a process."""


def list_encoding_names() -> list[str]:
    """Return the names that `get_encoding` accepts.

    >>> list_encoding_names()[:3]
    ['gpt2', 'r50k_base', 'p50k_base']
    """
    return [*ENCODINGS, *_plugin_constructors()]


def get_encoding(encoding_name: str, ranks: PathLike | None = None) -> Encoding:
    """Return a published encoding; read its rank file from `ranks`, or from one of the usual folders.

    Modules in the namespace `tiktoken_ext` add encodings, as in tiktoken.

    >>> get_encoding("cl100k_base", "no/such/file")
    Traceback (most recent call last):
    piecework.errors.FileError: cannot read no/such/file: no such file or directory

    Raises `ArgumentError` for an unknown name, `FileError` if there is no rank file, and `FormatError` if
    the file is not the published one.
    """
    if encoding_name not in ENCODINGS:
        return _plugin_encoding(encoding_name)
    definition = ENCODINGS[encoding_name]
    path = find_rank_file(definition) if ranks is None else os.fspath(ranks)
    key = (encoding_name, path)
    if key not in _LOADED:
        tokenizer = Tokenizer.load(path, encoding_name=encoding_name)
        [pattern] = NAMED_PATTERNS[definition.pattern]
        _LOADED[key] = Encoding._from_tokenizer(
            encoding_name, tokenizer, definition.special_tokens, definition.n_vocab, pattern
        )
    return _LOADED[key]


def _plugin_encoding(name: str) -> Encoding:
    """Return an encoding that a module of `tiktoken_ext` defines."""
    constructors = _plugin_constructors()
    if name not in constructors:
        expected = f"one of {', '.join(list_encoding_names())}"
        raise ArgumentError("encoding_name", repr(name), expected)
    key = (name, "")
    if key not in _LOADED:
        _LOADED[key] = Encoding(**constructors[name]())
    return _LOADED[key]


@cache
def _plugin_constructors() -> dict[str, Callable[[], Mapping[str, Any]]]:
    """Return what the modules of `tiktoken_ext` define, without the one that is part of tiktoken."""
    try:
        namespace = import_module("tiktoken_ext")
    except ImportError:
        return {}
    constructors: dict[str, Callable[[], Mapping[str, Any]]] = {}
    for plugin in pkgutil.iter_modules(namespace.__path__, "tiktoken_ext."):
        if plugin.name != "tiktoken_ext.openai_public":
            constructors |= import_module(plugin.name).ENCODING_CONSTRUCTORS
    return constructors
