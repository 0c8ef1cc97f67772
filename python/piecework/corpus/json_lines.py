"""Read the texts under one field of JSON lines."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from typing import Any

from piecework._internal.surrogates import replace_surrogates
from piecework.corpus.text_stream import TextStream
from piecework.errors import CorpusError, CorpusWarning, InvalidUtf8Error

_READ_BYTES = 4 << 20
MAX_LINE_BYTES = 1 << 30


def read_json_lines(stream: TextStream, field: str, errors: str) -> Iterator[tuple[list[str], int]]:
    """Yield the texts of about 4 MB of lines, with the number of replaced sequences.

    Skips blank lines. Invalid UTF-8 and lone surrogates become U+FFFD, or raise `InvalidUtf8Error` if
    `errors="strict"`. Raises `CorpusError` with file, line and field for a line that is not a JSON object
    with a string under `field`.
    """
    first_line = 1
    for lines in line_lists(stream, _READ_BYTES):
        texts: list[str] = []
        replacements = 0
        for number, line in enumerate(lines, start=first_line):
            if not line.strip():
                continue
            text, replaced = json_line_text(line, f"{stream.name} line {number}", field, errors)
            texts.append(text)
            replacements += replaced
        if texts:
            yield texts, replacements
        first_line += len(lines)


def json_line_text(line: bytes, place: str, field: str, errors: str) -> tuple[str, int]:
    """Return the text of one line, and the number of replaced sequences."""
    text, replaced, _ = json_line_record(line, place, field, errors)
    return text, replaced


def json_line_record(
    line: bytes, place: str, field: str, errors: str
) -> tuple[str, int, dict[str, Any]]:
    """Return the text of one line, the number of replaced sequences, and the whole object."""
    decoded, bad_bytes = _decode(line, place, errors)
    record = _record_of(decoded, place, field)
    place = f"{place} field {field!r}"
    text, bad_chars = replace_surrogates(record[field], place, errors)
    return text, bad_bytes + bad_chars, record


def warn_of_json_lines(data: bytes, name: str) -> None:
    """Warn with `CorpusWarning` if the first line of plain text is a JSON object."""
    first_line, line_end, _ = data.partition(b"\n")
    if not first_line.startswith(b"{") or not (line_end or first_line.rstrip().endswith(b"}")):
        return
    try:
        json.loads(first_line)
    except (ValueError, RecursionError):
        return
    advice = "name the field" if name == "<stdin>" else "name it .jsonl"
    message = (
        f"{name} begins with a JSON object and is read as plain text; for JSON lines, {advice}"
    )
    warnings.warn(message, CorpusWarning, stacklevel=2)


def line_lists(stream: TextStream, read_bytes: int) -> Iterator[list[bytes]]:
    """Yield the complete lines of each read of `read_bytes`, without their ends.

    Raises `CorpusError` for a line over 1 GB.
    """
    pending = bytearray()
    number = 0
    while chunk := stream.read(read_bytes):
        *lines, rest = chunk.split(b"\n")
        if lines:
            lines[0] = bytes(pending) + lines[0]
            number += len(lines)
            pending.clear()
            yield lines
        pending += rest
        if len(pending) > MAX_LINE_BYTES:
            limit = f"at most {MAX_LINE_BYTES} bytes"
            raise CorpusError(f"{stream.name} line {number + 1}", "a longer line", limit)
    if pending:
        yield [bytes(pending)]


def _decode(line: bytes, place: str, errors: str) -> tuple[str, int]:
    try:
        return line.decode("utf-8-sig"), 0
    except UnicodeDecodeError as error:
        if errors == "strict":
            found = f"invalid UTF-8 at byte {error.start} of the line"
            raise InvalidUtf8Error(place, found, "UTF-8 text") from error
    decoded = line.decode("utf-8-sig", errors="replace")
    return decoded, decoded.count("\ufffd") - line.count("\ufffd".encode())


def _record_of(line: str, place: str, field: str) -> dict[str, Any]:
    """Return the parsed object; raises `CorpusError` unless it has a string under `field`."""
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        # The message of the decoder ends in a position: "line 1 column 9 (char 8)".
        found = f"broken JSON ({str(error).replace('line 1 ', '')})"
        raise CorpusError(place, found, "one JSON object") from error
    if not isinstance(value, dict):
        raise CorpusError(place, f"a JSON {_kind(value)}", f"an object with field {field!r}")
    if field not in value:
        names = ", ".join(map(repr, list(value)[:8])) or "no fields"
        raise CorpusError(f"{place} field {field!r}", f"only {names}", "that field, as a string")
    if not isinstance(value[field], str):
        raise CorpusError(f"{place} field {field!r}", f"a {_kind(value[field])}", "a string")
    return value


def _kind(value: object) -> str:
    names = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")
