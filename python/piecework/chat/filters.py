"""The filters of chat templates: Jinja's filters, changed to keep the origins of characters."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, TypeAlias

from jinja2 import pass_environment
from jinja2.filters import FILTERS, do_round, make_attrgetter

from piecework.chat.budget import (
    BUDGET,
    CHARS_PER_ITEM,
    CHARS_PER_PART,
    CHARS_PER_STEP,
    chars_in,
    check_length,
    check_number,
    take,
    take_each,
)
from piecework.chat.tracked_text import TEMPLATE, TrackedText, joined, plain, tracked
from piecework.errors import TemplateError

# These return items of their input, or numbers.
_UNCHANGED = """
abs attr count d default dictsort first float groupby int items last length list map max min reject
rejectattr reverse select selectattr sort unique
"""
# These read all items of their input, and each item of a text is a string of its own.
_READING = frozenset("dictsort groupby join list max min sort sum unique".split())
# These make a key of each item, such as its lower case.
_COMPARING = frozenset("dictsort groupby max min sort unique".split())
_OF_NUMBERS_AND_SIZES = frozenset("abs attr count d default first items last length round".split())
_ESCAPES = {"&": "&amp;", ">": "&gt;", "<": "&lt;", "'": "&#39;", '"': "&#34;"}
_ESCAPED = re.compile("[&><'\"]")
_MAX_INDENT = 256
# A float has at most 309 digits before the point, and no more than 324 zeros after it.
_MAX_PRECISION = 400


def chat_filters() -> dict[str, Callable[..., Any]]:
    """Return the filters by name.

    >>> chat_filters()["upper"]("a").origins
    b'\\x01'
    """
    own = {
        "capitalize": lambda value: text_of(value).capitalize(),
        "e": escaped,
        "escape": escaped,
        "indent": indented,
        "join": join_items,
        "lower": lambda value: text_of(value).lower(),
        "replace": replaced,
        "round": rounded,
        "safe": text_of,
        "string": text_of,
        "sum": summed,
        "title": titled,
        "tojson": to_json,
        "trim": trimmed,
        "upper": lambda value: text_of(value).upper(),
    }
    kept = {name: FILTERS[name] for name in _UNCHANGED.split()}
    return {name: _counted(name, function) for name, function in {**kept, **own}.items()}


def _counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    at = 1 if hasattr(function, "jinja_pass_arg") else 0

    @wraps(function)
    def counted(*args: Any, **kwargs: Any) -> Any:
        budget = BUDGET.get(None)
        if budget is None:
            return function(*args, **kwargs)
        if name in _COMPARING and isinstance(args[at], Iterator):
            args = (*args[:at], list(args[at]), *args[at + 1 :])
        budget.take(_chars_read(name, args[at]))
        result = function(*args, **kwargs)
        check_number(result)
        budget.check_size(result)
        return result

    return counted


def _chars_read(name: str, value: object) -> int:
    """Return the characters that a filter reads of its input, as many as its work is worth."""
    if name in _OF_NUMBERS_AND_SIZES:
        return 0
    if isinstance(value, str):
        if name in _READING:
            return CHARS_PER_STEP * len(value)
        return len(value) * (CHARS_PER_PART if name == "title" else 1)
    if not isinstance(value, (list, tuple, dict)):
        return 0
    if name in _COMPARING:
        return chars_in(value) + CHARS_PER_PART * len(value)
    return CHARS_PER_ITEM * len(value)


def text_of(value: Any) -> TrackedText:
    """Return a value as text; a constant string belongs to the template.

    >>> text_of("a").origins
    b'\\x01'
    """
    # Jinja evaluates constant expressions when it compiles a template. All other strings are tracked.
    budget = BUDGET.get(None)
    if type(value) is str and (budget is None or budget.is_compiling):
        return TrackedText(value, TEMPLATE)
    return tracked(value)


def trimmed(value: Any, chars: str | None = None) -> TrackedText:
    """Remove whitespace, or other characters, at both ends."""
    return text_of(value).strip(chars)


def titled(value: Any) -> TrackedText:
    """Return a text with a capital at each word."""
    text = text_of(value)
    result = FILTERS["title"](plain(text))
    if len(result) != len(text):
        raise TemplateError("title", "the capital form of a letter has another length; use upper")
    return TrackedText(result, text.origins)


def replaced(value: Any, old: Any, new: Any, count: int | None = None) -> TrackedText:
    """Replace a substring; both keep their origins."""
    text, old, new = text_of(value), text_of(old), text_of(new)
    return text.replace(old, new, -1 if count is None else count)


def rounded(value: Any, precision: Any = 0, method: Any = "common") -> Any:
    """Round a number as Jinja does; the precision is at most 400 digits in either direction."""
    if isinstance(precision, int) and abs(precision) > _MAX_PRECISION:
        bits = precision.bit_length()
        found = str(precision) if bits <= 64 else f"{bits} bits"
        message = f"a precision of {found} is more than the limit of {_MAX_PRECISION} digits"
        raise TemplateError("round: precision", message)
    if not isinstance(value, (int, float)):
        raise TemplateError("round", f"takes a number, not {type(value).__name__}")
    check_number(value)
    return do_round(value, precision, method)


@pass_environment
def join_items(
    environment: Any,
    value: Iterable[Any],
    d: Any = "",
    attribute: str | None = None,
) -> TrackedText:
    """Return the texts of items, or of one of their attributes, with `d` between them."""
    if attribute is not None:
        value = map(make_attrgetter(environment, attribute), value)
    separator = text_of(d)
    pieces: list[TrackedText] = []
    chars = 0
    for item in take_each(value):
        pieces.append(text_of(item))
        chars += len(pieces[-1]) + len(separator)
        check_length(chars)
    return separator.join(pieces)


def indented(
    value: Any, width: int | str = 4, first: bool = False, blank: bool = False
) -> TrackedText:
    """Indent the lines of a text, by default all but the first."""
    margin = (
        text_of(width) if isinstance(width, str) else TrackedText(" " * _indent(width), TEMPLATE)
    )
    newline = TrackedText("\n", TEMPLATE)
    text = joined((text_of(value), newline))
    lines = text.splitlines()
    take(CHARS_PER_STEP * len(lines))
    check_length(len(text) + len(lines) * len(margin))
    if blank:
        result = joined((newline, margin)).join(lines)
    else:
        rest = [joined((margin, line)) if line else line for line in lines[1:]]
        result = newline.join([*lines[:1], *rest])
    return joined((margin, result)) if first else result


def _indent(width: int) -> int:
    if width > _MAX_INDENT:
        message = f"a width of {width} is more than the limit of {_MAX_INDENT}"
        raise TemplateError("indent: width", message)
    return width


def escaped(value: Any) -> TrackedText:
    """Replace the characters that HTML escapes."""
    return text_of(value).escaped(_ESCAPED, _ESCAPES.__getitem__)


@pass_environment
def summed(
    environment: Any,
    iterable: Iterable[Any],
    attribute: str | int | None = None,
    start: Any = 0,
) -> Any:
    """Return the sum of items, or of one of their attributes."""
    if attribute is not None:
        iterable = map(make_attrgetter(environment, attribute), iterable)
    total = start
    for item in take_each(iterable):
        total = total + item
        check_number(total)
        take(CHARS_PER_ITEM * len(total) if isinstance(total, (str, list, tuple)) else 0)
    return total


# ---- tojson


_JSON_ESCAPED = re.compile(r'["\\\x00-\x1f]')
_NOT_ASCII_OR_ESCAPED = re.compile(r'["\\]|[^ -~]')
_MAX_JSON_INDENT = 64
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
    if indent is not None and not (isinstance(indent, int) and indent <= _MAX_JSON_INDENT):
        problem = f"must be at most {_MAX_JSON_INDENT} spaces, not {repr(indent)[:40]}"
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
            problem = f"the values are nested more than {_MAX_DEPTH} levels deep"
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
            _NOT_ASCII_OR_ESCAPED if self.ensure_ascii else _JSON_ESCAPED,
            lambda character: json.dumps(character, ensure_ascii=self.ensure_ascii)[1:-1],
        )
        return TrackedText(written, b"\0" + escaped.origins + b"\0")


def _message(text: str) -> TrackedText:
    return TrackedText(text, 0)
