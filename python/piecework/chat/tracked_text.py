"""Strings that know the origin of each character, through every operation of a chat template.

An operation either returns characters with their origins or raises: an origin is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from piecework.chat import budget
from piecework.errors import TemplateError

TEMPLATE = 1
"""The bit of characters that the template wrote; others are of a message, a tool or a number."""
GENERATED = 2
"""The bit of characters inside `{% generation %}`."""
FINAL = 4
"""The bit of characters of the message to continue."""
CONTENT = 8
"""The bit of characters of the content of an assistant's message."""
REASONING = 16
"""The bit of characters of the reasoning of an assistant's message."""
TOOL_CALL = 32
"""The bit of characters of the tool calls of an assistant's message."""
TOOL_NAME = TOOL_CALL | REASONING
"""The bits of the name in a tool call, which a template may repeat before the result."""
ODD_TURN = 64
"""The bit of characters of every other message of the assistant, which separates adjacent ones."""
OTHERS = 128
"""The bit of characters of messages that are not the assistant's, and of tools and documents."""


class TrackedText(str):
    """A string with one byte of origin bits for each character.

    >>> text = TrackedText("[INST] ", TEMPLATE) + TrackedText(" hi", 0).strip()
    >>> text, text.origins
    ('[INST] hi', b'\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x00\\x00')
    """

    __slots__ = ("origins",)

    origins: bytes

    def __new__(cls, text: str, origins: int | bytes) -> TrackedText:
        """Make a text of one origin, or with the origin of each character."""
        self = str.__new__(cls, text)
        self.origins = bytes((origins,)) * len(text) if isinstance(origins, int) else origins
        assert len(self.origins) == len(text)
        return self

    def with_bits(self, bits: int) -> TrackedText:
        """Return the text with these bits added to each character."""
        table = bytes((origin | bits) & 255 for origin in range(256))
        return TrackedText(plain(self), self.origins.translate(table))

    def part(self, start: int, stop: int | None = None) -> TrackedText:
        """Return the characters from `start` to `stop`."""
        return TrackedText(str.__getitem__(self, slice(start, stop)), self.origins[start:stop])

    # ---- operators

    def __str__(self) -> str:
        return self

    def __getitem__(self, index: Any) -> TrackedText:
        return TrackedText(str.__getitem__(self, index), self.origins[index])

    def __iter__(self) -> Iterator[str]:
        for index in budget.take_each(range(len(self))):
            yield self.part(index, index + 1)

    def __add__(self, other: object) -> TrackedText:
        if isinstance(other, TrackedText):
            budget.check_length(len(self) + len(other))
            return TrackedText(str.__add__(self, other), self.origins + other.origins)
        if not isinstance(other, str):
            return NotImplemented
        return joined((self, other))

    def __radd__(self, other: object) -> TrackedText:
        if not isinstance(other, str):
            return NotImplemented
        return joined((other, self))

    def __mul__(self, count: Any) -> TrackedText:
        return TrackedText(str.__mul__(self, count), self.origins * count)

    __rmul__ = __mul__

    def __mod__(self, arguments: object) -> NoReturn:
        raise TypeError("`%` of str loses origins: call `operators.percent_formatted`")

    # ---- methods that return parts

    def strip(self, chars: str | None = None) -> TrackedText:
        """Remove characters at both ends."""
        return self.rstrip(chars).lstrip(chars)

    def lstrip(self, chars: str | None = None) -> TrackedText:
        """Remove characters at the start."""
        return self.part(len(self) - len(str.lstrip(self, chars)))

    def rstrip(self, chars: str | None = None) -> TrackedText:
        """Remove characters at the end."""
        return self.part(0, len(str.rstrip(self, chars)))

    def removeprefix(self, prefix: str) -> TrackedText:
        """Remove a prefix."""
        return self.part(len(prefix)) if prefix and self.startswith(prefix) else self

    def removesuffix(self, suffix: str) -> TrackedText:
        """Remove a suffix."""
        return self.part(0, len(self) - len(suffix)) if suffix and self.endswith(suffix) else self

    def split(self, sep: str | None = None, maxsplit: Any = -1) -> list[str]:
        """Return the parts between separators."""
        return self._located(str.split(self, sep, _bounded_splits(maxsplit)), sep)

    def rsplit(self, sep: str | None = None, maxsplit: Any = -1) -> list[str]:
        """Return the parts between separators, counted from the end."""
        return self._located(str.rsplit(self, sep, _bounded_splits(maxsplit)), sep)

    def splitlines(self, keepends: bool = False) -> list[str]:
        """Return the lines."""
        budget.check_items(sum(map(self.count, _LINE_ENDS)))
        lines: list[str] = []
        at = 0
        for line, with_end in zip(str.splitlines(self), str.splitlines(self, True), strict=True):
            lines.append(self.part(at, at + len(with_end if keepends else line)))
            at += len(with_end)
        return lines

    def partition(self, sep: str) -> tuple[str, str, str]:
        """Return the parts before and after a separator, and the separator."""
        return self._three(str.partition(self, sep))

    def rpartition(self, sep: str) -> tuple[str, str, str]:
        """Return the parts before and after the last separator, and that one."""
        return self._three(str.rpartition(self, sep))

    def _three(self, parts: tuple[str, str, str]) -> tuple[str, str, str]:
        first, second = len(parts[0]), len(parts[0]) + len(parts[1])
        return self.part(0, first), self.part(first, second), self.part(second)

    def _located(self, parts: list[str], sep: str | None) -> list[str]:
        """Return parts of this text, which occur in this order with `sep` or whitespace between them."""
        budget.check_items(len(parts))
        located: list[str] = []
        at = 0
        for found in parts:
            if sep is None:
                at = self.find(found, at)
            located.append(self.part(at, at + len(found)))
            at += len(found) + len(sep or "")
        return located

    # ---- methods that change characters

    def replace(self, old: str, new: str, count: Any = -1) -> TrackedText:
        """Replace a substring; both keep their origins."""
        places = str.count(self, old) if old else len(self) + 1
        places = places if count < 0 else min(count, places)
        budget.check_length(len(self) + places * (len(new) - len(old)))
        result = str.replace(self, old, new, count)
        if not old:
            return derived(result, (self, new))
        budget.take(budget.CHARS_PER_PART * places)
        added = tracked(new).origins
        origins: list[bytes] = []
        at = 0
        for _ in range(places):
            found = str.find(self, old, at)
            origins += (self.origins[at:found], added)
            at = found + len(old)
        return TrackedText(result, b"".join((*origins, self.origins[at:])))

    def escaped(self, pattern: re.Pattern[str], written: Callable[[str], str]) -> TrackedText:
        """Return the text with the characters of a pattern replaced; the new ones keep the origins.

        >>> import re
        >>> TrackedText("a<b", 1).escaped(re.compile("<"), lambda character: "&lt;")
        'a&lt;b'

        `pattern` matches single characters.
        """
        texts: list[str] = []
        origins: list[bytes] = []
        at, chars = 0, len(self)
        for match in pattern.finditer(self):
            start, text = match.start(), written(match[0])
            chars += len(text) - 1
            budget.take(budget.CHARS_PER_PART)
            budget.check_length(chars)
            texts += (str.__getitem__(self, slice(at, start)), text)
            origins += (self.origins[at:start], self.origins[start : start + 1] * len(text))
            at = start + 1
        texts.append(str.__getitem__(self, slice(at, None)))
        return TrackedText("".join(texts), b"".join((*origins, self.origins[at:])))

    def join(self, parts: Iterable[str]) -> TrackedText:
        """Return texts with this one between them."""
        pieces: list[str] = []
        for part in parts:
            pieces += (self, part) if pieces else (part,)
        return joined(pieces)

    def upper(self) -> TrackedText:
        """Return the text in capitals."""
        return self._recased(str.upper)

    def lower(self) -> TrackedText:
        """Return the text in lowercase."""
        return self._recased(str.lower)

    def casefold(self) -> TrackedText:
        """Return the text for comparisons without letter case."""
        return self._recased(str.casefold)

    def swapcase(self) -> TrackedText:
        """Return the text with the other case of each letter."""
        return self._recased(str.swapcase)

    def title(self) -> TrackedText:
        """Return the text with a capital at each word."""
        return self._recased(str.title)

    def capitalize(self) -> TrackedText:
        """Return the text with a capital at the start."""
        return self._recased(str.capitalize)

    def _recased(self, convert: Callable[[str], str]) -> TrackedText:
        text = plain(self)
        result = convert(text)
        if len(result) == len(text):
            # No character has a shorter form, so each has one of its length.
            return TrackedText(result, self.origins)
        budget.take(budget.CHARS_PER_PART * len(text))
        lengths = [len(convert(character)) for character in text]
        if sum(lengths) == len(result) and convert in (str.upper, str.lower, str.casefold):
            spread = (bytes((o,)) * n for o, n in zip(self.origins, lengths, strict=True))
            return TrackedText(result, b"".join(spread))
        return derived(result, self)

    def _unsupported(self, *args: object, **kwargs: object) -> NoReturn:
        problem = (
            "a string method that does not keep the origin of characters was called; use "
            "strip, split, replace, join, upper, lower and the like"
        )
        raise TemplateError("chat template", problem)

    center = ljust = rjust = zfill = expandtabs = translate = encode = _unsupported
    format_map = _unsupported


