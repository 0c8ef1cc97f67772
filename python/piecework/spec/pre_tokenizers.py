"""Pre-tokenizers: normalized text in, words out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from piecework.spec.component import Component, component_from_json, json_value
from piecework.spec.custom import CustomPreTokenizer
from piecework.spec.patterns import (
    Behavior,
    Pattern,
    PrependScheme,
    behavior_from_json,
    behavior_to_json,
    pattern_from_json,
    pattern_to_json,
)


@dataclass(frozen=True)
class BertPreTokenizer(Component):
    """Split on whitespace and isolate every punctuation character.

    All ASCII characters that are neither letters, digits nor whitespace count as punctuation.
    """

    KIND: ClassVar[str] = "BertPreTokenizer"


@dataclass(frozen=True)
class ByteLevel(Component):
    """Split by GPT-2's pattern and write every byte as a printable character.

    `add_prefix_space` puts a space before text without one at its beginning; `use_regex=False` does
    not split. `trim_offsets` has an effect in the post-processor alone.

    Source: Radford et al. 2019 (GPT-2), reference code.
    """

    KIND: ClassVar[str] = "ByteLevel"

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True


@dataclass(frozen=True)
class CharDelimiterSplit(Component):
    """Split on one character, which is removed."""

    KIND: ClassVar[str] = "CharDelimiterSplit"

    delimiter: str


@dataclass(frozen=True)
class Digits(Component):
    """Keep digits apart from the rest, each alone if `individual_digits` is set."""

    KIND: ClassVar[str] = "Digits"

    individual_digits: bool = False


@dataclass(frozen=True)
class FixedLength(Component):
    """Cut into pieces of `length` characters; the last may be shorter."""

    KIND: ClassVar[str] = "FixedLength"

    length: int = 5


@dataclass(frozen=True)
class Metaspace(Component):
    """Write spaces as a visible mark and split before each, as SentencePiece does.

    `prepend_scheme` says which stretches of text get a mark put before them: "always" every one,
    "first" the one at the beginning of the text, "never" none.
    """

    KIND: ClassVar[str] = "Metaspace"

    replacement: str = "▁"
    prepend_scheme: PrependScheme = "always"
    split: bool = True


@dataclass(frozen=True)
class Punctuation(Component):
    """Keep punctuation apart, where `behavior` says; whitespace is left where it is.

    >>> Punctuation().to_json()
    {'type': 'Punctuation', 'behavior': 'Isolated'}
    """

    KIND: ClassVar[str] = "Punctuation"

    behavior: Behavior = "isolated"

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {"type": self.KIND, "behavior": behavior_to_json(self.behavior)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Punctuation:
        """Read the `tokenizer.json` object."""
        return cls(behavior_from_json(value["behavior"]))


@dataclass(frozen=True)
class Split(Component):
    r"""Split at the matches of a text or a `Regex`; `behavior` says where the matches go.

    >>> from piecework.spec import Regex
    >>> Split(Regex(r"\d+"), "isolated")
    Split(pattern=Regex(pattern='\\d+'), behavior='isolated', invert=False)

    `invert` takes what the pattern does not match for the matches.
    """

    KIND: ClassVar[str] = "Split"

    pattern: Pattern
    behavior: Behavior
    invert: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {
            "type": self.KIND,
            "pattern": pattern_to_json(self.pattern),
            "behavior": behavior_to_json(self.behavior),
            "invert": self.invert,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Split:
        """Read the `tokenizer.json` object."""
        return cls(
            pattern=pattern_from_json(value["pattern"]),
            behavior=behavior_from_json(value["behavior"]),
            invert=value["invert"],
        )


@dataclass(frozen=True)
class UnicodeScripts(Component):
    """Split where the script changes; Hiragana, Katakana and Han count as one."""

    KIND: ClassVar[str] = "UnicodeScripts"


@dataclass(frozen=True)
class Whitespace(Component):
    r"""Take words and runs of other characters, the matches of ``\w+|[^\w\s]+``."""

    KIND: ClassVar[str] = "Whitespace"


@dataclass(frozen=True)
class WhitespaceSplit(Component):
    """Split on whitespace and nothing else: "Transformers?" stays one word."""

    KIND: ClassVar[str] = "WhitespaceSplit"


@dataclass(frozen=True)
class SequencePreTokenizer(Component):
    """Split by one after the other.

    >>> SequencePreTokenizer((WhitespaceSplit(), Digits()))
    SequencePreTokenizer(pretokenizers=(WhitespaceSplit(), Digits(individual_digits=False)))
    """

    KIND: ClassVar[str] = "Sequence"

    pretokenizers: tuple[PreTokenizer, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {"type": self.KIND, "pretokenizers": [json_value(one) for one in self.pretokenizers]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SequencePreTokenizer:
        """Read the `tokenizer.json` object."""
        return cls(tuple(_pre_tokenizer_from_json(one) for one in value["pretokenizers"]))


PreTokenizer: TypeAlias = (
    BertPreTokenizer
    | ByteLevel
    | CharDelimiterSplit
    | Digits
    | FixedLength
    | Metaspace
    | Punctuation
    | Split
    | UnicodeScripts
    | Whitespace
    | WhitespaceSplit
    | CustomPreTokenizer
    | SequencePreTokenizer
)

_KINDS: dict[str, type[PreTokenizer]] = {
    kind.KIND: kind
    for kind in (
        BertPreTokenizer,
        ByteLevel,
        CharDelimiterSplit,
        Digits,
        FixedLength,
        Metaspace,
        Punctuation,
        Split,
        UnicodeScripts,
        Whitespace,
        WhitespaceSplit,
        CustomPreTokenizer,
        SequencePreTokenizer,
    )
}


def pre_tokenizer_from_json(value: Mapping[str, Any] | None) -> PreTokenizer | None:
    """Read the `pre_tokenizer` object of a `tokenizer.json`."""
    return None if value is None else _pre_tokenizer_from_json(value)


def _pre_tokenizer_from_json(value: Mapping[str, Any]) -> PreTokenizer:
    return component_from_json(_KINDS, value, "pre_tokenizer")
