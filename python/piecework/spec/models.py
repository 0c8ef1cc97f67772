"""Models: words in, vocabulary entries out. Each carries its vocabulary as token -> id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from piecework.errors import FormatError


@dataclass(frozen=True)
class WordPiece:
    """Cut each word into the longest vocabulary entries from the left, marked `##` inside a word.

    `unk="word"` turns a word that cannot be cut whole into one unknown token (BERT's rule);
    `unk="char"` does so for the unmatched character alone. `segmentation="shortest"` takes the
    fewest pieces instead of the greedy ones, by dynamic programming. Lengths are in characters.

    Source: Song et al. 2021, "Fast WordPiece Tokenization", section 3 (LinMaxMatch).
    """

    vocab: Mapping[str, int] = field(repr=False)
    unk_token: str = "[UNK]"
    continuing_subword_prefix: str = "##"
    max_input_chars_per_word: int = 100
    unk: Literal["word", "char"] = "word"
    segmentation: Literal["greedy", "shortest"] = "greedy"

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object; `unk` and `segmentation` appear when not the default."""
        value: dict[str, Any] = {
            "type": "WordPiece",
            "unk_token": self.unk_token,
            "continuing_subword_prefix": self.continuing_subword_prefix,
            "max_input_chars_per_word": self.max_input_chars_per_word,
        }
        if self.unk != "word":
            value["unk"] = self.unk
        if self.segmentation != "greedy":
            value["segmentation"] = self.segmentation
        value["vocab"] = dict(self.vocab)
        return value


@dataclass(frozen=True)
class Word:
    """Look each word up whole: one id a word, the unknown token for the rest."""

    vocab: Mapping[str, int] = field(repr=False)
    unk_token: str = "[UNK]"

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object (its name there is WordLevel)."""
        return {"type": "WordLevel", "vocab": dict(self.vocab), "unk_token": self.unk_token}


@dataclass(frozen=True)
class Char:
    """Make every character a token; characters outside the vocabulary become the unknown token.

    In `tokenizer.json` this is a BPE model without merges, which every reader understands.
    """

    vocab: Mapping[str, int] = field(repr=False)
    unk_token: str = "[UNK]"

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {
            "type": "BPE",
            "dropout": None,
            "unk_token": self.unk_token,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": dict(self.vocab),
            "merges": [],
        }


Model: TypeAlias = WordPiece | Word | Char


def model_from_json(value: dict[str, Any]) -> Model:
    """Read the `model` object of a `tokenizer.json` that the core has already checked."""
    kind = value["type"]
    if kind == "WordPiece":
        return WordPiece(
            vocab=value["vocab"],
            unk_token=value["unk_token"],
            continuing_subword_prefix=value["continuing_subword_prefix"],
            max_input_chars_per_word=value["max_input_chars_per_word"],
            unk=value.get("unk", "word"),
            segmentation=value.get("segmentation", "greedy"),
        )
    if kind == "WordLevel":
        return Word(vocab=value["vocab"], unk_token=value["unk_token"])
    if kind == "BPE" and not value["merges"]:
        return Char(vocab=value["vocab"], unk_token=value["unk_token"])
    raise FormatError("model.type", repr(kind), "WordPiece, WordLevel, or BPE without merges")
