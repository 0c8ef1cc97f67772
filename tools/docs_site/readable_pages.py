"""Extension of griffe: docstrings, annotations and defaults as readers need them.

The examples of docstrings become blocks of code, and a field of a trainer has its default instead of the call
that declares it. `**unknown`, which catches the keywords of other libraries for their error, is left out.
Names that nobody can import do not appear: a private constant is its value or `...`, modules before a name
are dropped, and tables are not copied from the source.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

# From the first prompt to the next empty line.
EXAMPLE = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)


# A private name, or a name of an internal module.
PRIVATE = re.compile(r"(?<![\w.])_[a-zA-Z]|\b_internal\b|\b_core\b")
# What stands before a name of the package in annotations: `pw.Counts`, `hints.Self`.
MODULE = re.compile(r"(?<![\w.])(?:pw|hints|spec|train|engines)\.(?=[A-Z])")
OF_MODULE = re.compile(r"[a-z]\w*\.\w+")
UNPACKED = re.compile(r"Unpack\[(\w+)\]")


class ReadablePages(griffe.Extension):
    """Changes what pages show of docstrings and of defaults."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Put a fence around each example of the docstring of an object."""
        if obj.docstring:
            obj.docstring.value = with_fences(obj.docstring.value)

    def on_function_instance(self, *, func: griffe.Function, **_: Any) -> None:
        """Leave out the keywords that a function rejects."""
        unknown = [one.name for one in func.parameters if str(one.annotation).endswith("NoReturn")]
        for name in unknown:
            del func.parameters[name]
        for parameter in func.parameters:
            parameter.annotation = public_annotation(parameter.annotation)
            parameter.default = public_default(parameter.default, func)
        func.returns = public_annotation(func.returns)

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Replace the call `setting(default, ...)` by its default, and leave out values of private names."""
        value = attr.value
        if isinstance(value, griffe.ExprCall) and str(value.function) == "setting":
            attr.value = public_default(value.arguments[0], attr)
        elif isinstance(value, griffe.ExprCall | griffe.ExprDictComp) or PRIVATE.search(str(value)):
            attr.value = None


def public_annotation(annotation: Any) -> Any:
    """Return an annotation without the modules of its names; None where its name is private."""
    text = str(annotation)
    if PRIVATE.search(text):
        return None
    if MODULE.search(text) or UNPACKED.search(text):
        return UNPACKED.sub(r"\1", MODULE.sub("", text))
    return annotation


def public_default(default: Any, owner: griffe.Object) -> Any:
    """Return a default, or the value of the private constant that it names, or `...`."""
    if not PRIVATE.match(str(default)) and not OF_MODULE.match(str(default)):
        return default
    constant = owner.module.members.get(str(default))
    return constant.value if isinstance(getattr(constant, "value", None), str) else "..."


def with_fences(docstring: str) -> str:
    r"""Return a docstring with a fence around each example.

    >>> with_fences("Add.\n\n>>> 1 + 1\n2\n\nEnd.")
    'Add.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nEnd.'
    """
    return EXAMPLE.sub(lambda match: f"```pycon\n{match[0].rstrip()}\n```", docstring)
