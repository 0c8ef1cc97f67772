"""Files with the merges of a training run, such as `tokenizer.training.json`: JSON, one merge a line."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, TypeAlias

from piecework.errors import FormatError
from piecework.io.atomic_files import atomic_stream
from piecework.io.read_file import file_bytes

Row: TypeAlias = tuple[str, str, str, int, float]
"""The left symbol, the right symbol, the token, the count of the pair, and its score."""

_FORMAT = "piecework training"
_VERSION = 1


def write_learned(
    path: str | os.PathLike[str],
    entries: Sequence[str],
    merges: Sequence[Row],
    stopped_early: str | None,
) -> None:
    """Write entries in id order and merges in the order of learning, atomically."""
    head = {"format": _FORMAT, "version": _VERSION, "stopped_early": stopped_early}
    parts = [json.dumps(head, ensure_ascii=False)[:-1]]
    parts.append(f'"entries": {json.dumps(list(entries), ensure_ascii=False)}')
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in merges)
    parts.append(f'"merges": [\n{rows}\n]' if merges else '"merges": []')
    with atomic_stream(path) as stream:
        stream.write((",\n".join(parts) + "}\n").encode("utf-8", "surrogatepass"))


def read_learned(
    path: str | os.PathLike[str],
) -> tuple[tuple[str, ...], tuple[Row, ...], str | None]:
    """Return entries, merges and the reason for stopping early.

    Raises `FileError`, and `FormatError` that names the field.
    """
    name = os.fspath(path)
    found = _parsed(name, file_bytes(path, "a file of merges that training wrote"))
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise FormatError(name, f'is another kind of file; it needs "format": "{_FORMAT}"')
    if found.get("version") != _VERSION:
        raise FormatError(f"{name}: version", repr(found.get("version")), str(_VERSION))
    entries = _texts(f"{name}: entries", found.get("entries"))
    merges = found.get("merges")
    if not isinstance(merges, list):
        raise FormatError(f"{name}: merges", type(merges).__name__, "a list of merges")
    known = set(entries)
    rows = tuple(_row(f"{name}: merges[{at}]", row, known) for at, row in enumerate(merges))
    stopped = found.get("stopped_early")
    if stopped is not None and not isinstance(stopped, str):
        raise FormatError(f"{name}: stopped_early", type(stopped).__name__, "a string or null")
    return entries, rows, stopped


def _parsed(name: str, data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8", "strict"))
    except (ValueError, RecursionError) as error:
        raise FormatError(name, f"is not JSON in UTF-8: {' '.join(str(error).split())}") from error


def _texts(place: str, found: object) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise FormatError(place, type(found).__name__, "a list of strings")
    return tuple(found)


def _row(place: str, row: object, known: set[str]) -> Row:
    """Return a merge whose parts and token are entries; raise `FormatError` for any other row."""
    expected = "[left, right, token, count, score]"
    if not isinstance(row, list) or len(row) != 5:
        raise FormatError(place, type(row).__name__, expected)
    left, right, token, count, score = row
    texts = all(isinstance(text, str) and text in known for text in (left, right, token))
    numbers = type(count) is int and count >= 0 and type(score) in (int, float)
    if not texts or not numbers:
        raise FormatError(place, json.dumps(row)[:200], f"{expected} of entries and numbers")
    return left, right, token, count, score
