"""`%` and `format` of a template, with the origins of the characters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from string import Formatter
from typing import cast

from piecework.chat.budget import BUDGET, CHARS_PER_STEP, MAX_ITEMS, items_in
from piecework.chat.tracked_text import TEMPLATE, TrackedText, derived, joined, plain, tracked
from piecework.errors import TemplateError

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
    # The padding comes from the text: that of the template counts as part of the value.
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
        problem = f": the format {plain(text)[:40]!r} has a width above 999"
        raise TemplateError("chat template", problem)
