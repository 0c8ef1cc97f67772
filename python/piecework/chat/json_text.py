"""The `tojson` filter of chat templates, with the origins of the characters of each string."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from piecework.chat.budget import CHARS_PER_STEP, check_length, take
from piecework.chat.tracked_text import TrackedText, joined, plain
from piecework.errors import TemplateError

_ESCAPED = re.compile(r'["\\\x00-\x1f]')
_NOT_ASCII_OR_ESCAPED = re.compile(r'["\\]|[^ -~]')
_MAX_INDENT = 64
_MAX_DEPTH = 100


def to_json(
    value: object,
    ensure_ascii: bool = False,
    indent: Any = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> TrackedText:
    """Return what `json.dumps` writes; punctuation, numbers and constants count as message text.

    >>> text = to_json({TrackedText("a", 1): [1, None]})
    >>> text, text.origins
    ('{"a": [1, null]}', b'\\x00\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00')

    Raises `TemplateError` for an indent of more than 64 spaces and for values nested deeper than 100.
    """
    if isinstance(indent, str):
        indent = len(indent) if indent.isspace() else indent
    if indent is not None and not (isinstance(indent, int) and indent <= _MAX_INDENT):
        problem = f"must be at most {_MAX_INDENT} spaces, not {repr(indent)[:40]}"
        raise TemplateError("tojson: indent", problem)
    if separators is None:
        separators = (", ", ": ") if indent is None else (",", ": ")
    first, second = separators
    writer = _Writer(ensure_ascii, indent, (plain(first), plain(second)), sort_keys)
    return joined(writer.parts(value, 0))


_Items: TypeAlias = list[tuple[TrackedText | None, Any]]


class _Writer:
    def __init__(
        self, ensure_ascii: bool, indent: int | None, separators: tuple[str, str], sort_keys: bool
    ) -> None:
        self.ensure_ascii = ensure_ascii
        self.indent = indent
        self.separators = separators
        self.sort_keys = sort_keys

    def parts(self, value: Any, depth: int) -> Iterator[TrackedText]:
        if depth > _MAX_DEPTH:
            problem = f": the values are nested more than {_MAX_DEPTH} levels deep"
            raise TemplateError("tojson", problem)
        if isinstance(value, (list, tuple, dict)):
            take(CHARS_PER_STEP * len(value))
        if isinstance(value, str):
            yield self._string(value)
        elif isinstance(value, dict):
            items = sorted(value.items()) if self.sort_keys else list(value.items())
            pairs: _Items = [(self._key(key), item) for key, item in items]
            yield from self._container("{", "}", pairs, depth)
        elif isinstance(value, (list, tuple)):
            yield from self._container("[", "]", [(None, item) for item in value], depth)
        else:
            yield _message(json.dumps(value, ensure_ascii=self.ensure_ascii))

    def _container(
        self,
        opening: str,
        closing: str,
        items: _Items,
        depth: int,
    ) -> Iterator[TrackedText]:
        yield _message(opening)
        for position, (key, item) in enumerate(items):
            if position:
                yield _message(self.separators[0])
            yield self._line(depth + 1)
            if key is not None:
                yield key
                yield _message(self.separators[1])
            yield from self.parts(item, depth + 1)
        if items:
            yield self._line(depth)
        yield _message(closing)

    def _line(self, depth: int) -> TrackedText:
        return _message("" if self.indent is None else "\n" + " " * (self.indent * depth))

    def _key(self, key: Any) -> TrackedText:
        if isinstance(key, str):
            return self._string(key)
        # json.dumps writes numbers and constants as strings.
        return _message(json.dumps({key: 0})[1:-4])

    def _string(self, text: str) -> TrackedText:
        origins = text.origins if isinstance(text, TrackedText) else bytes(len(text))
        written = json.dumps(plain(text), ensure_ascii=self.ensure_ascii)
        check_length(len(written))
        if len(written) == len(text) + 2:
            return TrackedText(written, b"\0" + origins + b"\0")
        escaped = TrackedText(plain(text), origins).escaped(
            _NOT_ASCII_OR_ESCAPED if self.ensure_ascii else _ESCAPED,
            lambda character: json.dumps(character, ensure_ascii=self.ensure_ascii)[1:-1],
        )
        return TrackedText(written, b"\0" + escaped.origins + b"\0")


def _message(text: str) -> TrackedText:
    return TrackedText(text, 0)