def plain(text: str) -> str:
    """Return the same characters as an ordinary string.

    >>> type(plain(TrackedText("a", 0)))
    <class 'str'>
    """
    return str.__str__(text)


def tracked(value: object) -> TrackedText:
    """Return a value as text with origins; numbers, None and what has no text count as message text.

    >>> tracked(5), tracked(5).origins
    ('5', b'\\x00')

    Raises `TemplateError` for a string without origins.
    """
    if isinstance(value, TrackedText):
        return value
    if isinstance(value, str):
        if value:
            raise lost_origin(value)
        return TrackedText("", b"")
    if type(value) in (dict, list, tuple):
        return joined(_repr_parts(value, 0))
    return derived(str(value), value)


def _repr_parts(value: Any, depth: int) -> Iterator[TrackedText]:
    """Yield the parts of the `repr` of a value; punctuation and numbers count as message text."""
    if depth > _MAX_DEPTH:
        raise _too_deep()
    if type(value) in (dict, list, tuple):
        budget.take(budget.CHARS_PER_STEP * len(value))
    if type(value) is dict:
        for position, (key, item) in enumerate(value.items()):
            yield TrackedText(", " if position else "{", 0)
            yield from _repr_parts(key, depth + 1)
            yield TrackedText(": ", 0)
            yield from _repr_parts(item, depth + 1)
        yield TrackedText("}" if value else "{}", 0)
    elif type(value) in (list, tuple):
        opening, closing = "[]" if type(value) is list else "()"
        for position, item in enumerate(value):
            yield TrackedText(", " if position else opening, 0)
            yield from _repr_parts(item, depth + 1)
        if type(value) is tuple and len(value) == 1:
            closing = ",)"
        yield TrackedText(closing if value else opening + closing, 0)
    elif isinstance(value, TrackedText):
        text = repr(plain(value))
        if len(text) == len(value) + 2:
            yield TrackedText(text, b"\0" + value.origins + b"\0")
        else:
            yield derived(text, value)
    else:
        yield derived(repr(value), value)


