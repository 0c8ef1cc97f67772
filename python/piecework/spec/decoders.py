"""Decoders: tokens in, text out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from piecework.spec.component import Component, component_from_json, json_value
from piecework.spec.patterns import Pattern, PrependScheme, Replacing
from piecework.spec.sentencepiece import SentencePieceDecoder


@dataclass(frozen=True)
class WordPieceDecoder(Component):
    """Join tokens with spaces, glue continuations, and tidy punctuation when `cleanup` is set."""

    KIND: ClassVar[str] = "WordPiece"

    prefix: str = "##"
    cleanup: bool = True


@dataclass(frozen=True)
class ByteLevelDecoder(Component):
    """Turn printable characters back into the bytes they stand for; the settings have no effect."""

    KIND: ClassVar[str] = "ByteLevel"

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True


@dataclass(frozen=True)
class ByteFallback(Component):
    """Turn byte entries such as `<0x0A>` back into bytes; bytes that are no text become U+FFFD."""

    KIND: ClassVar[str] = "ByteFallback"


@dataclass(frozen=True)
class BPEDecoder(Component):
    """Turn the mark at the end of words into a space."""

    KIND: ClassVar[str] = "BPEDecoder"

    suffix: str = "</w>"


@dataclass(frozen=True)
class MetaspaceDecoder(Component):
    """Turn space marks back into spaces, and drop the one that was put before the text."""

    KIND: ClassVar[str] = "Metaspace"

    replacement: str = "▁"
    prepend_scheme: PrependScheme = "always"
    split: bool = True


@dataclass(frozen=True)
class CTC(Component):
    """Drop repetitions and blanks of a connectionist temporal classification.

    Source: Graves et al. 2006, section 3.1.
    """

    KIND: ClassVar[str] = "CTC"

    pad_token: str = "<pad>"
    word_delimiter_token: str = "|"
    cleanup: bool = True


@dataclass(frozen=True)
class ReplaceDecoder(Replacing):
    """Replace every match of a text or a `Regex` in every token by `content`."""

    pattern: Pattern  # declared again: annotations resolve in the module of the class


@dataclass(frozen=True)
class Fuse(Component):
    """Join tokens with nothing between them."""

    KIND: ClassVar[str] = "Fuse"


@dataclass(frozen=True)
class StripDecoder(Component):
    """Remove the character `content` from the ends of every token, so many times at most.

    >>> StripDecoder(" ", start=1).to_json()
    {'type': 'Strip', 'content': ' ', 'start': 1, 'stop': 0}
    """

    KIND: ClassVar[str] = "Strip"

    content: str = " "
    start: int = 0
    stop: int = 0


@dataclass(frozen=True)
class SequenceDecoder(Component):
    """Decode by one after the other.

    >>> SequenceDecoder((ReplaceDecoder("▁", " "), ByteFallback(), Fuse()))
    SequenceDecoder(decoders=(ReplaceDecoder(pattern='▁', content=' '), ByteFallback(), Fuse()))
    """

    KIND: ClassVar[str] = "Sequence"

    decoders: tuple[Decoder, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {"type": self.KIND, "decoders": [json_value(one) for one in self.decoders]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SequenceDecoder:
        """Read the `tokenizer.json` object."""
        return cls(tuple(_decoder_from_json(one) for one in value["decoders"]))


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

_KINDS: dict[str, type[Decoder]] = {
    kind.KIND: kind
    for kind in (
        WordPieceDecoder,
        ByteLevelDecoder,
        ByteFallback,
        BPEDecoder,
        MetaspaceDecoder,
        CTC,
        ReplaceDecoder,
        Fuse,
        StripDecoder,
        SentencePieceDecoder,
        SequenceDecoder,
    )
}

# What a character model is decoded by.
CharDecoder = Fuse


def decoder_from_json(value: Mapping[str, Any] | None) -> Decoder | None:
    """Read the `decoder` object of a `tokenizer.json`; without one, tokens are joined by spaces."""
    return None if value is None else _decoder_from_json(value)


def _decoder_from_json(value: Mapping[str, Any]) -> Decoder:
    return component_from_json(_KINDS, value, "decoder")
