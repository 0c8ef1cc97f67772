"""Read conversations: the records of JSON lines and of tables, instead of the text under one field."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from piecework._internal.surrogates import replace_surrogates
from piecework.chat.conversations import FIELDS, Conversation
from piecework.corpus.field_path import FieldPath
from piecework.corpus.rows import ReadOptions
from piecework.errors import CorpusError

_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def conversation_of(
    record: Mapping[str, Any], place: str, options: ReadOptions, line: str = ""
) -> tuple[Conversation, int]:
    """Return the conversation of a record, and the number of lone surrogates that became U+FFFD.

    `line` is the JSON of the record, if it has such text.
    """
    replaced = 0
    if _ESCAPED_SURROGATE.search(line):
        record, replaced = _without_surrogates(record, place, options.encoding_errors)
    if not options.field_is_given:
        return Conversation.of(record, place), replaced
    return Conversation.of(_with_field(record, options.field), place, options.field.key), replaced


def _with_field(record: Mapping[str, Any], field: FieldPath) -> Mapping[str, Any]:
    """Return a record that has a nested field by its whole name, if it exists."""
    value: Any = record
    for name in () if field.key in record else field.path:
        if not isinstance(value, Mapping) or name not in value:
            return record
        value = value[name]
    return record if value is record else {**record, field.key: value}


def conversation_columns(names: Sequence[str], place: str, options: ReadOptions) -> list[str]:
    """Return the columns of a table that make conversations; raises `CorpusError` without any."""
    field = options.field
    wanted = list(FIELDS)
    if options.field_is_given:
        wanted = [field.key if field.key in names else field.path[0], "tools"]
    found = [name for name in wanted if names.count(name) == 1]
    if found in ([], ["tools"], ["system"], ["tools", "system"]):
        listed = ", ".join(map(repr, names[:8])) or "no columns"
        expected = " or ".join(map(repr, wanted[:1] if options.field_is_given else FIELDS[:3]))
        problem = f"has no column {expected}; it has {listed}"
        raise CorpusError(place, problem, kind="a table without messages")
    return found


def without_nulls(value: Any) -> Any:
    """Return data without the fields that are None, which columns of structs add to each row.

    >>> without_nulls([{"role": "user", "name": None}])
    [{'role': 'user'}]
    """
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return list(map(without_nulls, value)) if isinstance(value, list) else value


def _without_surrogates(value: Any, place: str, encoding_errors: str) -> tuple[Any, int]:
    """Return data with U+FFFD for lone surrogates in its strings, and their number."""
    if isinstance(value, str):
        return replace_surrogates(value, place, encoding_errors)
    if isinstance(value, dict):
        pairs = _without_surrogates([list(pair) for pair in value.items()], place, encoding_errors)
        return dict(pairs[0]), pairs[1]
    if isinstance(value, list):
        items = [_without_surrogates(item, place, encoding_errors) for item in value]
        return [item for item, _ in items], sum(replaced for _, replaced in items)
    return value, 0