def joined(parts: Iterable[object]) -> TrackedText:
    """Concatenate the texts of values.

    >>> joined([TrackedText("n=", TEMPLATE), 5]).origins
    b'\\x01\\x01\\x00'
    """
    texts, chars = [], 0
    for part in parts:
        text = part if isinstance(part, TrackedText) else tracked(part)
        texts.append(text)
        chars += len(text)
        budget.check_length(chars)
    return TrackedText("".join(texts), b"".join([text.origins for text in texts]))


def derived(result: str, inputs: object) -> TrackedText:
    """Return the result of an operation on strings that all have the same origin.

    >>> derived("b", [TrackedText("a", TEMPLATE)]).origins
    b'\\x01'

    Raises `TemplateError` if `inputs` have characters of the template and others.
    """
    origins: set[int] = set()
    _collect(inputs, origins, 0)
    if len({origin & TEMPLATE for origin in origins}) > 1:
        raise lost_origin(result)
    common = ~0
    for origin in origins:
        common &= origin
    return TrackedText(plain(result), common if origins else 0)


def lost_origin(text: str) -> TemplateError:
    """Return the error for characters that come both from the template and from a message.

    >>> str(lost_origin("ab"))
    "chat template: the text 'ab' has characters of unknown origin; use filters and methods that do ..."
    """
    shown = text if len(text) <= 40 else f"{text[:40]}..."
    problem = (
        f"the text {plain(shown)!r} has characters of unknown origin; use filters and "
        "methods that do not mix text of the template and of messages"
    )
    return TemplateError("chat template", problem)


_MAX_DEPTH = 100
_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def _bounded_splits(maxsplit: Any) -> Any:
    """Limit a number of splits so that at most one part is too many for a list."""
    return budget.MAX_ITEMS if maxsplit < 0 else min(maxsplit, budget.MAX_ITEMS)


def _collect(value: object, origins: set[int], depth: int) -> None:
    """Add the origins of all strings inside a value."""
    if depth > _MAX_DEPTH:
        raise _too_deep()
    if isinstance(value, TrackedText):
        origins.update(value.origins)
    elif isinstance(value, dict):
        for key, item in value.items():
            _collect(key, origins, depth + 1)
            _collect(item, origins, depth + 1)
    elif isinstance(value, (list, tuple, set)):
        for item in value:
            _collect(item, origins, depth + 1)
    elif isinstance(value, (int, float)):
        origins.add(0)
    elif isinstance(value, str) and value:
        raise lost_origin(value)


def _too_deep() -> TemplateError:
    problem = f"the values are nested more than {_MAX_DEPTH} levels deep"
    return TemplateError("chat template", problem)
