"""Decoders: tokens in, text out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from piecework.errors import FormatError


@dataclass(frozen=True)
class WordPieceDecoder:
    """Join tokens with spaces, glue continuations, and tidy punctuation when `cleanup` is set."""

    prefix: str = "##"
    cleanup: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {"type": "WordPiece", "prefix": self.prefix, "cleanup": self.cleanup}


@dataclass(frozen=True)
class CharDecoder:
    """Join tokens with nothing between them (its name in `tokenizer.json` is Fuse)."""

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {"type": "Fuse"}


Decoder: TypeAlias = WordPieceDecoder | CharDecoder


def decoder_from_json(value: dict[str, Any] | None) -> Decoder | None:
    """Read the `decoder` object of a `tokenizer.json`; without one, tokens are joined by spaces."""
    if value is None:
        return None
    if value["type"] == "WordPiece":
        return WordPieceDecoder(prefix=value["prefix"], cleanup=value["cleanup"])
    if value["type"] == "Fuse":
        return CharDecoder()
    raise FormatError("decoder.type", repr(value["type"]), "WordPiece or Fuse")
