"""The filters of chat templates: those of Jinja that keep the origins of characters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any

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
from piecework.chat.json_text import to_json
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
    """Return a value as text; a string of a constant expression is of the template.

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
        raise TemplateError("title", ": the capital form of a letter has another length; use upper")
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
        message = f"round: a precision of {found} is more than the limit of {_MAX_PRECISION} digits"
        raise TemplateError("round: precision", message=message)
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
        message = f"indent: a width of {width} is more than the limit of {_MAX_INDENT}"
        raise TemplateError("indent: width", message=message)
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
