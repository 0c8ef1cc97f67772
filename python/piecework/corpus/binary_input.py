"""Reject input of a corpus that is not UTF-8 text, by its first bytes."""

from __future__ import annotations

from piecework._internal.binary_data import binary_kind
from piecework.errors import CorpusError


def check_not_binary(head: bytes, name: str) -> None:
    """Raise `CorpusError` if the first bytes of `name` are not UTF-8 text.

    >>> check_not_binary(b"PK\\x03\\x04rest", "a.txt")
    Traceback (most recent call last):
        ...
    piecework.errors.CorpusError: a.txt: found a zip archive, expected plain text: unpack it first
    """
    rejection = binary_kind(head)
    if rejection is not None:
        raise CorpusError(name, *rejection)
