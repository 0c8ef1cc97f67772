"""SentencePiece components: normalizer, models of four kinds, and decoder.

`Tokenizer.load` reads a `.model` into these three components. A `tokenizer.json` cannot contain them.
`Tokenizer.save` converts them to standard components if these produce the same ids.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

from piecework.spec.component import Component, base64_form, json_form, json_value

PieceType: TypeAlias = Literal["normal", "unknown", "control", "user_defined", "unused", "byte"]
SentencePieceKind: TypeAlias = Literal["unigram", "bpe", "word", "char"]


class ScoredPiece(NamedTuple):
    """An entry of a SentencePiece vocabulary.

    >>> ScoredPiece("▁hug", -3.5)
    ScoredPiece(text='▁hug', score=-3.5, type='normal')

    The score is a 32-bit float: the log probability for Unigram, the negative merge rank for BPE. A control
    piece never matches text. A user-defined piece always matches and is never split. Encoding never emits
    an unused piece.
    """

    text: str
    score: float
    type: PieceType = "normal"


def _pieces_to_json(pieces: tuple[ScoredPiece, ...]) -> list[tuple[Any, ...]]:
    """Return the pieces; normal ones without their type."""
    return [piece[: 2 + (piece[2] != "normal")] for piece in pieces]


def _pieces_from_json(values: list[list[Any]]) -> tuple[ScoredPiece, ...]:
    return tuple(ScoredPiece(*value) for value in values)


_TEXTS = json_form(list, tuple)


@dataclass(frozen=True)
class SentencePieceNormalizer(Component):
    """Normalize as SentencePiece does.

    >>> import piecework as pw
    >>> tok = pw.Tokenizer(pw.spec.Char({"[UNK]": 0}), normalizer=SentencePieceNormalizer())
    >>> tok.normalize(" hug  bugs")
    '▁hug▁bugs'

    - `charsmap`: compiled replacement rules, of which the longest match applies; empty for none.
    - `add_dummy_prefix`: add a space before the text, or after it with `treat_whitespace_as_suffix`.
    - `remove_extra_whitespaces`: remove leading, trailing and repeated spaces.
    - `escape_whitespaces`: replace spaces by ▁.
    - `user_defined_symbols`: strings that no rule changes.

    Source: Kudo and Richardson 2018, "SentencePiece", section 3.
    """

    KIND: ClassVar[str] = "SentencePiece"

    charsmap: bytes = field(default=b"", repr=False, metadata=base64_form("precompiled_charsmap"))
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    treat_whitespace_as_suffix: bool = False
    user_defined_symbols: tuple[str, ...] = field(default=(), metadata=_TEXTS)


@dataclass(frozen=True)
class SentencePiece(Component):
    """Segment a whole text as a SentencePiece model does; the index of a piece is its id.

    >>> pieces = (ScoredPiece("<unk>", 0.0, "unknown"), ScoredPiece("▁hug", -3.5))
    >>> SentencePiece(pieces).vocab
    {'<unk>': 0, '▁hug': 1}

    - `kind`: "unigram" (highest probability, in 32-bit floats), "bpe" (merges by best score), "word" or
      "char".
    - `byte_fallback`: replace unknown characters by byte pieces. Without it, adjacent unknown characters
      are one token.
    - `bos_piece`, `eos_piece`, `pad_piece`: the names of these pieces, which `pieces` may lack.
    - `lowest_score`: the score from which the score of unknown characters follows. None means the lowest
      score of the normal pieces. A restricted vocabulary keeps the score of the full vocabulary.
    - `self_test`: texts with their expected pieces. `rest`: all other fields of the file.

    Source: Kudo 2018, section 3.2; Sennrich et al. 2016, section 3.2.
    """

    pieces: tuple[ScoredPiece, ...] = field(
        repr=False, metadata=json_form(_pieces_to_json, _pieces_from_json)
    )
    kind: SentencePieceKind = "unigram"
    byte_fallback: bool = False
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"
    lowest_score: float | None = None
    self_test: tuple[tuple[str, str], ...] = field(
        default=(), repr=False, metadata=json_form(read=lambda tests: tuple(map(tuple, tests)))
    )
    rest: bytes = field(default=b"", repr=False, metadata=base64_form())

    @property
    def vocab(self) -> dict[str, int]:
        """The id of each piece."""
        return {piece.text: id for id, piece in enumerate(self.pieces)}

    @property
    def unk_token(self) -> str | None:
        """The unknown piece."""
        return next((piece.text for piece in self.pieces if piece.type == "unknown"), None)


@dataclass(frozen=True)
class SentencePieceDecoder(Component):
    """Join pieces to text: ▁ becomes a space, and a leading ▁ is dropped.

    >>> SentencePieceDecoder(control_symbols=("<s>", "</s>")).unk_surface
    ' ⁇ '

    Control pieces are dropped. The unknown piece becomes `unk_surface`. With `byte_fallback`, pieces such as
    `<0x0A>` become bytes. `denormalizer` is applied to the resulting text.
    """

    KIND: ClassVar[str] = "SentencePiece"

    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    unk_piece: str = "<unk>"
    unk_surface: str = " ⁇ "
    control_symbols: tuple[str, ...] = field(default=(), metadata=_TEXTS)
    byte_fallback: bool = False
    denormalizer: SentencePieceNormalizer | None = field(
        default=None,
        metadata=json_form(
            json_value, lambda value: value and SentencePieceNormalizer.from_json(value)
        ),
    )
