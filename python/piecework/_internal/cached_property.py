"""`cached_property`, without the import of `functools` that a program that only encodes would wait for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from functools import cached_property
    from typing import Any
else:

    class cached_property:  # noqa: N801 - the name of what it stands for
        """A property that is computed when it is first read, and then is an attribute."""

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            self.compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            # The attribute comes first, but for a class of Rust's, whose instances have it here alone.
            computed = instance.__dict__
            if self.name not in computed:
                computed[self.name] = self.compute(instance)
            return computed[self.name]


__all__ = ["cached_property"]
