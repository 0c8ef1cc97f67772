"""The base class of components; by default, the `tokenizer.json` object has the fields by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NoReturn, TypeVar

from piecework.errors import FormatError, InputTypeError

Self = TypeVar("Self", bound="Component")


@dataclass(frozen=True)
class Component:
    """A stage, or a member of a sequence stage; `KIND` is its name in `tokenizer.json`."""

    KIND: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {"type": self.KIND} | {
            field.name: getattr(self, field.name) for field in fields(self)
        }

    @classmethod
    def from_json(cls: type[Self], value: Mapping[str, Any]) -> Self:
        """Read the `tokenizer.json` object."""
        return cls(**{field.name: value[field.name] for field in fields(cls)})


def json_value(component: Any) -> Any:
    """Return the JSON object of a component; return other values unchanged, which the core rejects."""
    return component.to_json() if hasattr(component, "to_json") else component


def reject_value(value: object) -> NoReturn:
    """Raise for a value that JSON cannot represent."""
    problem = (
        f"must contain components, str, numbers, bool and None only, not {type(value).__name__}"
    )
    raise InputTypeError("spec", problem)


def component_from_json(
    kinds: Mapping[str, type[Self]], value: Mapping[str, Any], place: str
) -> Self:
    """Read an object whose `type` is one of `kinds`; `place` names the field in errors."""
    kind = value["type"]
    if kind not in kinds:
        raise FormatError(f"{place}.type", repr(kind), f"one of {', '.join(kinds)}")
    return kinds[kind].from_json(value)
