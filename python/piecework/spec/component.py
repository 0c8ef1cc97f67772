"""What all components of a pipeline share: their `tokenizer.json` object is their fields by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NoReturn, TypeVar

from piecework.errors import FormatError, InputTypeError

Self = TypeVar("Self", bound="Component")


@dataclass(frozen=True)
class Component:
    """A stage, or a part of one, whose name in `tokenizer.json` is `KIND`."""

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


def json_value(part: Any) -> Any:
    """Return the object of a part of a specification; what is none is left for the reader to refuse."""
    return part.to_json() if hasattr(part, "to_json") else part


def refuse_value(value: object) -> NoReturn:
    """Refuse a value that no `tokenizer.json` can hold."""
    raise InputTypeError("spec", type(value).__name__, "components, strings, numbers and the like")


def component_from_json(
    kinds: Mapping[str, type[Self]], value: Mapping[str, Any], place: str
) -> Self:
    """Read an object whose `type` is one of `kinds`; `place` is what errors call it."""
    kind = value["type"]
    if kind not in kinds:
        raise FormatError(f"{place}.type", repr(kind), f"one of {', '.join(kinds)}")
    return kinds[kind].from_json(value)
