"""Outputs: checked before the work, with `-` for stdout."""

from __future__ import annotations

import piecework as pw
from piecework.io.atomic_files import check_writable, whole_stream


def save_tokenizer(tokenizer: pw.Tokenizer, path: str) -> None:
    """Write a tokenizer file, or a `tokenizer.json` to stdout for `-`."""
    if path != "-":
        tokenizer.save(path)
        return
    with whole_stream("-") as stream:
        stream.write(tokenizer.to_json().encode() + b"\n")


def check_output(path: str) -> None:
    """Complain about a path that cannot be written before the work, not after it."""
    if path != "-":
        check_writable(path)
