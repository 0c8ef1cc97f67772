"""Count the cases that a law compares, so that a law that compares none fails."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Law = TypeVar("Law", bound=Callable[..., Any])


class Compared:
    """The number of cases that the running law has compared."""

    count = 0


def compared(cases: int = 1) -> None:
    """Count cases that a law compares."""
    Compared.count += cases


def compares_some(law: Law) -> Law:
    """Fail a law that ends without a call of `compared`."""

    @functools.wraps(law)
    def counting(*arguments: Any, **named: Any) -> None:
        Compared.count = 0
        law(*arguments, **named)
        assert Compared.count > 0, f"{law.__name__} compared no case"

    return counting  # type: ignore[return-value]
