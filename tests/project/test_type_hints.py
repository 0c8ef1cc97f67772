"""Every annotation of the public interface resolves, with the names that its module imports for types."""

from __future__ import annotations

import ast
import inspect
import sys
import typing
from collections.abc import Collection
from functools import cache

import pytest

import piecework as pw
from tests.project.test_public_names import public_members

HOMES = (pw, pw.corpus, pw.spec, pw.train, pw.vocabulary, pw.export, pw.analysis, pw.errors)


def functions_of(thing: object) -> list[object]:
    """Return what has annotations: a function itself, those of a property or a class method."""
    if isinstance(thing, property):
        return [f for f in (thing.fget, thing.fset, thing.fdel) if f]
    if isinstance(thing, classmethod | staticmethod):
        return [thing.__func__]
    compute = getattr(thing, "compute", None) or getattr(thing, "func", None)
    return [compute] if inspect.isfunction(compute) else [thing]


def exported(home: object) -> dict[str, object]:
    """Return what a module imports when it is asked for."""
    return {name: getattr(home, name) for name in getattr(home, "__all__", ())}


def annotated() -> dict[str, object]:
    """Every public class, function, method and property, the constructor included."""
    found: dict[str, object] = {}
    for home in HOMES:
        for name, value in {**public_members(home), **exported(home)}.items():
            is_own = getattr(value, "__module__", "").startswith("piecework")
            if not (is_own and (inspect.isclass(value) or inspect.isfunction(value))):
                continue
            found[f"{home.__name__}.{name}"] = value
            if not inspect.isclass(value):
                continue
            members = public_members(value)
            members["__init__"] = value.__init__
            for member, thing in members.items():
                if callable(thing) or functions_of(thing) != [thing]:
                    for function in functions_of(thing):
                        found[f"{home.__name__}.{name}.{member}"] = function
    return found


THINGS = annotated()


def test_the_walk_finds_methods_properties_and_fields() -> None:
    assert {
        "piecework.Tokenizer.count",
        "piecework.Tokenizer.load",
        "piecework.Tokenizer.spec",
        "piecework.Batch.ids",
        "piecework.Encoding.token_to_chars",
        "piecework.IdMap.__init__",
        "piecework.spec.WordPiece",
        "piecework.train.Counts.save",
        "piecework.analysis.compare",
    } <= set(THINGS)
    assert len(THINGS) > 500


@cache
def names_for_types(module: str) -> dict[str, object]:
    """Return what a module imports and defines under `if TYPE_CHECKING:`."""
    found: dict[str, object] = {}
    source = inspect.getsource(sys.modules[module])
    for block in ast.parse(source).body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            names = {**vars(sys.modules[module]), **found}
            code = compile(ast.Module(block.body, []), module, "exec")
            exec(code, names, found)
    return found


def hints_of(thing: object) -> dict[str, object]:
    """Return the annotations of a class or function, evaluated."""
    homes = thing.__mro__ if inspect.isclass(thing) else (thing,)
    names: dict[str, object] = {}
    for home in homes:
        module = getattr(home, "__module__", "")
        if module.startswith("piecework") and module != "piecework._internal._core":
            names |= names_for_types(module)
    return typing.get_type_hints(thing, localns=names)


@pytest.mark.parametrize("name", sorted(THINGS))
def test_annotations_resolve(name: str) -> None:
    assert not any(isinstance(hint, str) for hint in hints_of(THINGS[name]).values())


def test_annotations_are_the_classes_themselves() -> None:
    hints = hints_of(pw.Tokenizer.count)
    assert hints["sampling"] == pw.Sampling | None
    assert hints["parse_special"] == bool | Collection[str] | None
    assert hints["return"] is int
    assert hints_of(pw.Tokenizer.with_normalizer)["normalizer"] == (pw.spec.Normalizer | None)
