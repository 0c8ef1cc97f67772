"""Checks that the trainers share: each names the argument, what was found and what is expected."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable

from piecework.errors import ArgumentError

_MAX_U32 = 2**32 - 1


def whole_number(name: str, value: object, at_least: int) -> int:
    """Return `value` as an int of 32 bits that is not below `at_least`."""
    expected = f"an integer of at least {at_least}"
    if isinstance(value, bool):
        raise ArgumentError(name, repr(value), expected)
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentError(name, repr(value), expected) from None
    if not at_least <= number <= _MAX_U32:
        raise ArgumentError(name, str(number), f"{expected} and at most {_MAX_U32}")
    return number


def optional_number(name: str, value: object, at_least: int) -> int | None:
    """Return None as it is and anything else as `whole_number` does."""
    return None if value is None else whole_number(name, value, at_least)


def share(name: str, value: object, *, may_be_all: bool) -> None:
    """Refuse anything but a number above 0 and below 1, or 1 itself where all may be meant."""
    expected = "a number above 0 and " + ("at most 1" if may_be_all else "below 1")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentError(name, repr(value), expected)
    if not (0 < value < 1 or (may_be_all and value == 1)):
        raise ArgumentError(name, repr(value), expected)


def one_of(name: str, value: object, known: Collection[str]) -> None:
    """Refuse a value that is not among the known names."""
    if value not in known:
        raise ArgumentError(name, repr(value), f"one of {', '.join(known)}")


def text(name: str, value: object) -> None:
    """Refuse anything but a string that can be written as UTF-8."""
    if not isinstance(value, str):
        raise ArgumentError(name, repr(value), "a string")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ArgumentError(name, repr(value), "a string without lone surrogates")


def distinct_tokens(name: str, values: object, required: str | None) -> tuple[str, ...]:
    """Return distinct, non-empty strings among which `required`, if any, must be."""
    tokens = _strings(name, values)
    for token in tokens:
        if not token:
            raise ArgumentError(name, "an empty string", "tokens of at least one character")
    if len(set(tokens)) != len(tokens):
        twice = next(token for token in tokens if tokens.count(token) > 1)
        raise ArgumentError(name, f"{twice!r} twice", "distinct tokens")
    if required is not None and required not in tokens:
        raise ArgumentError(name, repr(list(tokens)), f"the unknown token {required!r} among them")
    return tokens


def characters(name: str, values: object) -> tuple[str, ...]:
    """Return single characters, given as one string or as a list of them."""
    found = tuple(values) if isinstance(values, str) else _strings(name, values)
    for value in found:
        text(name, value)
        if len(value) != 1:
            raise ArgumentError(name, repr(value), "single characters")
    return tuple(dict.fromkeys(found))


def _strings(name: str, values: object) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentError(name, repr(values), "a list of strings")
    found = tuple(values)
    for value in found:
        text(name, value)
    return found
