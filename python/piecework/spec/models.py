"""Models segment words into vocabulary entries. `vocab` maps each token to its id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias, cast

from piecework.errors import InputTypeError
from piecework.spec.component import Component, component_from_json, json_form, kinds_of
from piecework.spec.sentencepiece import SentencePiece

# The default of what a model cannot be without; `check_given` says how to learn it.
_NONE: Any = None


def check_given(name: str, value: object, model: str) -> None:
    """Raise `InputTypeError` for a model without vocabulary, merges or pieces."""
    if value is None:
        expected = "a vocabulary" if name == "vocab" else name
        learning = f'Tokenizer.train(files, model="{model}", unk_token=...)'
        problem = f"is missing: pass {expected}; {learning} learns a whole tokenizer"
        raise InputTypeError(name, problem)


def entries(vocab: Mapping[str, int]) -> dict[str, int]:
    """Return a vocabulary as a JSON object."""
    if not isinstance(vocab, Mapping):
        raise InputTypeError("vocab", f"must map tokens to ids, not {type(vocab).__name__}")
    return dict(vocab)


def _lists(pairs: tuple[tuple[Any, Any], ...]) -> list[list[Any]]:
    return [list(pair) for pair in pairs]


def _pairs(lists: list[list[Any]]) -> tuple[tuple[Any, Any], ...]:
    return tuple((first, second) for first, second in lists)


_VOCAB = json_form(entries)
_MERGES = json_form(_lists, _pairs)
_PIECES = json_form(_lists, _pairs, name="vocab")


@dataclass(frozen=True)
class WordPiece(Component):
    """WordPiece: segment each word by greedy longest match from the left.

    >>> import piecework as pw
    >>> pw.Tokenizer(WordPiece({"[UNK]": 0, "hug": 1, "##s": 2})).encode("hugs").tokens
    ['hug', '##s']

    Tokens inside a word have the prefix `##`. With `unk="word"`, a word without a segmentation becomes one
    unknown token (the rule of BERT). With `unk="char"`, only the unmatched character does.
    `segmentation="shortest"` finds the segmentation with the fewest tokens, by dynamic programming. Words
    of more than `max_input_chars_per_word` characters become one unknown token.

    Source: Song et al. 2021, "Fast WordPiece Tokenization", section 3 (LinMaxMatch).
    """

    vocab: Mapping[str, int] = field(default=_NONE, repr=False, metadata=_VOCAB)
    unk_token: str = "[UNK]"
    continuing_subword_prefix: str = "##"
    max_input_chars_per_word: int = 100
    unk: Literal["word", "char"] = field(default="word", metadata=json_form(is_optional=True))
    segmentation: Literal["greedy", "shortest"] = field(
        default="greedy", metadata=json_form(is_optional=True)
    )

    def __post_init__(self) -> None:
        check_given("vocab", self.vocab, "wordpiece")


@dataclass(frozen=True)
class WordLevel(Component):
    """Map each word to its id; words outside the vocabulary become the unknown token.

    >>> import piecework as pw
    >>> model = WordLevel({"[UNK]": 0, "hug": 1})
    >>> pw.Tokenizer(model, pre_tokenizer=pw.spec.Whitespace()).encode("hug hugs").ids
    [1, 0]
    """

    vocab: Mapping[str, int] = field(default=_NONE, repr=False, metadata=_VOCAB)
    unk_token: str = "[UNK]"

    def __post_init__(self) -> None:
        check_given("vocab", self.vocab, "word")


@dataclass(frozen=True)
class BPE(Component):
    """Byte-pair encoding: merge adjacent symbols, in the order of `merges`.

    >>> import piecework as pw
    >>> pw.Tokenizer(BPE({"h": 0, "u": 1, "hu": 2}, (("h", "u"),))).encode("huh").tokens
    ['hu', 'h']

    >>> BPE({"h": 0, "u": 1, "hu": 2}, [("h", "u")]).to_json()["merges"]
    [['h', 'u']]

    `dropout` is the probability to skip a merge, in every call of `encode` without `sampling`.
    `ignore_merges` maps a word in the vocabulary to its token without applying merges. `byte_fallback`
    replaces unknown characters by byte tokens such as `<0x0A>`. Without it, `fuse_unk` combines adjacent
    unknown characters into one token.

    Source: Sennrich et al. 2016, section 3.2.
    """

    vocab: Mapping[str, int] = field(default=_NONE, repr=False, metadata=_VOCAB)
    merges: tuple[tuple[str, str], ...] = field(default=_NONE, repr=False, metadata=_MERGES)
    dropout: float | None = None
    unk_token: str | None = None
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    ignore_merges: bool = False

    def __post_init__(self) -> None:
        check_given("vocab", self.vocab, "bpe")
        check_given("merges", self.merges, "bpe")


@dataclass(frozen=True)
class Char(Component):
    """Map each character to a token; characters outside the vocabulary become the unknown token.

    >>> import piecework as pw
    >>> pw.Tokenizer(Char({"[UNK]": 0, "a": 1})).encode("ab").tokens
    ['a', '[UNK]']

    In a `tokenizer.json` it is a BPE model without merges.
    """

    KIND: ClassVar[str] = "BPE"

    vocab: Mapping[str, int] = field(default=_NONE, repr=False, metadata=_VOCAB)
    unk_token: str = "[UNK]"

    def __post_init__(self) -> None:
        check_given("vocab", self.vocab, "char")

    def to_json(self) -> dict[str, Any]:
        """Return the `tokenizer.json` object."""
        return BPE(self.vocab, (), unk_token=self.unk_token).to_json()


@dataclass(frozen=True)
class Unigram(Component):
    """Unigram: find the segmentation with the highest probability (Viterbi).

    >>> Unigram((("<unk>", 0.0), ("hug", -2.5)), unk_id=0).vocab
    {'<unk>': 0, 'hug': 1}

    `pieces` are pairs of a token and its log probability; the index is the id. `byte_fallback` replaces
    unknown characters by byte tokens such as `<0x0A>`.

    Source: Kudo 2018, section 3.2.
    """

    pieces: tuple[tuple[str, float], ...] = field(default=_NONE, repr=False, metadata=_PIECES)
    unk_id: int | None = None
    byte_fallback: bool = False

    def __post_init__(self) -> None:
        check_given("pieces", self.pieces, "unigram")

    @property
    def vocab(self) -> dict[str, int]:
        """The id of each token."""
        return {token: id for id, (token, _) in enumerate(self.pieces)}

    @property
    def unk_token(self) -> str | None:
        """The unknown token."""
        return None if self.unk_id is None else self.pieces[self.unk_id][0]


Model: TypeAlias = WordPiece | WordLevel | Char | BPE | Unigram | SentencePiece

_KINDS = kinds_of(Model)  # a character model has the kind of BPE


def model_from_json(value: Mapping[str, Any]) -> Model:
    """Read the `model` object of a `tokenizer.json`, which the core has validated.

    A BPE model without merges and without other settings is read as a `Char` model.
    """
    model = cast(Model, component_from_json(_KINDS, value, "model"))
    if isinstance(model, BPE) and model.unk_token is not None:
        char = Char(model.vocab, model.unk_token)
        return char if BPE(model.vocab, (), unk_token=char.unk_token) == model else model
    return model
