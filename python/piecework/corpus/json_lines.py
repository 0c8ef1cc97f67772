"""Read the texts under one field of JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from piecework._internal._core import TextColumn
from piecework._internal.surrogates import replace_surrogates
from piecework.corpus.conversations import conversation_of
from piecework.corpus.field_path import FieldPath, json_kind
from piecework.corpus.rows import ReadOptions, Rows, decode_utf8
from piecework.corpus.text_stream import BYTE_ORDER_MARK, TextStream, line_blocks
from piecework.errors import CorpusError


def read_json_lines(stream: TextStream, options: ReadOptions) -> Iterator[Rows]:
    """Yield the texts of blocks of lines; a blank line has an empty text.

    Invalid UTF-8 and lone surrogates become U+FFFD, or raise `InvalidUtf8Error` if
    `encoding_errors="strict"`. Raises `CorpusError` with file, line and field for a line that is not a JSON
    object with a string under the field.
    """
    for first_line, block in line_blocks(stream, options.read_bytes, options.memory_share):
        yield json_rows(block, first_line, stream.name, options)


def json_rows(block: bytes, first_line: int, name: str, options: ReadOptions) -> Rows:
    """Return the texts of a block of lines, and the objects if the options say so.

    The core reads most lines. Python reads those that the core does not accept; it makes the errors. Python
    reads all lines with their objects, and all conversations.
    """
    texts: list[str]
    unread: Iterable[tuple[int, bytes]]
    if options.with_records or options.as_conversations:
        lines = block.removesuffix(b"\n").split(b"\n")
        texts = [""] * len(lines)
        unread = ((index, line) for index, line in enumerate(lines) if line.strip())
    else:
        field = options.field
        column, found = TextColumn.of_json_lines(block, field.key, field.path)
        if not found:
            return Rows(column, range(first_line, first_line + len(column)))
        texts = column.to_list()
        unread = ((index, block[start:end]) for index, start, end in found)
    numbers = list(range(first_line, first_line + len(texts)))
    records: list[dict[str, Any]] = [{}] * len(texts)
    replacements = 0
    faults = []
    for index, line in unread:
        place = f"{name} line {numbers[index]}"
        try:
            texts[index], replaced, records[index] = (
                _conversation_record(line, place, options)
                if options.as_conversations
                else json_line_record(line, place, options.field, options.encoding_errors)
            )
        except CorpusError as error:
            options.fault(error)
            faults.append(index)
        else:
            replacements += replaced
    for index in reversed(faults):
        del texts[index], numbers[index], records[index]
    return Rows(texts, numbers, replacements, records if options.with_records else ())


def json_line_record(
    line: bytes, place: str, field: FieldPath, encoding_errors: str
) -> tuple[str, int, dict[str, Any]]:
    """Return the text of one line, the number of replaced sequences, and the whole object."""
    decoded, bad_bytes = _decode(line, place, encoding_errors)
    record = _record_of(decoded, place, f"an object with field {field.key!r}")
    text = field.text_of(record, place)
    valid, bad_chars = replace_surrogates(text, f"{place} field {field.key!r}", encoding_errors)
    return valid, bad_bytes + bad_chars, record


def _conversation_record(
    line: bytes, place: str, options: ReadOptions
) -> tuple[str, int, dict[str, Any]]:
    """Return the conversation of one line, the number of replaced sequences, and the whole object."""
    decoded, bad_bytes = _decode(line, place, options.encoding_errors)
    record = _record_of(decoded, place, "an object with messages")
    conversation, bad_chars = conversation_of(record, place, options, decoded)
    return conversation, bad_bytes + bad_chars, record


def _decode(line: bytes, place: str, encoding_errors: str) -> tuple[str, int]:
    return decode_utf8(line.removeprefix(BYTE_ORDER_MARK), encoding_errors, place, " of the line")


def _record_of(line: str, place: str, expected: str) -> dict[str, Any]:
    """Return the parsed object."""
    if line.lstrip().startswith("[") and place.endswith(" line 1"):
        problem = "starts a JSON array; write the items of an array one a line, as jq -c '.[]' does"
        raise CorpusError(place, problem, kind="JSON that is not an object")
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        # The message of the decoder ends in a position: "line 1 column 9 (char 8)".
        found = f"broken JSON ({str(error).replace('line 1 ', '')})"
        problem = f"found {found}, expected one JSON object"
        raise CorpusError(place, problem, kind="broken JSON") from error
    if not isinstance(value, dict):
        problem = f"found a JSON {json_kind(value)}, expected {expected}"
        raise CorpusError(place, problem, kind="JSON that is not an object")
    return value
