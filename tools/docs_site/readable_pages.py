"""Extension of griffe: docstrings and defaults as Markdown shows them.

The examples of docstrings become blocks of code, and a field of a trainer has its default instead of the call
that declares it. `**unknown`, which catches the keywords of other libraries for their error, is left out.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

# From the first prompt to the next empty line.
EXAMPLE = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)


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

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Replace the call `setting(default, ...)` by its default."""
        value = attr.value
        if isinstance(value, griffe.ExprCall) and str(value.function) == "setting":
            attr.value = value.arguments[0]


def with_fences(docstring: str) -> str:
    r"""Return a docstring with a fence around each example.

    >>> with_fences("Add.\n\n>>> 1 + 1\n2\n\nEnd.")
    'Add.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nEnd.'
    """
    return EXAMPLE.sub(lambda match: f"```pycon\n{match[0].rstrip()}\n```", docstring)
