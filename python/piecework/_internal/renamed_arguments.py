"""Errors for arguments and names that earlier versions had elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NoReturn, ParamSpec, TypeVar

from piecework.errors import ArgumentError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Class = TypeVar("Class", bound=type)

_COPIED = ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__")


def renamed_arguments(
    **new_of_old: str,
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Return a decorator that raises `ArgumentError` with the new name for some keyword arguments.

    >>> @renamed_arguments(pipeline="preset")
    ... def count(*, preset: str) -> str:
    ...     return preset
    >>> count(preset="gpt2")
    'gpt2'
    >>> count(pipeline="gpt2")
    Traceback (most recent call last):
    piecework.errors.ArgumentError: pipeline= is called preset=
    """

    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            if not kwargs.keys().isdisjoint(new_of_old):
                for old, new in new_of_old.items():
                    reject_former_name(kwargs, old, new)
            return function(*args, **kwargs)

        return wrapping(call, function)

    return decorate


def wrapping(
    call: Callable[Arguments, Result], function: Callable[Arguments, Result]
) -> Callable[Arguments, Result]:
    """Return `call` with the name, the document and the signature of the function that it calls."""
    for name in _COPIED:
        setattr(call, name, getattr(function, name))
    call.__wrapped__ = function  # type: ignore[attr-defined]
    return call


def reject_former_name(given: Iterable[str], old: str, new: str) -> None:
    """Raise `ArgumentError` with the new name if the old one is among the given arguments."""
    if old in given:
        raise ArgumentError(old, f"= is called {new}=")


def moved_names(module: str, homes: Mapping[str, str]) -> Callable[[str], NoReturn]:
    """Return the `__getattr__` of a module whose error says where a name is now.

    >>> moved_names("piecework.train", {"read_corpus": "piecework.corpus.read_corpus"})("read_corpus")
    Traceback (most recent call last):
    AttributeError: module 'piecework.train' has no attribute 'read_corpus': use piecework.corpus.read_corpus
    """

    def get(name: str) -> NoReturn:
        hint = f": use {homes[name]}" if name in homes else ""
        raise AttributeError(f"module {module!r} has no attribute {name!r}{hint}")

    return get


def renamed_fields(**new_of_old: str) -> Callable[[Class], Class]:
    """Return a class decorator that raises `ArgumentError` with the new name for fields of a dataclass."""

    def decorate(cls: Class) -> Class:
        cls.__init__ = renamed_arguments(**new_of_old)(cls.__init__)  # type: ignore[misc]
        return cls

    return decorate
