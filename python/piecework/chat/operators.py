"""Operators of chat templates: comparisons, `in` and tests, which count what they read, `%` and `format`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, ValuesView
from string import Formatter
from typing import Any, cast

from piecework.chat.budget import (
    BUDGET,
    CHARS_PER_ITEM,
    CHARS_PER_STEP,
    MAX_ITEMS,
    chars_in,
    items_in,
    take,
)
from piecework.chat.tracked_text import TEMPLATE, TrackedText, derived, joined, plain, tracked
from piecework.errors import TemplateError

_SHORT = 64


def compared(first: object, *rest: object) -> Any:
    """Return the result of a comparison such as `a < b < c`, given as `a, "lt", b, "lt", c`.

    >>> compared(1, "lt", 2, "in", [2, 3])
    True

    All operands are evaluated before.
    """
    result: Any = True
    left = first
    for name, right in zip(rest[::2], rest[1::2], strict=True):
        result = _COUNTED[cast("str", name)](left, right)
        if not result:
            break
        left = right
    return result


def counted_tests() -> dict[str, Callable[..., Any]]:
    """Return the tests of Jinja that compare or read a text, such as `equalto`, by name.

    >>> counted_tests()["in"]("a", "abc")
    True
    """
    comparing = {test: _COUNTED[name] for name, tests in _TESTS.items() for test in tests.split()}
    return {**comparing, "lower": _is_lower, "upper": _is_upper}


def _is_lower(value: object) -> bool:
    take(chars_in(value))
    return str(value).islower()


def _is_upper(value: object) -> bool:
    take(chars_in(value))
    return str(value).isupper()


def count_search(needle: object, container: object) -> None:
    """Count the search of a value in a container.

    >>> count_search("b", "abc")
    """
    take(_chars_of_search(needle, container))


def _chars_of_search(needle: object, container: object) -> int:
    if isinstance(container, str):
        return len(container)
    if isinstance(container, (list, tuple, ValuesView)):
        chars = CHARS_PER_ITEM * len(container)
        if isinstance(needle, str) and len(needle) <= _SHORT:
            return chars
        return chars + sum(_chars_of_equality(needle, item) for item in container)
    if isinstance(container, range):
        return CHARS_PER_ITEM * len(container)
    return chars_in(needle) if isinstance(needle, tuple) else 0


def _chars_of_equality(left: object, right: object) -> int:
    """Return what `left == right` reads; values of unequal types or lengths differ at once."""
    if left is right and isinstance(left, str):
        return 0
    for of_type in (str, list, tuple, dict):
        if isinstance(left, of_type) and isinstance(right, of_type):
            return chars_in(left) if len(left) == len(right) else 0
    return 0


def _chars_of_order(left: object, right: object) -> int:
    if isinstance(left, str) and isinstance(right, str):
        return min(len(left), len(right))
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return chars_in(min(left, right, key=len))
    return 0


def _counting(
    compare: Callable[[Any, Any], Any],
    chars_of: Callable[[object, object], int],
) -> Callable[[Any, Any], Any]:
    def counted(left: Any, right: Any) -> Any:
        take(chars_of(left, right))
        return compare(left, right)

    return counted


_COUNTED = {
    "eq": _counting(operator.eq, _chars_of_equality),
    "ne": _counting(operator.ne, _chars_of_equality),
    "gt": _counting(operator.gt, _chars_of_order),
    "gteq": _counting(operator.ge, _chars_of_order),
    "lt": _counting(operator.lt, _chars_of_order),
    "lteq": _counting(operator.le, _chars_of_order),
    "in": _counting(lambda left, right: left in right, _chars_of_search),
    "notin": _counting(lambda left, right: left not in right, _chars_of_search),
}
_TESTS = {
    "eq": "eq equalto ==",
    "ne": "ne !=",
    "gt": "gt greaterthan >",
    "gteq": "ge >=",
    "lt": "lt lessthan <",
    "lteq": "le <=",
    "in": "in",
}


_CONVERSION = re.compile(
    r"%(?:\((?P<key>[^()]*)\))?(?P<flags>[-+ #0-9.*hlL]*)(?P<kind>.)", re.DOTALL
)
_LONG_WIDTH = re.compile(r"[0-9]{4}|\*")


def percent_formatted(text: TrackedText, arguments: object) -> TrackedText:
    """Return `text % arguments`.

    >>> percent_formatted(TrackedText("<%s>", 1), (TrackedText("a", 0),)).origins
    b'\\x01\\x00\\x01'

    Conversions with a width or a precision need arguments with the origin of the text. Raises
    `TemplateError` for a width of more than 999.
    """
    if any(match["flags"] for match in _CONVERSION.finditer(text)):
        check_widths(text)
        parts = (TrackedText(part, 0) for part in _padded_parts(text, arguments))
        return derived(joined(parts), (text, arguments))
    return joined(_percent_parts(text, arguments))


def _padded_parts(text: TrackedText, arguments: object) -> Iterator[str]:
    """Yield the parts of `text % arguments` without origins."""
    for literal, conversion, value in _conversions(text, arguments):
        yield plain(literal) % ()  # raises for an incomplete conversion
        if conversion is not None:
            yield _converted(conversion, value)


def _percent_parts(text: TrackedText, arguments: object) -> Iterator[TrackedText]:
    """Yield the parts of `text % arguments`, whose conversions have no width."""
    for literal, conversion, value in _conversions(text, arguments):
        yield literal
        if conversion is None:
            continue
        if conversion["kind"] == "%":
            yield text.part(conversion.end() - 1, conversion.end())
        elif conversion["kind"] == "s":
            _count_items(value)
            yield tracked(value)
        else:
            yield derived(_converted(conversion, value), value)


def _conversions(
    text: TrackedText, arguments: object
) -> Iterator[tuple[TrackedText, re.Match[str] | None, object]]:
    """Yield literal text, the conversion after it and the value of this; the last has no conversion."""
    values = arguments if isinstance(arguments, tuple) else (arguments,)
    done, used = 0, 0
    for match in _CONVERSION.finditer(text):
        value: object = None
        if match["kind"] == "%" and not match["flags"]:
            pass
        elif match["key"] is not None:
            value = cast("Mapping[str, object]", arguments)[match["key"]]
        elif used < len(values):
            value, used = values[used], used + 1
        else:
            raise TypeError("not enough arguments for format string")
        yield text.part(done, match.start()), match, value
        done = match.end()
    if used < len(values) and not isinstance(arguments, (Mapping, list)):
        raise TypeError("not all arguments converted during string formatting")
    yield text.part(done), None, None


def _converted(conversion: re.Match[str], value: object) -> str:
    if conversion["kind"] == "%" and not conversion["flags"]:
        return "%"
    _count_shown(value)
    return f"%{conversion['flags']}{conversion['kind']}" % (value,)


def _count_shown(value: object) -> None:
    """Count the text of a value as steps, before a conversion that may shorten it builds this text."""
    _count_items(value)
    budget = BUDGET.get(None)
    if isinstance(value, (str, dict, list, tuple)) and budget is not None:
        budget.take(len(value if isinstance(value, str) else tracked(value)))


def _count_items(value: object) -> None:
    """Count a step for each item of a container, whose text each conversion builds again."""
    budget = BUDGET.get(None)
    if isinstance(value, (dict, list, tuple)) and budget is not None:
        budget.take(CHARS_PER_STEP * items_in(value, MAX_ITEMS))


def brace_formatted(
    text: TrackedText,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    field_of: Callable[[str, Sequence[object], Mapping[str, object]], object],
) -> TrackedText:
    """Return `text.format(*args, **kwargs)`; `field_of` returns the value of a replacement field.

    >>> brace_formatted(TrackedText("<{}>", 1), [TrackedText("a", 0)], {}, lambda name, a, k: a[0])
    '<a>'

    Raises `TemplateError` for a width of more than 999.
    """
    return joined(_brace_parts(text, args, kwargs, field_of))


def _brace_parts(
    text: TrackedText,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    field_of: Callable[[str, Sequence[object], Mapping[str, object]], object],
) -> Iterator[TrackedText]:
    """Yield the parts of `text.format(*args, **kwargs)`."""
    # One character with the common origin of the text, whose origins are not compared for each field.
    first = derived(text, text).part(0, 1)
    # The padding has the origin of the text: padding by the template counts as part of the value.
    is_of_template = all(origin & TEMPLATE for origin in first.origins)
    next_argument = 0
    for literal, field, spec, conversion in Formatter().parse(plain(text)):
        yield derived(literal, first)
        if field is None:
            continue
        if field == "":
            field, next_argument = str(next_argument), next_argument + 1
        value = field_of(field, args, kwargs)
        if not spec and not conversion:
            _count_items(value)
            yield tracked(value)
            continue
        check_widths(spec or "")
        _count_shown(value)
        shown = Formatter().convert_field(value, conversion)
        sources = value if is_of_template else (value, first)
        yield derived(format(shown, spec or ""), sources)


def check_widths(text: str) -> None:
    """Raise `TemplateError` for a width of more than 999 in a format.

    >>> check_widths("%3d")
    """
    if _LONG_WIDTH.search(text):
        problem = f"the format {plain(text)[:40]!r} has a width above 999"
        raise TemplateError("chat template", problem)
