"""Every public class and function has a runnable `>>>` example in its docstring."""

from __future__ import annotations

import inspect
from types import FunctionType, ModuleType

import pytest

import piecework as pw
from piecework import playground
from piecework.compat import sentencepiece, tiktoken

HOMES = (
    pw,
    pw.spec,
    pw.train,
    pw.vocabulary,
    pw.export,
    pw.analysis,
    pw.chat,
    pw.errors,
    sentencepiece,
    tiktoken,
    playground,
)


def public_names(home: ModuleType) -> list[str]:
    """Return the names of `__all__`, or of all classes that a module without it defines."""
    defined = [
        name
        for name, value in vars(home).items()
        if getattr(value, "__module__", "") == home.__name__
    ]
    names = getattr(home, "__all__", defined)
    return [name for name in names if not name.startswith("_")]


def classes_and_functions() -> dict[str, object]:
    """Return each public class and function once, under its shortest name."""
    found: dict[int, tuple[str, object]] = {}
    for home in HOMES:
        for name in public_names(home):
            value = getattr(home, name)
            if inspect.isclass(value) or inspect.isroutine(value):
                found.setdefault(id(value), (f"{home.__name__}.{name}", value))
    return dict(found.values())


THINGS = classes_and_functions()


def has_example(thing: object) -> bool:
    own = vars(thing).get("__doc__") if inspect.isclass(thing) else inspect.getdoc(thing)
    return ">>> " in (own or "")


@pytest.mark.parametrize("name", sorted(THINGS))
def test_public_class_or_function_has_an_example(name: str) -> None:
    assert has_example(THINGS[name]), f"{name} has no example"


METHODS = [
    name
    for name, method in vars(pw.Tokenizer).items()
    if not name.startswith("_") and isinstance(method, FunctionType | classmethod)
]


@pytest.mark.parametrize("name", METHODS)
def test_a_method_of_the_tokenizer_has_an_example(name: str) -> None:
    assert has_example(getattr(pw.Tokenizer, name)), f"Tokenizer.{name} has no example"
