"""Patterns that components search for, and what they do with the matches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias, cast

from piecework.spec.component import Component, json_form


@dataclass(frozen=True)
class Regex:
    r"""A regular expression, where a plain `str` would be searched for literally.

    >>> from piecework.spec import Replace
    >>> Replace(Regex(r"\s+"), " ").to_json()["pattern"]
    {'Regex': '\\s+'}

    The syntax is Oniguruma's, with look-around and back-references. A search that exceeds the step
    limit raises an error.
    """

    pattern: str


Pattern: TypeAlias = str | Regex

Behavior: TypeAlias = Literal[
    "removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"
]

PrependScheme: TypeAlias = Literal["always", "never", "first"]


def _pattern_to_json(pattern: Pattern) -> dict[str, str]:
    return {"Regex": pattern.pattern} if isinstance(pattern, Regex) else {"String": pattern}


def _pattern_from_json(value: Mapping[str, str]) -> Pattern:
    return Regex(value["Regex"]) if "Regex" in value else value["String"]


def _behavior_to_json(behavior: Behavior) -> str:
    return "".join(word.capitalize() for word in behavior.split("_"))


def _behavior_from_json(name: str) -> Behavior:
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return cast(Behavior, snake.lstrip("_"))


PATTERN = json_form(_pattern_to_json, _pattern_from_json)
BEHAVIOR = json_form(_behavior_to_json, _behavior_from_json)


@dataclass(frozen=True)
class ReplaceComponent(Component):
    """The common base of `Replace` and `ReplaceDecoder`."""

    KIND: ClassVar[str] = "Replace"

    pattern: Pattern = field(metadata=PATTERN)
    content: str
