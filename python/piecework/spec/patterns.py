"""Patterns that components search for, and what they do with the matches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from piecework.spec.component import Component, camel_case_form, json_form


@dataclass(frozen=True)
class Regex:
    r"""A regular expression; a plain `str` in its place is matched literally.

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


PATTERN = json_form(_pattern_to_json, _pattern_from_json)
BEHAVIOR = camel_case_form()


@dataclass(frozen=True)
class ReplaceComponent(Component):
    """The common base of `Replace` and `ReplaceDecoder`."""

    KIND: ClassVar[str] = "Replace"

    pattern: Pattern = field(metadata=PATTERN)
    content: str
