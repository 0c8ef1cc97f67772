"""Comparisons, `in` and tests of chat templates, which count what they read before they read it."""

from __future__ import annotations

import operator
from collections.abc import Callable, ValuesView
from typing import Any, cast

from piecework.chat.budget import CHARS_PER_ITEM, chars_in, take

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
