"""Pre-tokenizers split normalized text into words, which the model segments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from piecework.spec.component import Component, component_from_json, kinds_of, members_form
from piecework.spec.custom import CustomPreTokenizer
from piecework.spec.patterns import BEHAVIOR, PATTERN, Behavior, Pattern, PrependScheme


@dataclass(frozen=True)
class BertPreTokenizer(Component):
    """Split on whitespace and isolate each punctuation character.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), pre_tokenizer=BertPreTokenizer())
    >>> [word for word, span in tok.pre_tokenize("a new GPU!")]
    ['a', 'new', 'GPU', '!']

    All ASCII characters that are neither letters, digits nor whitespace count as punctuation.
    """


@dataclass(frozen=True)
class ByteLevel(Component):
    """Split with the pattern of GPT-2 and write each byte as a printable character.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), pre_tokenizer=ByteLevel())
    >>> [word for word, span in tok.pre_tokenize("hug bugs")]
    ['Ġhug', 'Ġbugs']

    `add_prefix_space` prepends a space unless the text starts with one. `use_regex=False` does not split.
    `trim_offsets` has no effect here; see `ByteLevelProcessing`.

    Source: Radford et al. 2019 (GPT-2), reference code.
    """

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True


@dataclass(frozen=True)
class CharDelimiterSplit(Component):
    """Split on one character, and remove it.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), pre_tokenizer=CharDelimiterSplit("|"))
    >>> [word for word, span in tok.pre_tokenize("a|b")]
    ['a', 'b']
    """

    delimiter: str


@dataclass(frozen=True)
class Digits(Component):
    """Separate digits from other characters; `individual_digits` also separates each digit.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), pre_tokenizer=Digits())
    >>> [word for word, span in tok.pre_tokenize("a12")]
    ['a', '12']
    """

    individual_digits: bool = False


@dataclass(frozen=True)
class FixedLength(Component):
    """Split into words of `length` characters; the last may be shorter.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), pre_tokenizer=FixedLength(2))
    >>> [word for word, span in tok.pre_tokenize("abcde")]
    ['ab', 'cd', 'e']
    """

    length: int = 5


@dataclass(frozen=True)
class Metaspace(Component):
    """Replace spaces by a metaspace and split before each, as SentencePiece does.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), pre_tokenizer=Metaspace())
    >>> [word for word, span in tok.pre_tokenize("hug bugs")]
    ['▁hug', '▁bugs']

    `prepend_scheme` selects where a metaspace is prepended. Added tokens divide a text into sections:
    "always" means every section, "first" the section at the beginning of the text, "never" none.
    """

    replacement: str = "▁"
    prepend_scheme: PrependScheme = "always"
    split: bool = True


@dataclass(frozen=True)
class Punctuation(Component):
    """Split at punctuation characters; `behavior` determines which word gets them.

    >>> Punctuation().to_json()
    {'type': 'Punctuation', 'behavior': 'Isolated'}
    """

    behavior: Behavior = field(default="isolated", metadata=BEHAVIOR)


@dataclass(frozen=True)
class Split(Component):
    r"""Split at the matches of a string or a `Regex`.

    >>> from piecework.spec import Regex
    >>> Split(Regex(r"\d+"), "isolated")
    Split(pattern=Regex(pattern='\\d+'), behavior='isolated', invert=False)

    `behavior` determines what happens to a match: "removed", "isolated" (a word of its own),
    "merged_with_previous", "merged_with_next", or "contiguous" (adjacent matches form one word). `invert`
    exchanges matches and the text between them.
    """

    pattern: Pattern = field(metadata=PATTERN)
    behavior: Behavior = field(metadata=BEHAVIOR)
    invert: bool = False


@dataclass(frozen=True)
class UnicodeScripts(Component):
    """Split where the Unicode script changes; Hiragana, Katakana and Han count as one script.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), pre_tokenizer=UnicodeScripts())
    >>> [word for word, span in tok.pre_tokenize("どこで生れ。Yes")]
    ['どこで生れ', '。', 'Yes']
    """


@dataclass(frozen=True)
class Whitespace(Component):
    r"""Split into the matches of ``\w+|[^\w\s]+``: words, and runs of punctuation.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), pre_tokenizer=Whitespace())
    >>> [word for word, span in tok.pre_tokenize("Hello, you!")]
    ['Hello', ',', 'you', '!']
    """


@dataclass(frozen=True)
class WhitespaceSplit(Component):
    """Split on whitespace only.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), pre_tokenizer=WhitespaceSplit())
    >>> [word for word, span in tok.pre_tokenize("Hello, you!")]
    ['Hello,', 'you!']
    """


@dataclass(frozen=True)
class SequencePreTokenizer(Component):
    """Apply several pre-tokenizers in order; each splits the words of the previous one.

    >>> SequencePreTokenizer((WhitespaceSplit(), Digits()))
    SequencePreTokenizer(pretokenizers=(WhitespaceSplit(), Digits(individual_digits=False)))
    """

    KIND: ClassVar[str] = "Sequence"

    pretokenizers: tuple[PreTokenizer, ...] = field(
        metadata=members_form(lambda member: pre_tokenizer_from_json(member))
    )


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

_KINDS = kinds_of(PreTokenizer)


def pre_tokenizer_from_json(value: Mapping[str, Any] | None) -> PreTokenizer | None:
    """Read the `pre_tokenizer` object of a `tokenizer.json`."""
    return component_from_json(_KINDS, value, "pre_tokenizer")
