"""Normalizers: text in, cleaned text out."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from piecework.spec.component import Component, component_from_json, json_value
from piecework.spec.custom import CustomNormalizer
from piecework.spec.patterns import Pattern, Replacing
from piecework.spec.sentencepiece import SentencePieceNormalizer


@dataclass(frozen=True)
class BertNormalizer(Component):
    """Clean, space out CJK ideographs, strip accents and lowercase, in this order, as BERT does.

    >>> BertNormalizer(lowercase=False).to_json()["strip_accents"] is None
    True

    `strip_accents=None` follows `lowercase`. Source: BERT's BasicTokenizer (Devlin et al. 2019,
    reference code), with the character classes of `tokenizers` 0.23.
    """

    KIND: ClassVar[str] = "BertNormalizer"

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True


@dataclass(frozen=True)
class NFC(Component):
    """Compose characters canonically: e and a combining acute become é (Unicode Annex 15)."""

    KIND: ClassVar[str] = "NFC"


@dataclass(frozen=True)
class NFD(Component):
    """Decompose characters canonically: é becomes e and a combining acute (Unicode Annex 15)."""

    KIND: ClassVar[str] = "NFD"


@dataclass(frozen=True)
class NFKC(Component):
    """Decompose for compatibility and compose: ﬁ becomes fi, ½ becomes 1⁄2 (Unicode Annex 15)."""

    KIND: ClassVar[str] = "NFKC"


@dataclass(frozen=True)
class NFKD(Component):
    """Decompose for compatibility: ﬁ becomes fi, é becomes two characters (Unicode Annex 15)."""

    KIND: ClassVar[str] = "NFKD"


@dataclass(frozen=True)
class Lowercase(Component):
    """Lowercase every character by itself: Σ becomes σ even at the end of a word."""

    KIND: ClassVar[str] = "Lowercase"


@dataclass(frozen=True)
class Strip(Component):
    """Remove whitespace at the beginning and at the end.

    >>> Strip(right=False).to_json()
    {'type': 'Strip', 'strip_left': True, 'strip_right': False}
    """

    KIND: ClassVar[str] = "Strip"

    left: bool = True
    right: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {"type": self.KIND, "strip_left": self.left, "strip_right": self.right}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Strip:
        """Read the `tokenizer.json` object."""
        return cls(left=value["strip_left"], right=value["strip_right"])


@dataclass(frozen=True)
class StripAccents(Component):
    """Remove combining marks; composed characters keep theirs, so put `NFD` before it."""

    KIND: ClassVar[str] = "StripAccents"


@dataclass(frozen=True)
class Replace(Replacing):
    """Replace every match of a text or a `Regex` by `content`.

    >>> Replace(" ", "▁").to_json()["pattern"]
    {'String': ' '}
    """

    pattern: Pattern  # declared again: annotations resolve in the module of the class


@dataclass(frozen=True)
class Prepend(Component):
    """Put text before a text that is not empty."""

    KIND: ClassVar[str] = "Prepend"

    prepend: str


@dataclass(frozen=True)
class Nmt(Component):
    """Remove control characters and make other spaces plain ones, as SentencePiece's `nmt` rules do."""

    KIND: ClassVar[str] = "Nmt"


@dataclass(frozen=True)
class Precompiled(Component):
    """Replace by the compiled rules of a SentencePiece model, its `precompiled_charsmap`.

    >>> Precompiled(b"rules")
    Precompiled()
    """

    KIND: ClassVar[str] = "Precompiled"

    charsmap: bytes = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object; the rules are in base64 there."""
        charsmap = base64.b64encode(self.charsmap).decode("ascii")
        return {"type": self.KIND, "precompiled_charsmap": charsmap}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Precompiled:
        """Read the `tokenizer.json` object."""
        return cls(base64.b64decode(value["precompiled_charsmap"]))


@dataclass(frozen=True)
class ByteLevelNormalizer(Component):
    """Write every byte of the text as a printable character, as GPT-2 does."""

    KIND: ClassVar[str] = "ByteLevel"


@dataclass(frozen=True)
class SequenceNormalizer(Component):
    """Normalize by one after the other.

    >>> SequenceNormalizer((NFD(), StripAccents(), Lowercase()))
    SequenceNormalizer(normalizers=(NFD(), StripAccents(), Lowercase()))
    """

    KIND: ClassVar[str] = "Sequence"

    normalizers: tuple[Normalizer, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {"type": self.KIND, "normalizers": [json_value(one) for one in self.normalizers]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SequenceNormalizer:
        """Read the `tokenizer.json` object."""
        return cls(tuple(_normalizer_from_json(one) for one in value["normalizers"]))


Normalizer: TypeAlias = (
    BertNormalizer
    | NFC
    | NFD
    | NFKC
    | NFKD
    | Lowercase
    | Strip
    | StripAccents
    | Replace
    | Prepend
    | Nmt
    | Precompiled
    | ByteLevelNormalizer
    | SentencePieceNormalizer
    | CustomNormalizer
    | SequenceNormalizer
)

_KINDS: dict[str, type[Normalizer]] = {
    kind.KIND: kind
    for kind in (
        BertNormalizer,
        NFC,
        NFD,
        NFKC,
        NFKD,
        Lowercase,
        Strip,
        StripAccents,
        Replace,
        Prepend,
        Nmt,
        Precompiled,
        ByteLevelNormalizer,
        SentencePieceNormalizer,
        CustomNormalizer,
        SequenceNormalizer,
    )
}


def normalizer_from_json(value: Mapping[str, Any] | None) -> Normalizer | None:
    """Read the `normalizer` object of a `tokenizer.json`."""
    return None if value is None else _normalizer_from_json(value)


def _normalizer_from_json(value: Mapping[str, Any]) -> Normalizer:
    return component_from_json(_KINDS, value, "normalizer")
