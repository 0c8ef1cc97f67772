"""Classes whose instances Rust makes, with methods that are in Python.

For Rust to call a class of Python's would take half as long as encoding a short text.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Half = TypeVar("Half")

_OF_ANY_CLASS = ("__dict__", "__weakref__")


def python_half(half: type[Half]) -> type[Half]:
    """Give what a class says to its base, a class of Rust's, and return that: they are one class."""
    base: type[Half] = half.__bases__[0]
    for name, value in vars(half).items():
        if name not in _OF_ANY_CLASS:
            setattr(base, name, value)
    base.__name__, base.__qualname__ = half.__name__, half.__qualname__
    return base
