"""The name of a field in JSON objects or of a column, with dots for nested fields."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from piecework._internal.validation import check_type
from piecework.errors import CorpusError

TEXT_FIELD = "text"
_DOT = re.compile(r"(?<!\\)\.")


@dataclass(frozen=True)
class FieldPath:
    r"""A field: `key` of the record itself if it exists, otherwise `path`, the keys of nested objects.

    >>> FieldPath.of("meta.text").path, FieldPath.of(r"a\.b.c").path
    (('meta', 'text'), ('a.b', 'c'))
    """

    key: str
    path: tuple[str, ...]

    @classmethod
    def of(cls, field: str | None) -> FieldPath:
        """Return the path of a field name; None means "text"."""
        check_type("field", field, str | None, "str or None")
        key = TEXT_FIELD if field is None else field
        return cls(key, tuple(name.replace("\\.", ".") for name in _DOT.split(key)))

    def text_of(self, record: dict[str, Any], place: str) -> str:
        """Return the string under the field; raises `CorpusError` at `place` if there is none."""
        value = record[self.key] if self.key in record else self._nested(record, place)
        if not isinstance(value, str):
            problem = f"found a {json_kind(value)}, expected a string"
            raise self._fault(place, problem, "a field that is not a string")
        return value

    def _nested(self, record: dict[str, Any], place: str) -> Any:
        value: Any = record
        for depth, name in enumerate(self.path):
            inside = f" in {'.'.join(self.path[:depth])!r}" if depth else ""
            if not isinstance(value, dict):
                problem = f"found a {json_kind(value)}{inside}, expected an object"
                raise self._fault(place, problem, "a field that is not an object")
            if name not in value:
                names = ", ".join(map(repr, list(value)[:8])) or "no fields"
                problem = f"is missing: there is only {names}{inside}"
                raise self._fault(place, problem, "a missing field")
            value = value[name]
        return value

    def _fault(self, place: str, problem: str, reason: str) -> CorpusError:
        return CorpusError(f"{place} field {self.key!r}", problem, kind=reason)


def json_kind(value: object) -> str:
    """Return the name of the JSON type of a value.

    >>> json_kind(None), json_kind([])
    ('null', 'array')
    """
    names = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")
