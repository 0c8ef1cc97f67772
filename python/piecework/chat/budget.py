"""The limits of rendering: steps, time and the size of texts and numbers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import TypeVar

from piecework.errors import TemplateError

MAX_STEPS = 1_000_000
"""Loop passes, calls and blocks of 64 characters that one rendering may take."""
MAX_SECONDS = 30.0
MAX_CHARS = 1 << 24
MAX_ITEMS = 1 << 20
_MAX_BITS = 1 << 12
CHARS_PER_STEP = 64
CHARS_PER_ITEM = 4
CHARS_PER_PART = 16
"""What a step of Python counts, such as the origins of an escape or the text of an item of a list."""
_STEPS_PER_CHECK = 256

Item = TypeVar("Item")


class Budget:
    """The steps that are left of one rendering.

    >>> budget = Budget(max_steps=1)
    >>> budget.take()
    >>> budget.take()
    Traceback (most recent call last):
    piecework.errors.TemplateError: chat template: does not end: it took more than 1 steps
    """

    def __init__(
        self,
        max_steps: int = MAX_STEPS,
        max_seconds: float = MAX_SECONDS,
        *,
        is_compiling: bool = False,
    ) -> None:
        self.max_steps = max_steps
        self.is_compiling = is_compiling
        self.left = max_steps
        self.next_check = max_steps - _STEPS_PER_CHECK
        self.deadline = time.monotonic() + max_seconds

    def take(self, chars: int = 0) -> None:
        """Count one step, and one for each 64 characters."""
        self.left -= 1 + chars // CHARS_PER_STEP
        if self.left < 0:
            problem = f"does not end: it took more than {self.max_steps} steps"
            raise TemplateError("chat template", problem)
        if self.left < self.next_check:
            self.next_check = self.left - _STEPS_PER_CHECK
            if time.monotonic() > self.deadline:
                raise TemplateError("chat template", "did not end within 30 seconds")

    def check_size(self, value: object) -> None:
        """Count the result of an operation; raise if it is larger than a prompt can be."""
        if isinstance(value, str):
            check_length(len(value))
            self.take(len(value))
        elif isinstance(value, int):
            check_number(value)
        elif isinstance(value, (list, tuple, dict)):
            # What exists is never larger than this, so that no later operation takes long.
            self.take(CHARS_PER_ITEM * items_in(value, MAX_ITEMS))


BUDGET: ContextVar[Budget] = ContextVar("BUDGET")


def take(chars: int) -> None:
    """Count the characters of the next operation, if a template runs.

    >>> take(64)
    """
    budget = BUDGET.get(None)
    if budget is not None:
        budget.take(chars)


def take_each(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items and count a step for each, if a template runs.

    >>> list(take_each("ab"))
    ['a', 'b']
    """
    budget = BUDGET.get(None)
    for item in items:
        if budget is not None:
            budget.take()
        yield item


def step() -> str:
    """Count one step of the current rendering."""
    BUDGET.get().take()
    return ""


def items_in(value: object, most: int) -> int:
    """Return the number of items in nested containers; repeated containers count each time.

    >>> items_in([[1, 2], {"a": 3}], 10)
    5

    Raises `TemplateError` for more than `most`.
    """
    return _items_and_chars(value, most)[0]


def chars_in(value: object) -> int:
    """Return the characters of all strings inside a value, and four for each item of its containers.

    >>> chars_in(["abc", ["d"]])
    16

    Raises `TemplateError` for more than a million items.
    """
    items, chars = _items_and_chars(value, MAX_ITEMS)
    return chars + CHARS_PER_ITEM * items


def _items_and_chars(value: object, most: int) -> tuple[int, int]:
    items, chars, waiting = 0, 0, [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, str):
            chars += len(inner)
        elif isinstance(inner, (list, tuple, dict)):
            items += len(inner)
            check_items(items, most)
            waiting += (*inner.keys(), *inner.values()) if isinstance(inner, dict) else inner
    return items, chars


def check_length(chars: int) -> None:
    """Raise `TemplateError` for a text of more than 16 million characters.

    >>> check_length(5)
    """
    if chars > MAX_CHARS:
        problem = f"made a text of {chars} characters; the limit is {MAX_CHARS}"
        raise TemplateError("chat template", problem)


def check_items(count: int, most: int = MAX_ITEMS) -> None:
    """Raise `TemplateError` for a container of more than a million items.

    >>> check_items(5)
    """
    if count > most:
        raise TemplateError("chat template", f"made {count} items; the limit is {most}")


def check_number(value: object) -> None:
    """Raise `TemplateError` for an integer of more than 4096 bits.

    >>> check_number(5)
    """
    if isinstance(value, int):
        _check_bits(value.bit_length())


def check_power(base: object, exponent: object) -> None:
    """Raise `TemplateError` for a power of more than 4096 bits.

    >>> check_power(2, 8)
    """
    if isinstance(base, int) and isinstance(exponent, int):
        _check_bits(base.bit_length() * max(exponent, 0))


def check_product(left: object, right: object) -> None:
    """Raise `TemplateError` for a number, a text or a list that is too long.

    >>> check_product("ab", 3)
    """
    if isinstance(left, int) and isinstance(right, int):
        _check_bits(left.bit_length() + right.bit_length())
        return
    for value, count in ((left, right), (right, left)):
        if isinstance(count, int) and isinstance(value, str):
            check_length(len(value) * count)
        elif isinstance(count, int) and isinstance(value, (list, tuple)):
            check_items(len(value) * count)


def _check_bits(bits: int) -> None:
    if bits > _MAX_BITS:
        problem = f"made a number of {bits} bits; the limit is {_MAX_BITS}"
        raise TemplateError("chat template", problem)
