"""Errors for arguments that earlier versions had under another name."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from piecework.errors import ArgumentError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def renamed_argument(
    old: str, new: str
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Return a decorator that raises `ArgumentError` with the new name for a keyword argument.

    >>> @renamed_argument("pipeline", "preset")
    ... def count(*, preset: str) -> str:
    ...     return preset
    >>> count(preset="gpt2")
    'gpt2'
    >>> count(pipeline="gpt2")
    Traceback (most recent call last):
    piecework.errors.ArgumentError: pipeline: found an argument of an earlier version, expected preset=
    """

    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        @wraps(function)
        def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            if old in kwargs:
                raise ArgumentError(old, "an argument of an earlier version", f"{new}=")
            return function(*args, **kwargs)

        return call

    return decorate
