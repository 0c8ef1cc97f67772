"""Read the texts under one field of JSON lines."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from typing import Any

from piecework._core import TextColumn
from piecework._internal.surrogates import replace_surrogates
from piecework.corpus.field_path import FieldPath, json_kind
from piecework.corpus.line_blocks import line_blocks
from piecework.corpus.rows import RowOptions, Rows
from piecework.corpus.text_stream import TextStream
from piecework.errors import CorpusError, CorpusWarning, InvalidUtf8Error

_READ_BYTES = 4 << 20


def read_json_lines(stream: TextStream, options: RowOptions) -> Iterator[Rows]:
    """Yield the texts of about 4 MB of lines.

    Skips blank lines. Invalid UTF-8 and lone surrogates become U+FFFD, or raise `InvalidUtf8Error` if
    `errors="strict"`. Raises `CorpusError` with file, line and field for a line that is not a JSON object
    with a string under the field.
    """
    for first_line, block in line_blocks(stream, _READ_BYTES):
        rows = json_rows(block, first_line, stream.name, options, keep_blank=False)
        if rows.texts:
            yield rows


def json_rows(
    block: bytes, first_line: int, name: str, options: RowOptions, *, keep_blank: bool
) -> Rows:
    """Return the texts of a block of lines, without line numbers.

    The core reads most lines. Python reads those that the core does not accept; it makes the errors.
    """
    field = options.field
    column, unread = TextColumn.of_json_lines(block, field.key, field.path, keep_blank)
    if not unread:
        return Rows(column, ())
    texts = column.to_list()
    replacements = 0
    faults = []
    for index, line, start, end in unread:
        place = f"{name} line {first_line + line}"
        try:
            texts[index], replaced = json_line_text(block[start:end], place, field, options.errors)
        except CorpusError as error:
            options.fault(error)
            faults.append(index)
        else:
            replacements += replaced
    for index in reversed(faults):
        del texts[index]
    return Rows(texts, (), replacements)


def json_line_text(line: bytes, place: str, field: FieldPath, errors: str) -> tuple[str, int]:
    """Return the text of one line, and the number of replaced sequences."""
    text, replaced, _ = json_line_record(line, place, field, errors)
    return text, replaced


def json_line_record(
    line: bytes, place: str, field: FieldPath, errors: str
) -> tuple[str, int, dict[str, Any]]:
    """Return the text of one line, the number of replaced sequences, and the whole object."""
    decoded, bad_bytes = _decode(line, place, errors)
    record = _record_of(decoded, place, field)
    text = field.text_of(record, place)
    valid, bad_chars = replace_surrogates(text, f"{place} field {field.key!r}", errors)
    return valid, bad_bytes + bad_chars, record


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


def _decode(line: bytes, place: str, errors: str) -> tuple[str, int]:
    try:
        return line.decode("utf-8-sig"), 0
    except UnicodeDecodeError as error:
        if errors == "strict":
            found = f"invalid UTF-8 at byte {error.start} of the line"
            raise InvalidUtf8Error(place, found, "UTF-8 text") from error
    decoded = line.decode("utf-8-sig", errors="replace")
    return decoded, decoded.count("\ufffd") - line.count("\ufffd".encode())


def _record_of(line: str, place: str, field: FieldPath) -> dict[str, Any]:
    """Return the parsed object."""
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        # The message of the decoder ends in a position: "line 1 column 9 (char 8)".
        found = f"broken JSON ({str(error).replace('line 1 ', '')})"
        raise CorpusError(place, found, "one JSON object") from error
    if not isinstance(value, dict):
        found = f"a JSON {json_kind(value)}"
        raise CorpusError(place, found, f"an object with field {field.key!r}")
    return value
