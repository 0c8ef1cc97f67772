"""Output files, checked before the work starts; `-` is stdout."""

from __future__ import annotations

import os

import piecework as pw
from piecework.io.atomic_files import atomic_stream, check_writable
from piecework.io.saving import is_folder_path


def save_tokenizer(tokenizer: pw.Tokenizer, path: str) -> None:
    """Write a tokenizer file; for `-`, write a `tokenizer.json` to stdout."""
    if path != "-":
        tokenizer.save(path)
        return
    with atomic_stream("-") as stream:
        stream.write(tokenizer.to_json().encode() + b"\n")


def check_output(path: str) -> None:
    """Raise now if a path cannot be written, before the work starts."""
    if path != "-":
        check_writable(path)


def check_tokenizer_output(path: str) -> None:
    """Raise now if a tokenizer file or folder cannot be written, before the work starts."""
    if path == "-":
        return
    if not is_folder_path(path):
        check_writable(path)
        return
    inside = path if os.path.isdir(path) else os.path.dirname(os.path.abspath(path))
    check_writable(os.path.join(inside, "tokenizer.json"))


def training_log_of(path: str) -> str:
    """Return the file beside a tokenizer that has the merges of its training.

    >>> training_log_of("out/tokenizer.json")
    'out/tokenizer.training.json'
    """
    trimmed = path.rstrip(os.sep)
    root = trimmed if is_folder_path(path) else os.path.splitext(trimmed)[0]
    return f"{root}.training.json"
