"""Fingerprints of tokenizers in lock files: a fingerprint, two spaces and a name a line, as of sha256sum."""

from __future__ import annotations

import os
import re

import piecework as pw
from piecework.io.read_file import file_bytes

_FINGERPRINT = re.compile(r"[0-9a-f]{64}")
_EXPECTED = (
    "64 hexadecimal digits, or a file with the lines that `piecework verify TOKENIZER` prints"
)


def fingerprint_line(tokenizer: pw.Tokenizer, name: str) -> str:
    """Return the line of a lock file for the tokenizer that a command names `name`."""
    return f"{tokenizer.fingerprint}  {name}"


def recorded_fingerprint(given: str, name: str) -> str:
    """Return the fingerprint that `--fingerprint` has, or that its file has for the name.

    >>> recorded_fingerprint("0" * 64, "tokenizer.json")[:4]
    '0000'

    Raises `ArgumentError` if it is neither, or the file has no line for the name.
    """
    if _FINGERPRINT.fullmatch(given.lower()):
        return given.lower()
    if not os.path.exists(given):
        problem = f"={given!r} is no file and no fingerprint; give {_EXPECTED}"
        raise pw.errors.ArgumentError("fingerprint", problem)
    text = file_bytes(given, "a file of fingerprints").decode(errors="replace")
    for line in text.splitlines():
        fingerprint, _, recorded = line.partition("  ")
        if recorded == name and _FINGERPRINT.fullmatch(fingerprint):
            return fingerprint
    message = f"{given} has no fingerprint of {name}; `piecework verify {name}` prints its line"
    raise pw.errors.ArgumentError("fingerprint", message=message)
