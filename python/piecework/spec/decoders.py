"""Decoders turn tokens into text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from piecework.spec.component import Component, component_from_json, kinds_of, members_form
from piecework.spec.patterns import PATTERN, Pattern, PrependScheme, ReplaceComponent
from piecework.spec.sentencepiece import SentencePieceDecoder


@dataclass(frozen=True)
class WordPieceDecoder(Component):
    """Join words with spaces and append continuation tokens; `cleanup` removes spaces before punctuation.

    >>> import piecework as pw
    >>> vocab = {"[UNK]": 0, "hug": 1, "##s": 2, ".": 3}
    >>> pw.Tokenizer(pw.spec.WordLevel(vocab), decoder=WordPieceDecoder()).decode([1, 2, 3])
    'hugs.'
    """

    KIND: ClassVar[str] = "WordPiece"

    prefix: str = "##"
    cleanup: bool = True


@dataclass(frozen=True)
class ByteLevelDecoder(Component):
    """Decode byte-level characters to bytes; the settings have no effect.

    >>> import piecework as pw
    >>> vocab = {"[UNK]": 0, "hug": 1, "Ġcaf": 2, "Ã©": 3}
    >>> pw.Tokenizer(pw.spec.WordLevel(vocab), decoder=ByteLevelDecoder()).decode([1, 2, 3])
    'hug café'
    """

    KIND: ClassVar[str] = "ByteLevel"

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True


@dataclass(frozen=True)
class ByteFallback(Component):
    """Decode byte tokens such as `<0x41>`; invalid UTF-8 becomes U+FFFD.

    >>> import piecework as pw
    >>> vocab = {"[UNK]": 0, "hug": 1, "<0x41>": 2}
    >>> decoder = SequenceDecoder((ByteFallback(), Fuse()))
    >>> pw.Tokenizer(pw.spec.WordLevel(vocab), decoder=decoder).decode([1, 2])
    'hugA'
    """


@dataclass(frozen=True)
class BPEDecoder(Component):
    """Replace the end-of-word suffix by a space.

    >>> import piecework as pw
    >>> vocab = {"[UNK]": 0, "hug": 1, "s</w>": 2, "bug</w>": 3}
    >>> pw.Tokenizer(pw.spec.WordLevel(vocab), decoder=BPEDecoder()).decode([1, 2, 3])
    'hugs bug'
    """

    suffix: str = "</w>"


@dataclass(frozen=True)
class MetaspaceDecoder(Component):
    """Replace metaspaces by spaces, and drop the prepended one.

    >>> import piecework as pw
    >>> vocab = {"[UNK]": 0, "▁hug": 1, "s": 2, "▁bug": 3}
    >>> pw.Tokenizer(pw.spec.WordLevel(vocab), decoder=MetaspaceDecoder()).decode([1, 2, 3])
    'hugs bug'
    """

    KIND: ClassVar[str] = "Metaspace"

    replacement: str = "▁"
    prepend_scheme: PrependScheme = "always"
    split: bool = True


@dataclass(frozen=True)
class CTC(Component):
    """Drop repeated tokens and blanks, as for connectionist temporal classification (CTC).

    >>> import piecework as pw
    >>> vocab = {"<pad>": 0, "a": 1, "b": 2}
    >>> pw.Tokenizer(pw.spec.WordLevel(vocab, unk_token="<pad>"), decoder=CTC()).decode([1, 1, 0, 1, 2])
    'aab'

    Source: Graves et al. 2006, section 3.1.
    """

    pad_token: str = "<pad>"
    word_delimiter_token: str = "|"
    cleanup: bool = True


@dataclass(frozen=True)
class ReplaceDecoder(ReplaceComponent):
    """Replace each match of a string or a `Regex` in each token by `content`.

    >>> import piecework as pw
    >>> vocab = {"[UNK]": 0, "hug": 1, "_bug": 2}
    >>> decoder = SequenceDecoder((ReplaceDecoder("_", " "), Fuse()))
    >>> pw.Tokenizer(pw.spec.WordLevel(vocab), decoder=decoder).decode([1, 2])
    'hug bug'
    """

    # Repeated, because annotations are resolved in the module of the class.
    pattern: Pattern = field(metadata=PATTERN)


@dataclass(frozen=True)
class Fuse(Component):
    """Concatenate the tokens.

    >>> import piecework as pw
    >>> vocab = {"[UNK]": 0, "hug": 1, "s": 2}
    >>> pw.Tokenizer(pw.spec.WordLevel(vocab), decoder=Fuse()).decode([1, 2])
    'hugs'
    """


@dataclass(frozen=True)
class StripDecoder(Component):
    """Remove up to `start` and `stop` repetitions of `content` from the two ends of each token.

    >>> StripDecoder(" ", start=1).to_json()
    {'type': 'Strip', 'content': ' ', 'start': 1, 'stop': 0}
    """

    KIND: ClassVar[str] = "Strip"

    content: str = " "
    start: int = 0
    stop: int = 0


@dataclass(frozen=True)
class SequenceDecoder(Component):
    """Apply several decoders in order.

    >>> SequenceDecoder((ReplaceDecoder("▁", " "), ByteFallback(), Fuse()))
    SequenceDecoder(decoders=(ReplaceDecoder(pattern='▁', content=' '), ByteFallback(), Fuse()))
    """

    KIND: ClassVar[str] = "Sequence"

    decoders: tuple[Decoder, ...] = field(
        metadata=members_form(lambda member: decoder_from_json(member))
    )


Decoder: TypeAlias = (
    WordPieceDecoder
    | ByteLevelDecoder
    | ByteFallback
    | BPEDecoder
    | MetaspaceDecoder
    | CTC
    | ReplaceDecoder
    | Fuse
    | StripDecoder
    | SentencePieceDecoder
    | SequenceDecoder
)

_KINDS = kinds_of(Decoder)

# The decoder of a character model.
CharDecoder = Fuse


def decoder_from_json(value: Mapping[str, Any] | None) -> Decoder | None:
    """Read the `decoder` object of a `tokenizer.json`; None means that spaces join the tokens."""
    return component_from_json(_KINDS, value, "decoder")
