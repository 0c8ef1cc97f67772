"""Which steps of a trace are wanted: `3,5-8`, `10-`, `all`, or numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from piecework.errors import ArgumentError

_EXPECTED = 'step numbers from 1, such as "3,5-8" or "10-", or "all"'
_RANGE = re.compile(r"\s*([0-9]{1,18})\s*(-\s*([0-9]{1,18})?)?\s*")


@dataclass(frozen=True)
class Selection:
    """Ranges of step numbers, both ends included; an end of None is the last step.

    >>> wanted = Selection.of("3,5-8")
    >>> [number for number in range(10) if number in wanted]
    [3, 5, 6, 7, 8]
    """

    ranges: tuple[tuple[int, int | None], ...]
    text: str

    @classmethod
    def of(cls, steps: str | Iterable[int]) -> Selection:
        """Return the selection for an argument; raise `ArgumentError` for any other value.

        >>> Selection.of([2, 4]).ranges
        ((2, 2), (4, 4))
        """
        if isinstance(steps, str):
            parts = ["1-"] if steps.strip() == "all" else steps.split(",")
            return cls(tuple(_range(part, steps) for part in parts), steps)
        numbers = _numbers(steps)
        return cls(tuple((number, number) for number in numbers), ",".join(map(str, numbers)))

    def __contains__(self, number: int) -> bool:
        return any(low <= number <= (number if high is None else high) for low, high in self.ranges)

    def check(self, count: int, *, what: str = "steps") -> None:
        """Raise `ArgumentError` if none of `count` steps is selected, and there are steps.

        >>> Selection.of("1-10").check(3)
        """
        if count and self.ranges and all(low > count for low, _ in self.ranges):
            problem = f"must be at most {count:,}, not {self.text}: that is the number of {what}"
            raise ArgumentError("steps", problem)


def _numbers(steps: object) -> list[int]:
    if not isinstance(steps, Iterable):
        raise ArgumentError("steps", f"must be {_EXPECTED}, not {steps!r}")
    numbers = []
    for number in steps:
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise ArgumentError("steps", f"must be {_EXPECTED}, not {number!r}")
        numbers.append(number)
    return numbers


def _range(part: str, steps: str) -> tuple[int, int | None]:
    match = _RANGE.fullmatch(part)
    if match is None:
        raise ArgumentError("steps", f"must be {_EXPECTED}, not {steps!r}")
    low, dash, high = int(match[1]), match[2], match[3]
    end = low if dash is None else None if high is None else int(high)
    if low < 1 or (end is not None and end < low):
        raise ArgumentError("steps", f"must be {_EXPECTED}, not {steps!r}")
    return low, end
