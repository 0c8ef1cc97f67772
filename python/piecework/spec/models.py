"""Models: words in, vocabulary entries out. Each has its vocabulary as token -> id in `vocab`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from piecework.errors import InputTypeError
from piecework.spec.component import Component, component_from_json
from piecework.spec.sentencepiece import SentencePiece


def entries(vocab: Mapping[str, int]) -> dict[str, int]:
    """Return a vocabulary as the object of a `tokenizer.json`."""
    if not isinstance(vocab, Mapping):
        raise InputTypeError("vocab", type(vocab).__name__, "a mapping of tokens to ids")
    return dict(vocab)


@dataclass(frozen=True)
class WordPiece(Component):
    """Cut each word into the longest vocabulary entries from the left, marked `##` inside a word.

    `unk="word"` turns a word that cannot be cut whole into one unknown token (BERT's rule);
    `unk="char"` does so for the unmatched character alone. `segmentation="shortest"` takes the
    fewest pieces instead of the greedy ones, by dynamic programming. Lengths are in characters.

    Source: Song et al. 2021, "Fast WordPiece Tokenization", section 3 (LinMaxMatch).
    """

    KIND: ClassVar[str] = "WordPiece"

    vocab: Mapping[str, int] = field(repr=False)
    unk_token: str = "[UNK]"
    continuing_subword_prefix: str = "##"
    max_input_chars_per_word: int = 100
    unk: Literal["word", "char"] = "word"
    segmentation: Literal["greedy", "shortest"] = "greedy"

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object; `unk` and `segmentation` appear when not the default."""
        value: dict[str, Any] = {
            "type": self.KIND,
            "unk_token": self.unk_token,
            "continuing_subword_prefix": self.continuing_subword_prefix,
            "max_input_chars_per_word": self.max_input_chars_per_word,
        }
        if self.unk != "word":
            value["unk"] = self.unk
        if self.segmentation != "greedy":
            value["segmentation"] = self.segmentation
        value["vocab"] = entries(self.vocab)
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> WordPiece:
        """Read the `tokenizer.json` object."""
        return cls(**{name: setting for name, setting in value.items() if name != "type"})


@dataclass(frozen=True)
class WordLevel(Component):
    """Look each word up whole: one id a word, the unknown token for the rest.

    Its name in `tokenizer.json` is WordLevel.
    """

    KIND: ClassVar[str] = "WordLevel"

    vocab: Mapping[str, int] = field(repr=False)
    unk_token: str = "[UNK]"

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {"type": self.KIND, "vocab": entries(self.vocab), "unk_token": self.unk_token}


@dataclass(frozen=True)
class BPE(Component):
    """Join characters by ranked merges, the first of `merges` first.

    >>> BPE({"h": 0, "u": 1, "hu": 2}, [("h", "u")]).to_json()["merges"]
    [['h', 'u']]

    `dropout` leaves out that share of merges at random whenever text is encoded, unless `Sampling`
    says otherwise. `ignore_merges`
    takes a word that is an entry as it is, whatever the merges make of it. `byte_fallback` spells
    unknown characters by byte entries such as `<0x0A>`; without, `fuse_unk` makes neighbouring ones
    one token.

    Source: Sennrich et al. 2016, section 3.2.
    """

    KIND: ClassVar[str] = "BPE"

    vocab: Mapping[str, int] = field(repr=False)
    merges: tuple[tuple[str, str], ...] = field(repr=False)
    dropout: float | None = None
    unk_token: str | None = None
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    ignore_merges: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        value = super().to_json()
        del value["vocab"], value["merges"]
        merges = [list(merge) for merge in self.merges]
        return value | {"vocab": entries(self.vocab), "merges": merges}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> BPE:
        """Read the `tokenizer.json` object."""
        settings = {name: setting for name, setting in value.items() if name != "type"}
        return cls(**settings | {"merges": tuple((left, right) for left, right in value["merges"])})


@dataclass(frozen=True)
class Char(Component):
    """Make every character a token; characters outside the vocabulary become the unknown token.

    In `tokenizer.json` this is a BPE model without merges, which every reader understands.
    """

    KIND: ClassVar[str] = "BPE"

    vocab: Mapping[str, int] = field(repr=False)
    unk_token: str = "[UNK]"

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return BPE(self.vocab, (), unk_token=self.unk_token).to_json()


@dataclass(frozen=True)
class Unigram(Component):
    """Take the likeliest segmentation; `pieces` are entries with their log probabilities.

    >>> Unigram((("<unk>", 0.0), ("hug", -2.5)), unk_id=0).vocab
    {'<unk>': 0, 'hug': 1}

    An entry's id is its place. `byte_fallback` spells unknown characters by byte entries.

    Source: Kudo 2018, section 3.2.
    """

    KIND: ClassVar[str] = "Unigram"

    pieces: tuple[tuple[str, float], ...] = field(repr=False)
    unk_id: int | None = None
    byte_fallback: bool = False

    @property
    def vocab(self) -> dict[str, int]:
        """The entries as token -> id."""
        return {token: place for place, (token, _) in enumerate(self.pieces)}

    @property
    def unk_token(self) -> str | None:
        """The entry for what cannot be segmented."""
        return None if self.unk_id is None else self.pieces[self.unk_id][0]

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return {
            "type": self.KIND,
            "unk_id": self.unk_id,
            "vocab": [list(piece) for piece in self.pieces],
            "byte_fallback": self.byte_fallback,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Unigram:
        """Read the `tokenizer.json` object."""
        pieces = tuple((token, score) for token, score in value["vocab"])
        return cls(pieces, value["unk_id"], value["byte_fallback"])


Model: TypeAlias = WordPiece | WordLevel | Char | BPE | Unigram | SentencePiece

_KINDS: dict[str, type[WordPiece | WordLevel | BPE | Unigram | SentencePiece]] = {
    kind.KIND: kind for kind in (WordPiece, WordLevel, BPE, Unigram, SentencePiece)
}


def model_from_json(value: Mapping[str, Any]) -> Model:
    """Read the `model` object of a `tokenizer.json` that the core has already checked.

    A BPE model without merges that asks for nothing special is a `Char` model.
    """
    model = component_from_json(_KINDS, value, "model")
    if isinstance(model, BPE) and model.unk_token is not None:
        char = Char(model.vocab, model.unk_token)
        return char if BPE(model.vocab, (), unk_token=char.unk_token) == model else model
    return model
