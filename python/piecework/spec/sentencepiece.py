"""SentencePiece: its normalizer, its four models and its decoder, each a component of its own.

`Tokenizer.load` makes all three of a `.model`. No `tokenizer.json` has them: `Tokenizer.save` writes standard
components there if these give the same ids.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

from piecework.spec.component import Component

PieceType: TypeAlias = Literal["normal", "unknown", "control", "user_defined", "unused", "byte"]
SentencePieceKind: TypeAlias = Literal["unigram", "bpe", "word", "char"]


class ScoredPiece(NamedTuple):
    """An entry of a SentencePiece vocabulary.

    >>> ScoredPiece("▁hug", -3.5)
    ScoredPiece(text='▁hug', score=-3.5, type='normal')

    A score is a 32-bit float: a log probability for Unigram, for BPE the rank below zero. A control
    piece is never found in text, a user-defined one always and never split; an unused one is not given
    out.
    """

    text: str
    score: float
    type: PieceType = "normal"


@dataclass(frozen=True)
class SentencePieceNormalizer(Component):
    """Do all that SentencePiece does to a text before it is segmented.

    >>> SentencePieceNormalizer().add_dummy_prefix
    True

    `charsmap` holds compiled rules (the longest match is replaced), empty for none. A space comes before
    the text (`add_dummy_prefix`), or after it with `treat_whitespace_as_suffix`; spaces at the ends and
    repeated ones go (`remove_extra_whitespaces`); each becomes ▁ (`escape_whitespaces`). No rule touches
    `user_defined_symbols`.

    Source: Kudo and Richardson 2018, "SentencePiece", section 3.
    """

    KIND: ClassVar[str] = "SentencePiece"

    charsmap: bytes = field(default=b"", repr=False)
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    treat_whitespace_as_suffix: bool = False
    user_defined_symbols: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object; the rules are in base64 there."""
        value = super().to_json()
        del value["charsmap"]
        rules = base64.b64encode(self.charsmap).decode("ascii")
        symbols = list(self.user_defined_symbols)
        return value | {"precompiled_charsmap": rules, "user_defined_symbols": symbols}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SentencePieceNormalizer:
        """Read the `tokenizer.json` object."""
        own = {"type", "precompiled_charsmap", "user_defined_symbols"}
        return cls(
            charsmap=base64.b64decode(value["precompiled_charsmap"]),
            user_defined_symbols=tuple(value["user_defined_symbols"]),
            **{name: setting for name, setting in value.items() if name not in own},
        )


@dataclass(frozen=True)
class SentencePiece(Component):
    """Segment a whole text as a model of SentencePiece does; an id is the place of a piece.

    >>> pieces = (ScoredPiece("<unk>", 0.0, "unknown"), ScoredPiece("▁hug", -3.5))
    >>> SentencePiece(pieces).vocab
    {'<unk>': 0, '▁hug': 1}

    `kind` is "unigram" (the likeliest segmentation, sums of 32-bit floats), "bpe" (neighbours joined, the
    best score first), "word" or "char". Unknown neighbours are one token; with `byte_fallback` they are
    spelled by byte pieces. `bos_piece`, `eos_piece` and `pad_piece` name the pieces of these roles, where
    they are among `pieces`. `lowest_score` is what unknown characters are measured by where it is not
    the lowest of the normal pieces: a restricted vocabulary keeps that of the whole. `self_test` holds
    texts with the pieces expected of them, `rest` all else of the file.

    Source: Kudo 2018, section 3.2; Sennrich et al. 2016, section 3.2.
    """

    KIND: ClassVar[str] = "SentencePiece"

    pieces: tuple[ScoredPiece, ...] = field(repr=False)
    kind: SentencePieceKind = "unigram"
    byte_fallback: bool = False
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"
    lowest_score: float | None = None
    self_test: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    rest: bytes = field(default=b"", repr=False)

    @property
    def vocab(self) -> dict[str, int]:
        """The pieces as token -> id."""
        return {piece.text: id for id, piece in enumerate(self.pieces)}

    @property
    def unk_token(self) -> str | None:
        """The piece for what cannot be segmented."""
        return next((piece.text for piece in self.pieces if piece.type == "unknown"), None)

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object; a normal piece is written without its type."""
        return super().to_json() | {
            "pieces": [piece[: 2 + (piece[2] != "normal")] for piece in self.pieces],
            "rest": base64.b64encode(self.rest).decode("ascii"),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SentencePiece:
        """Read the `tokenizer.json` object."""
        own = {
            "pieces": tuple(ScoredPiece(*piece) for piece in value["pieces"]),
            "self_test": tuple((input, expected) for input, expected in value["self_test"]),
            "rest": base64.b64decode(value["rest"]),
        }
        return cls(**{name: value[name] for name in value if name != "type"} | own)


@dataclass(frozen=True)
class SentencePieceDecoder(Component):
    """Join pieces to the text they were made of: ▁ becomes a space, but for one before the text.

    >>> SentencePieceDecoder(control_symbols=("<s>", "</s>")).unk_surface
    ' ⁇ '

    Control pieces leave no trace, the unknown one is shown as `unk_surface`, with `byte_fallback` pieces
    such as `<0x0A>` are bytes. `denormalizer` is applied to the text at the end.
    """

    KIND: ClassVar[str] = "SentencePiece"

    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    unk_piece: str = "<unk>"
    unk_surface: str = " ⁇ "
    control_symbols: tuple[str, ...] = ()
    byte_fallback: bool = False
    denormalizer: SentencePieceNormalizer | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return super().to_json() | {
            "control_symbols": list(self.control_symbols),
            "denormalizer": self.denormalizer and self.denormalizer.to_json(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SentencePieceDecoder:
        """Read the `tokenizer.json` object."""
        inner = value["denormalizer"]
        own = {
            "control_symbols": tuple(value["control_symbols"]),
            "denormalizer": inner and SentencePieceNormalizer.from_json(inner),
        }
        return cls(**{name: value[name] for name in value if name != "type"} | own)
