"""Custom stages: Python functions as normalizer or pre-tokenizer, kept and pickled by reference.

Text cannot hold a function: functions go to the core beside it, in the order of the document, and
`loads_with_functions` puts them back where the core has written their names.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeAlias, TypeVar

from piecework.errors import FormatError, InputTypeError, StageError
from piecework.spec.component import Component

CharSpan: TypeAlias = tuple[int, int]
NormalizerFunction: TypeAlias = Callable[[str], str | tuple[str, Sequence[CharSpan]]]
PreTokenizerFunction: TypeAlias = Callable[[str], Sequence[str] | Sequence[CharSpan]]

Stage = TypeVar("Stage", bound="CustomStage")


@dataclass(frozen=True, init=False, repr=False)
class CustomStage(Component):
    """A stage that calls a function; `name` is what messages call it."""

    KIND: ClassVar[str] = "Custom"

    function: Callable[[str], Any]
    name: str

    def __init__(self, function: Callable[[str], Any], name: str | None = None) -> None:
        if not callable(function):
            raise InputTypeError("function", type(function).__name__, "a function of a text")
        if name is not None and not isinstance(name, str):
            raise InputTypeError("name", type(name).__name__, "str")
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "name", name_of(function) if name is None else name)

    def to_json(self) -> dict[str, Any]:
        """Return the object that describes it; unlike that of other components no file can hold it."""
        return {"type": self.KIND, "name": self.name}

    @classmethod
    def from_json(cls: type[Stage], value: Mapping[str, Any]) -> Stage:
        """Make the stage of a description and the function that `loads_with_functions` put there."""
        if "function" not in value:
            expected = "a component of tokenizer.json: files do not hold functions"
            raise FormatError("type", repr(cls.KIND), expected)
        return cls(value["function"], value["name"])

    def __repr__(self) -> str:
        missing = ", missing" if isinstance(self.function, MissingFunction) else ""
        return f"{type(self).__name__}({self.name!r}{missing})"

    def __copy__(self: Stage) -> Stage:
        return self

    def __deepcopy__(self: Stage, memo: dict[int, Any]) -> Stage:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            pickle.dumps(self.function)
        except Exception as error:
            expected = "one that can be imported by name, such as a function of a module"
            raise StageError(repr(self), "a function that cannot be pickled", expected) from error
        return type(self), (self.function, self.name)


class CustomNormalizer(CustomStage):
    """Normalize by a function: text in, new text out.

    >>> CustomNormalizer(str.lower)
    CustomNormalizer('builtins:str.lower')

    `function` is called with a text and returns `str`, or `(str, spans)` when it knows which characters
    of its input became which: a rising (start, end) in characters for each character it returns. Without
    spans both texts are compared, so that offsets still point into the original; what cannot be matched
    has the offsets of the whole stretch. It must not depend on anything but the text.

    `name` is what errors and `repr` call it, "module:qualname" of the function by default. Tokenizers
    with it compare, copy and pickle by reference, and cannot be saved to a file.
    """


class CustomPreTokenizer(CustomStage):
    """Split by a function: text in, words or their spans out.

    >>> CustomPreTokenizer(str.split, name="spaces")
    CustomPreTokenizer('spaces')

    `function` is called with a text, after another pre-tokenizer with each of its pieces, and returns
    either words that stand in the text, in order, or their (start, end) in characters, which do not
    overlap. What lies between is dropped. A word is taken where it stands first after the one before;
    spans leave no doubt. It must not depend on anything but the text.

    `name` and what follows from holding a function are those of `CustomNormalizer`.
    """


@dataclass(frozen=True)
class MissingFunction:
    """Stands for a function of which only the name is known, as in a file of counts."""

    name: str

    def __call__(self, text: str) -> Any:
        """Refuse: there is nothing to call."""
        raise StageError(self.name, "its name alone", "the function")


def name_of(function: Callable[[str], Any]) -> str:
    """Return "module:qualname" of a function, of what a partial calls, or of the class of an object.

    >>> name_of(str.split), name_of(partial(str.split, sep="-"))
    ('builtins:str.split', 'builtins:str.split')
    """
    while isinstance(function, partial):
        function = function.func
    named = function if hasattr(function, "__qualname__") else type(function)
    module = getattr(named, "__module__", None) or "builtins"
    return f"{module}:{named.__qualname__}"


def custom_stages(
    stage: Component | None, place: str, members: str
) -> Iterator[tuple[str, CustomStage]]:
    """Give the custom stages in a component, each with its place; `members` is the field of sequences."""
    if isinstance(stage, CustomStage):
        yield place, stage
    for at, member in enumerate(getattr(stage, members, ())):
        yield from custom_stages(member, f"{place}.{members}[{at}]", members)


def custom_stages_of(
    normalizer: Component | None, pre_tokenizer: Component | None
) -> list[tuple[str, CustomStage]]:
    """Return the custom stages of both, each with its place in the document."""
    return [
        *custom_stages(normalizer, "normalizer", "normalizers"),
        *custom_stages(pre_tokenizer, "pre_tokenizer", "pretokenizers"),
    ]


def functions_of(
    normalizer: Component | None, pre_tokenizer: Component | None
) -> list[Callable[[str], Any]]:
    """Return the functions of the custom stages, in the order of the document.

    Raises `StageError` for one of which only the name is known.
    """
    stages = custom_stages_of(normalizer, pre_tokenizer)
    for place, stage in stages:
        if isinstance(stage.function, MissingFunction):
            expected = "the function: counts files keep names only, so make the stage again"
            raise StageError(place, f"the name {stage.name!r} without its function", expected)
    return [stage.function for _, stage in stages]


def loads_with_functions(text: str, function_named: Callable[[str], Callable[[str], Any]]) -> Any:
    """Parse JSON text and put the function of each custom stage into the object that describes it."""

    def with_function(value: dict[str, Any]) -> dict[str, Any]:
        is_custom = value.get("type") == CustomStage.KIND and "name" in value
        return {**value, "function": function_named(value["name"])} if is_custom else value

    return json.loads(text, object_hook=with_function)


def refuse_custom_stages(normalizer: Component | None, pre_tokenizer: Component | None) -> None:
    """Raise `StageError`, naming the place, for what cannot be written to a file."""
    for place, stage in custom_stages_of(normalizer, pre_tokenizer):
        method = f"with_{place.partition('.')[0]}"
        expected = (
            f"components that a file can hold: save what {method}(None) gives, "
            f"and use {method} again after loading"
        )
        raise StageError(place, f"the function {stage.name!r}", expected)
