"""Custom stages: Python functions as normalizer or pre-tokenizer, pickled by reference.

JSON cannot represent a function. The core receives the functions separately, in the order of the
document, and writes only their names. `loads_with_functions` inserts the functions again.
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
    """A stage that calls a function; `name` identifies it in messages."""

    KIND: ClassVar[str] = "Custom"

    function: Callable[[str], Any]
    name: str

    def __init__(self, function: Callable[[str], Any], name: str | None = None) -> None:
        if not callable(function):
            raise InputTypeError("function", f"must be callable, not {type(function).__name__}")
        if name is not None and not isinstance(name, str):
            raise InputTypeError("name", f"must be str, not {type(name).__name__}")
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "name", name_of(function) if name is None else name)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object with the name; it cannot be saved to a file."""
        return {"type": self.KIND, "name": self.name}

    @classmethod
    def from_json(cls: type[Stage], value: Mapping[str, Any]) -> Stage:
        """Read an object into which `loads_with_functions` has inserted the function."""
        if "function" not in value:
            problem = f"{cls.KIND!r} is a component with a function, which a file cannot contain"
            raise FormatError("type", problem)
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
            expected = "one that can be imported by name, such as one defined in a module"
            problem = f"cannot be pickled: its function must be {expected}"
            raise StageError(repr(self), problem) from error
        return type(self), (self.function, self.name)


class CustomNormalizer(CustomStage):
    """Normalize with a Python function.

    >>> CustomNormalizer(str.lower)
    CustomNormalizer('builtins:str.lower')

    `function` takes a text and returns `str`, or `(str, spans)`. `spans` has an ascending (start, end) in
    characters of the input for each character of the result. Without spans, the core aligns the two texts
    to compute offsets. All characters of a section that it cannot align get the offsets of the section. The
    result must depend on the text only.

    `name` identifies the stage in errors and in `repr`; the default is "module:qualname" of the function.
    A tokenizer with a custom stage compares, copies and pickles the function by reference, and cannot be
    saved to a file.
    """


class CustomPreTokenizer(CustomStage):
    """Split with a Python function.

    >>> CustomPreTokenizer(str.split, name="spaces")
    CustomPreTokenizer('spaces')

    `function` takes a text, or each word of the pre-tokenizer before it in a sequence. It returns words of
    the text in order, or their (start, end) in characters without overlap. Text between the words is
    dropped. A word is located at its first occurrence after the word before, so spans are safer. The result
    must depend on the text only.

    `name`, comparison and pickling are as for `CustomNormalizer`.
    """


@dataclass(frozen=True)
class MissingFunction:
    """A placeholder for a function that is known by name only, as in a counts file."""

    name: str

    def __call__(self, text: str) -> Any:
        """Raise `StageError`."""
        problem = "only the name of the function is known; create the stage again with its function"
        raise StageError(self.name, problem)


def name_of(function: Callable[[str], Any]) -> str:
    """Return "module:qualname" of a function, of the function of a partial, or of the class of an object.

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
    """Yield the custom stages in a component with their places; `members` is the field of sequences."""
    if isinstance(stage, CustomStage):
        yield place, stage
    for at, member in enumerate(getattr(stage, members, ())):
        yield from custom_stages(member, f"{place}.{members}[{at}]", members)


def custom_stages_of(
    normalizer: Component | None, pre_tokenizer: Component | None
) -> list[tuple[str, CustomStage]]:
    """Return the custom stages of both components with their places in the document."""
    return [
        *custom_stages(normalizer, "normalizer", "normalizers"),
        *custom_stages(pre_tokenizer, "pre_tokenizer", "pretokenizers"),
    ]


def functions_of(
    normalizer: Component | None, pre_tokenizer: Component | None
) -> list[Callable[[str], Any]]:
    """Return the functions of the custom stages, in the order of the document.

    Raises `StageError` for a function that is known by name only.
    """
    stages = custom_stages_of(normalizer, pre_tokenizer)
    for place, stage in stages:
        if isinstance(stage.function, MissingFunction):
            problem = (
                f"only the name {stage.name!r} of the function is known, as from a counts file"
            )
            raise StageError(place, problem, hint="create the stage again with its function")
    return [stage.function for _, stage in stages]


def loads_with_functions(text: str, function_named: Callable[[str], Callable[[str], Any]]) -> Any:
    """Parse JSON text and insert the function of each custom stage into its object."""

    def with_function(value: dict[str, Any]) -> dict[str, Any]:
        is_custom = value.get("type") == CustomStage.KIND and "name" in value
        return {**value, "function": function_named(value["name"])} if is_custom else value

    return json.loads(text, object_hook=with_function)


def refuse_custom_stages(normalizer: Component | None, pre_tokenizer: Component | None) -> None:
    """Raise `StageError` with the place of a custom stage, which cannot be written to a file."""
    for place, stage in custom_stages_of(normalizer, pre_tokenizer):
        method = f"with_{place.partition('.')[0]}"
        problem = f"a file cannot contain the function {stage.name!r}"
        hint = f"save the tokenizer of {method}(None), and call {method} again after loading"
        raise StageError(place, problem, hint=hint)
