"""Normalizers map a text to its normalized form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from piecework.spec.component import (
    Component,
    base64_form,
    component_from_json,
    json_form,
    kinds_of,
    members_form,
)
from piecework.spec.custom import CustomNormalizer
from piecework.spec.patterns import PATTERN, Pattern, ReplaceComponent
from piecework.spec.sentencepiece import SentencePieceNormalizer


@dataclass(frozen=True)
class BertNormalizer(Component):
    """Normalize as BERT does: clean text, put spaces around CJK ideographs, strip accents, lowercase.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), normalizer=BertNormalizer())
    >>> tok.normalize("Größe 水")
    'große  水 '

    `clean_text` drops control characters and replaces whitespace by spaces. `strip_accents=None` means the
    value of `lowercase`.

    `cleaning` selects whose code it follows. "tokenizers" drops private-use characters too, and lowercases
    each character separately. "original" is the code published with BERT: it drops only categories Cc and Cf,
    NUL and U+FFFD, lowercases as Python does, with ς at the end of a word, and puts spaces around U+2B820 to
    U+2B91F too.

    >>> original = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), normalizer=BertNormalizer(cleaning="original"))
    >>> tok.normalize("ΟΔΟΣ a\ue000b"), original.normalize("ΟΔΟΣ a\ue000b")
    ('οδοσ ab', 'οδος a\ue000b')

    Source: BasicTokenizer of BERT (Devlin et al. 2019, reference code), with the character classes of
    `tokenizers` 0.23.
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True
    cleaning: Literal["tokenizers", "original"] = field(
        default="tokenizers", metadata=json_form(is_optional=True)
    )


@dataclass(frozen=True)
class NFC(Component):
    """Normalization form C: e and a combining acute become é (Unicode Annex 15).

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), normalizer=NFC())
    >>> tok.normalize("e\\u0301")
    'é'
    """


@dataclass(frozen=True)
class NFD(Component):
    """Normalization form D: é becomes e and a combining acute (Unicode Annex 15).

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), normalizer=NFD())
    >>> len("é"), len(tok.normalize("é"))
    (1, 2)
    """


@dataclass(frozen=True)
class NFKC(Component):
    """Normalization form KC: ﬁ becomes fi, ½ becomes 1⁄2 (Unicode Annex 15).

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), normalizer=NFKC())
    >>> tok.normalize("ﬁ ½")
    'fi 1⁄2'
    """


@dataclass(frozen=True)
class NFKD(Component):
    """Normalization form KD: ﬁ becomes fi, é becomes e and a combining acute (Unicode Annex 15).

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), normalizer=NFKD())
    >>> tok.normalize("ﬁ")
    'fi'
    """


@dataclass(frozen=True)
class Lowercase(Component):
    """Lowercase each character independently: Σ becomes σ also at the end of a word.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), normalizer=Lowercase())
    >>> tok.normalize("ΟΔΟΣ")
    'οδοσ'
    """


@dataclass(frozen=True)
class Strip(Component):
    """Remove whitespace at the beginning and the end of the text.

    >>> Strip(right=False).to_json()
    {'type': 'Strip', 'strip_left': True, 'strip_right': False}
    """

    left: bool = field(default=True, metadata=json_form(name="strip_left"))
    right: bool = field(default=True, metadata=json_form(name="strip_right"))


@dataclass(frozen=True)
class StripAccents(Component):
    """Remove combining marks; use it after `NFD`, because composed characters are kept.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), normalizer=SequenceNormalizer((NFD(), StripAccents())))
    >>> tok.normalize("é")
    'e'
    """


@dataclass(frozen=True)
class Replace(ReplaceComponent):
    """Replace each match of a string or a `Regex` by `content`.

    >>> Replace(" ", "▁").to_json()["pattern"]
    {'String': ' '}
    """

    # Repeated, because annotations are resolved in the module of the class.
    pattern: Pattern = field(metadata=PATTERN)


@dataclass(frozen=True)
class Prepend(Component):
    """Prepend a string to a text that is not empty.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), normalizer=Prepend("▁"))
    >>> tok.normalize("hug")
    '▁hug'
    """

    prepend: str


@dataclass(frozen=True)
class Nmt(Component):
    """Remove control characters and replace whitespace by spaces, as the `nmt` rules of SentencePiece do.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), normalizer=Nmt())
    >>> tok.normalize("a\\tb\\u200bc")
    'a b c'
    """


@dataclass(frozen=True)
class Precompiled(Component):
    """Apply the compiled rules of a SentencePiece model, its `precompiled_charsmap`.

    >>> Precompiled(b"rules")
    Precompiled()
    """

    charsmap: bytes = field(repr=False, metadata=base64_form("precompiled_charsmap"))


@dataclass(frozen=True)
class ByteLevelNormalizer(Component):
    """Write each byte of the text as a printable character, as GPT-2 does.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), normalizer=ByteLevelNormalizer())
    >>> tok.normalize(" é")
    'ĠÃ©'
    """

    KIND: ClassVar[str] = "ByteLevel"


@dataclass(frozen=True)
class SequenceNormalizer(Component):
    """Apply several normalizers in order.

    >>> SequenceNormalizer((NFD(), StripAccents(), Lowercase()))
    SequenceNormalizer(normalizers=(NFD(), StripAccents(), Lowercase()))
    """

    KIND: ClassVar[str] = "Sequence"

    normalizers: tuple[Normalizer, ...] = field(
        metadata=members_form(lambda member: normalizer_from_json(member))
    )


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

_KINDS = kinds_of(Normalizer)


def normalizer_from_json(value: Mapping[str, Any] | None) -> Normalizer | None:
    """Read the `normalizer` object of a `tokenizer.json`."""
    return component_from_json(_KINDS, value, "normalizer")
