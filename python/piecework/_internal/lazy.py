"""Modules that are imported when one of their names is first read.

`import piecework` does not wait for numpy, typing or the specifications. Annotations name what they need
of them by these stand-ins (`np.uint32`, `pw.Sampling`), so that `typing.get_type_hints` finds everything.
"""

from __future__ import annotations

from piecework._internal.abstract import Callable, Mapping, Sequence

TYPE_CHECKING = (
    False  # importing `typing` takes longer than importing all of this package's own modules
)
if TYPE_CHECKING:
    import typing

    import numpy as np
    import numpy.typing as npt

    import piecework as pw
    from piecework._internal import types as hints
else:

    class LazyModule:
        """Stands for a module; imports it when a name is first read, and keeps the names read."""

        def __init__(self, name: str) -> None:
            self._module_name = name

        def __getattr__(self, name: str) -> object:
            if name.startswith("__"):  # asked by tools that look at any object
                raise AttributeError(name)
            from importlib import import_module

            found = getattr(import_module(self._module_name), name)
            setattr(self, name, found)
            return found

        def __repr__(self) -> str:
            return f"LazyModule({self._module_name!r})"

    hints = LazyModule("piecework._internal.types")
    np = LazyModule("numpy")
    npt = LazyModule("numpy.typing")
    pw = LazyModule("piecework")
    typing = LazyModule("typing")


def lazy_names(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package that imports a module when one of its names is first read.

    `homes` has the names of each module, which is named within the package or whole.
    """
    home_of = {name: module for module, names in homes.items() for name in names}

    def found(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        from importlib import import_module

        home = home_of[name]
        whole = home if home.startswith("piecework.") else f"{package}.{home}"
        value = getattr(import_module(whole), name)
        setattr(import_module(package), name, value)
        return value

    return found


__all__ = ["hints", "lazy_names", "np", "npt", "pw", "typing"]
