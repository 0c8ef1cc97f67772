"""Patterns that components search for, and what they do with the matches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, cast

from piecework.spec.component import Component

Self = TypeVar("Self", bound="ReplaceComponent")


@dataclass(frozen=True)
class Regex:
    r"""A regular expression, where a plain `str` would be searched for literally.

    >>> from piecework.spec import Replace
    >>> Replace(Regex(r"\s+"), " ").to_json()["pattern"]
    {'Regex': '\\s+'}

    The syntax is that of Oniguruma, with look-around and back-references. A search that exceeds the step
    limit raises an error.
    """

    pattern: str


Pattern: TypeAlias = str | Regex

Behavior: TypeAlias = Literal[
    "removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"
]

PrependScheme: TypeAlias = Literal["always", "never", "first"]


def pattern_to_json(pattern: Pattern) -> dict[str, str]:
    """Return the `pattern` object of a `tokenizer.json`."""
    return {"Regex": pattern.pattern} if isinstance(pattern, Regex) else {"String": pattern}


def pattern_from_json(value: Mapping[str, str]) -> Pattern:
    """Read the `pattern` object of a `tokenizer.json`."""
    return Regex(value["Regex"]) if "Regex" in value else value["String"]


def behavior_to_json(behavior: Behavior) -> str:
    """Return the name of a behavior in a `tokenizer.json`."""
    return "".join(word.capitalize() for word in behavior.split("_"))


def behavior_from_json(name: str) -> Behavior:
    """Read the name of a behavior in a `tokenizer.json`."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return cast(Behavior, snake.lstrip("_"))


@dataclass(frozen=True)
class ReplaceComponent(Component):
    """The common base of `Replace` and `ReplaceDecoder`."""

    KIND: ClassVar[str] = "Replace"

    pattern: Pattern
    content: str

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {
            "type": "Replace",
            "pattern": pattern_to_json(self.pattern),
            "content": self.content,
        }

    @classmethod
    def from_json(cls: type[Self], value: Mapping[str, Any]) -> Self:
        """Read the `tokenizer.json` object."""
        return cls(pattern_from_json(value["pattern"]), value["content"])
