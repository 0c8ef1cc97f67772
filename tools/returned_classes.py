"""Find the classes that public functions return and that no module exports.

A caller reads their fields and never imports them, so `__all__` leaves them out, and the pages and the
listing of public names have them with their fields.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
import typing
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache, cached_property
from types import ModuleType

from piecework._internal.names_of_other_libraries import ForeignName


@dataclasses.dataclass(frozen=True)
class Returned:
    """A class, the module and the names of the functions that return it, itself or inside of another one."""

    cls: type
    module: str
    functions: tuple[str, ...]

    def members(self) -> list[str]:
        """Return the fields, then the properties and the methods; methods end with `()`."""
        fields = [name for name in field_names(self.cls) if not name.startswith("_")]
        others = [name for name in own_members(self.cls) if name not in fields]
        return fields + [
            f"{name}()" if inspect.isroutine(getattr(self.cls, name)) else name for name in others
        ]


def returned_classes(modules: Mapping[ModuleType, list[str]]) -> Iterator[Returned]:
    """Yield the classes in the order of the modules and of their exported names."""
    homes: dict[int, tuple[str, str, object]] = {}
    for module, names in modules.items():
        for name in names:
            value = getattr(module, name)
            homes.setdefault(id(value), (module.__name__, name, value))
    found: dict[type, dict[str, str]] = {}
    for home, name, value in homes.values():
        for label, annotation in annotations_of(name, value):
            waiting, seen = list(classes_in(annotation)), set()
            for cls in waiting:
                if cls not in seen and id(cls) not in homes:
                    seen.add(cls)
                    found.setdefault(cls, {}).setdefault(label, home)
                    for _, inner in annotations_of("", cls):
                        waiting += classes_in(inner)
    for cls, labels in found.items():
        home = next(iter(labels.values()))
        yield Returned(cls, home, tuple(label for label in labels if labels[label] == home))


def annotations_of(name: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield what a function returns; what a class has in fields, and what its members return."""
    if not inspect.isclass(value):
        yield name, return_type(value)
        return
    if not is_own(value):
        return
    for field, hint in hints_of(value).items():
        if not field.startswith("_"):
            yield name, hint
    for member in own_members(value):
        yield f"{name}.{member}", return_type(inspect.getattr_static(value, member))


def return_type(value: object) -> object:
    """Return the annotation of a function, a method or a property; None without one."""
    if isinstance(value, classmethod | staticmethod):
        value = value.__func__
    elif isinstance(value, property):
        value = value.fget
    elif isinstance(value, cached_property):
        value = value.func
    if not inspect.isfunction(value):
        return None
    return hints_of(inspect.unwrap(value)).get("return")


def hints_of(thing: typing.Any) -> dict[str, object]:
    """Return the annotations of a class or function, evaluated."""
    names: dict[str, object] = {}
    for home in getattr(thing, "__mro__", (thing,)):
        if is_own(home) and home.__module__ != "piecework._internal._core":
            names |= names_for_types(home.__module__)
    return typing.get_type_hints(thing, localns=names)


@cache
def names_for_types(module: str) -> dict[str, object]:
    """Return what a module imports and defines under `if TYPE_CHECKING:`."""
    found: dict[str, object] = {}
    source = inspect.getsource(sys.modules[module])
    for block in ast.parse(source).body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            names = {**vars(sys.modules[module]), **found}
            exec(compile(ast.Module(block.body, []), module, "exec"), names, found)
    return found


def classes_in(annotation: object) -> Iterator[type]:
    """Yield the package's own classes in an annotation, without enumerations and errors."""
    for one in typing.get_args(annotation):
        yield from classes_in(one)
    if not inspect.isclass(annotation) or annotation.__name__.startswith("_"):
        return
    if is_own(annotation) and not issubclass(annotation, Enum | Exception):
        yield annotation


def is_own(thing: typing.Any) -> bool:
    """Return whether the package defines a class or function."""
    return bool(thing.__module__.partition(".")[0] == "piecework")


def field_names(cls: type) -> list[str]:
    """Return the fields of a dataclass or a named tuple."""
    if dataclasses.is_dataclass(cls):
        return [field.name for field in dataclasses.fields(cls)]
    return list(cls._fields) if issubclass(cls, tuple) and hasattr(cls, "_fields") else []


def own_members(cls: type) -> list[str]:
    """Return the public members that the package gives a class, sorted."""
    bases = [base for base in cls.__mro__ if is_own(base)]
    names = {name: value for base in bases for name, value in vars(base).items()}
    return sorted(
        name
        for name, value in names.items()
        if not name.startswith("_") and not isinstance(value, ForeignName)
    )
