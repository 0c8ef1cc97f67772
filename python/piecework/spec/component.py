"""The base classes of data in a `tokenizer.json`; by default, the object has the fields by name."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeVar, get_args

from piecework.errors import FormatError, InputTypeError

Self = TypeVar("Self", bound="JsonData")


class _JsonForm(NamedTuple):
    """How a `tokenizer.json` stores a field."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]
    name: str = ""
    is_optional: bool = False


def _unchanged(value: Any) -> Any:
    return value


def json_form(
    write: Callable[[Any], Any] = _unchanged,
    read: Callable[[Any], Any] = _unchanged,
    *,
    name: str = "",
    is_optional: bool = False,
) -> dict[str, _JsonForm]:
    """Return the `metadata` of a field that a `tokenizer.json` stores in another form or under another name.

    The file lacks an optional field that has its default.

    >>> json_form(name="strip_left")["json"].name
    'strip_left'
    """
    return {"json": _JsonForm(write, read, name, is_optional)}


def base64_form(name: str = "") -> dict[str, _JsonForm]:
    """Return the `metadata` of a field of bytes, which a `tokenizer.json` stores in base64."""
    return json_form(
        lambda data: base64.b64encode(data).decode("ascii"), base64.b64decode, name=name
    )


def camel_case_form(name: str = "") -> dict[str, _JsonForm]:
    """Return the `metadata` of a choice such as "longest_first", which is "LongestFirst" in the file."""
    return json_form(_to_camel_case, _to_snake_case, name=name)


def _to_camel_case(choice: str) -> str:
    return "".join(word.capitalize() for word in choice.split("_"))


def _to_snake_case(name: str) -> str:
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return snake.lstrip("_")


@dataclass(frozen=True)
class JsonData:
    """Data that a `tokenizer.json` stores as an object."""

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        value: dict[str, Any] = {}
        for field in fields(self):
            form, held = _form_of(field), getattr(self, field.name)
            if not (form.is_optional and held == field.default):
                value[form.name or field.name] = form.write(held)
        return value

    @classmethod
    def from_json(cls: type[Self], value: Mapping[str, Any]) -> Self:
        """Read the `tokenizer.json` object."""
        read = {}
        for field in fields(cls):
            form = _form_of(field)
            if (name := form.name or field.name) in value:
                read[field.name] = form.read(value[name])
        return cls(**read)


@dataclass(frozen=True)
class Component(JsonData):
    """A stage, or a member of a sequence stage.

    `KIND` is its name in `tokenizer.json`: the name of the class, unless the class sets another.
    """

    KIND: ClassVar[str]

    def __init_subclass__(cls) -> None:
        if not hasattr(cls, "KIND"):
            cls.KIND = cls.__name__

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {"type": self.KIND, **super().to_json()}


_PLAIN = json_form()["json"]


def _form_of(field: Any) -> _JsonForm:
    form: _JsonForm = field.metadata.get("json", _PLAIN)
    return form


def json_value(component: Any) -> Any:
    """Return the JSON object of a component; return other values unchanged, which the core rejects."""
    return component.to_json() if hasattr(component, "to_json") else component


def reject_value(value: object) -> NoReturn:
    """Raise for a value that JSON cannot represent."""
    expected = "components, str, numbers, bool and None only"
    raise InputTypeError("spec", f"must contain {expected}, not {type(value).__name__}")


def members_form(read: Callable[[Any], Any]) -> dict[str, _JsonForm]:
    """Return the `metadata` of the members of a sequence, each of which `read` reads."""
    return json_form(
        lambda members: [json_value(member) for member in members],
        lambda values: tuple(read(value) for value in values),
    )


def kinds_of(union: Any) -> dict[str, type[Any]]:
    """Return the components of a union by their names in a `tokenizer.json`."""
    return {kind.KIND: kind for kind in get_args(union)}


def component_from_json(
    kinds: Mapping[str, type[Self]], value: Mapping[str, Any] | None, place: str
) -> Self | None:
    """Read an object whose `type` is one of `kinds`, or None; `place` names the field in errors."""
    if value is None:
        return None
    if value["type"] not in kinds:
        problem = f"found {value['type']!r}, expected one of {', '.join(kinds)}"
        raise FormatError(f"{place}.type", problem)
    return kinds[value["type"]].from_json(value)
