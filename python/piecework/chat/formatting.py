"""`%` and `format` of a template, with the origins of the characters."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from string import Formatter

from piecework._internal.lazy import typing
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
        return derived(plain(text) % arguments, (text, arguments))
    values = arguments if isinstance(arguments, tuple) else (arguments,)
    parts: list[TrackedText] = []
    done, used = 0, 0
    for match in _CONVERSION.finditer(text):
        parts.append(text.part(done, match.start()))
        done = match.end()
        if match["kind"] == "%":
            parts.append(text.part(done - 1, done))
            continue
        if match["key"] is not None:
            value = typing.cast("Mapping[str, object]", arguments)[match["key"]]
        elif used < len(values):
            value, used = values[used], used + 1
        else:
            raise TypeError("not enough arguments for format string")
        is_text = match["kind"] == "s"
        parts.append(tracked(value) if is_text else derived(f"%{match['kind']}" % value, value))
    if used < len(values) and not isinstance(arguments, Mapping):
        raise TypeError("not all arguments converted during string formatting")
    return joined((*parts, text.part(done)))


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
    parts: list[object] = []
    next_argument = 0
    for literal, field, spec, conversion in Formatter().parse(plain(text)):
        parts.append(derived(literal, text))
        if field is None:
            continue
        if field == "":
            field, next_argument = str(next_argument), next_argument + 1
        value = field_of(field, args, kwargs)
        if not spec and not conversion:
            parts.append(tracked(value))
            continue
        check_widths(spec or "")
        shown = Formatter().convert_field(value, conversion)
        # The padding comes from the text: that of the template counts as part of the value.
        is_of_template = all(origin & TEMPLATE for origin in text.origins)
        sources = value if is_of_template else (value, text)
        parts.append(derived(format(shown, spec or ""), sources))
    return joined(parts)


def check_widths(text: str) -> None:
    """Raise `TemplateError` for a width of more than 999 in a format.

    >>> check_widths("%3d")
    """
    if _LONG_WIDTH.search(text):
        raise TemplateError(
            "chat template", f"the format {plain(text)[:40]!r}", "widths below 1000"
        )
