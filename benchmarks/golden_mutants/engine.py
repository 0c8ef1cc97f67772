"""The reference as an engine that a golden file judges: rows in, ids out, functions replaced.

The reference builds the tables of its model for every word, which takes milliseconds with 100,000 entries.
Here a word is segmented by the same functions with the entries that occur in it. Normalized texts, the
tokens of a text and the pieces of a word are kept, and divergences of other stages share them. Offsets and
type ids are left out, as rows judge ids.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest import mock

from piecework.errors import PieceworkError
from piecework.reference import bpe, lattice, tokenizer
from piecework.reference.aligned import Aligned, align, as_text
from piecework.reference.encoding import Piece, Token
from piecework.spec import (
    BPE,
    AddedToken,
    Model,
    Padding,
    SentencePiece,
    TokenizerSpec,
    Truncation,
    Unigram,
)

Row = Mapping[str, Any]
Ids = list[int]
# Replacements by "module.function" of `piecework.reference`.
Patches = Mapping[str, Any]

# What a divergence shares with all others, by the beginning of the name that it replaces; else nothing.
SHARED = {
    "post_processors.": {"normalized", "tokens", "words"},
    "tokenizer.matches": {"normalized", "tokens", "words"},
    "tokenizer.post_process": {"normalized", "tokens", "words"},
    "tokenizer.truncate": {"normalized", "tokens", "words"},
    "aligned.": {"tokens", "words"},
    "normalizers.": {"tokens", "words"},
    "sentencepiece_stages.": {"tokens", "words"},
    "bert.lowercase": {"tokens", "words"},
    "bert.strip_accents": {"tokens", "words"},
    "bert.CJK_RANGES": {"tokens", "words"},
    "bert.is_dropped": {"tokens", "words"},
    "bert.isolate_punctuation": {"normalized", "words"},
    "pre_tokenizers.": {"normalized", "words"},
    "patterns.": {"words"},
    "bpe_model.": {"normalized"},
    "lattice.": {"normalized"},
    "sentencepiece_model.": {"normalized"},
    "sentencepiece_unigram.": {"normalized"},
    "wordpiece_model.": {"normalized"},
    "tokenizer.Lattice": {"normalized"},
    "tokenizer.unknown_run": {"normalized"},
}
# The same by the field of the specification that a divergence replaces.
SHARED_FIELDS = {
    "normalizer": {"tokens", "words"},
    "pre_tokenizer": {"normalized", "words"},
    "model": {"normalized"},
}


def unchanged(spec: TokenizerSpec) -> TokenizerSpec:
    """Return the specification as it is."""
    return spec


def no_patches(_: TokenizerSpec) -> Patches:
    """Replace nothing."""
    return {}


def as_given(row: Row) -> Row:
    """Return a row as it is."""
    return row


def never(_: TokenizerSpec) -> str:
    """Return no argument: some text shows the divergence."""
    return ""


@dataclass(frozen=True)
class Mutant:
    """One divergence: another specification, functions of the reference replaced, or another row.

    `stands_for` names the engine or the mistake. `equivalent` returns why no text can show the divergence
    with a specification to which it applies, or an empty string.
    """

    name: str
    stands_for: str
    applies: Callable[[TokenizerSpec], bool]
    spec: Callable[[TokenizerSpec], TokenizerSpec] = unchanged
    patches: Callable[[TokenizerSpec], Patches] = no_patches
    equivalent: Callable[[TokenizerSpec], str] = never
    row: Callable[[Row], Row] = as_given


CONTROL = Mutant("control", "the reference itself", lambda _: True)


@dataclass
class Kept:
    """What was computed so far: normalized texts and tokens by text and whether it begins the row, words."""

    normalized: dict[tuple[str, bool], Aligned] = field(default_factory=dict)
    tokens: dict[tuple[str, bool], list[Token]] = field(default_factory=dict)
    words: dict[str, list[Piece]] = field(default_factory=dict)


class Judged:
    """A tokenizer, with what its encoders share."""

    def __init__(self, spec: TokenizerSpec) -> None:
        self.spec = replace(spec, truncation=None, padding=None)
        self.kept = Kept()

    @contextmanager
    def encoder(self, mutant: Mutant = CONTROL) -> Iterator[Callable[[Row], Ids | None]]:
        """Plant a divergence, and yield the function that returns the ids of a row, None for an error."""
        patches, spec = mutant.patches(self.spec), mutant.spec(self.spec)
        names = {"normalized", "tokens", "words"}
        for patch in patches:
            found = (shared for start, shared in SHARED.items() if patch.startswith(start))
            names &= next(found, set())
        for stage, shared in SHARED_FIELDS.items():
            if getattr(spec, stage) is not getattr(self.spec, stage):
                names &= shared
        kept = replace(Kept(), **{name: getattr(self.kept, name) for name in names})
        with planted({**tables(spec, kept), **patches}):
            engine = Engine(spec, kept)
            yield lambda row: engine.ids(mutant.row(row))


class Engine(tokenizer.ReferenceTokenizer):
    """The reference, with the settings of each row."""

    def __init__(self, spec: TokenizerSpec, kept: Kept) -> None:
        self.kept = kept
        super().__init__(spec)
        self.forms: dict[tuple[bool, Any], dict[str, list[AddedToken]]] = {}

    def ids(self, row: Row) -> Ids | None:
        """Return the ids of a row, None for an error."""
        truncation, padding = row.get("truncation"), row.get("padding")
        self.spec = replace(
            self.spec,
            parse_special=row["parse_special"],
            truncation=Truncation(**truncation) if truncation else None,
            padding=Padding(padding["length"], padding["side"], padding["id"]) if padding else None,
        )
        special = row["add_special_tokens"]
        try:
            return self.encode(row["text"], row.get("pair"), add_special_tokens=special).ids
        except PieceworkError:
            return None

    def sequence(self, text: str, sequence_id: int, permits: Any = None) -> Iterator[Token]:
        """Encode one text without special tokens; tokens have no offsets."""
        for part, added in self._split_added_tokens(align(text)):
            if added is None:
                yield from self._tokens(part)
            else:
                yield Token(added.content)

    def normalize(self, text: Aligned) -> Aligned:
        """Apply the normalizer."""
        key = key_of(text)
        if key not in self.kept.normalized:
            self.kept.normalized[key] = super().normalize(text)
        return self.kept.normalized[key]

    def _tokens(self, part: Aligned) -> list[Token]:
        key = key_of(part)
        if key not in self.kept.tokens:
            words = tokenizer.pre_tokenize(part, self.spec.pre_tokenizer)
            pieces = (tokenizer.encode_word(as_text(word), self.spec.model) for word in words)
            self.kept.tokens[key] = [Token(piece.token) for found in pieces for piece in found]
        return self.kept.tokens[key]

    def _searched_forms(self, *, normalized: bool) -> dict[str, list[AddedToken]]:
        key = normalized, self.spec.parse_special
        if key not in self.forms:
            self.forms[key] = super()._searched_forms(normalized=normalized)
        return self.forms[key]


def key_of(text: Aligned) -> tuple[str, bool]:
    """Return a text and whether it begins the row, on which a prefix may depend."""
    return as_text(text), bool(text) and text[0][1][0] == 0


@contextmanager
def planted(patches: Patches) -> Iterator[None]:
    """Replace functions of the reference for a while."""
    with ExitStack() as stack:
        for name, new in patches.items():
            module, attribute = name.split(".")
            owner = importlib.import_module(f"piecework.reference.{module}")
            stack.enter_context(mock.patch.object(owner, attribute, new))
        yield


# ---- tables built once


def tables(spec: TokenizerSpec, kept: Kept) -> dict[str, Any]:
    """Return the replacements that change no id and compute nothing twice."""
    encode_word, split_added_tokens = tokenizer.encode_word, tokenizer.split_added_tokens
    part_of, words = part_of_model(spec.model), kept.words

    def segment(word: str, _: Model) -> list[Piece]:
        if word not in words:
            words[word] = encode_word(word, part_of(word))
        return words[word]

    def split(text: Aligned, forms: Any, permits: Any) -> Any:
        plain = as_text(text)
        found = {form: tokens for form, tokens in forms.items() if form in plain}
        if found:
            return split_added_tokens(text, found, permits)
        return [(text, None)] if text else []

    patches = {
        "tokenizer.encode_word": segment,
        "tokenizer.split_added_tokens": split,
        "post_processors.typed": lambda part, _: part,
    }
    if isinstance(spec.model, BPE):
        patches["bpe_model.best_pair"] = best_pair_of(ranks_of(spec.model))
    if isinstance(spec.model, Unigram):
        score = lattice.unknown_score(dict(spec.model.pieces))
        patches["lattice.unknown_score"] = lambda _: score
    return patches


def ranks_of(model: BPE) -> dict[tuple[str, str], int]:
    """Return the rank of each merge."""
    return {pair: rank for rank, pair in enumerate(model.merges)}


def best_pair_of(ranks: Mapping[tuple[str, str], int]) -> Callable[..., Any]:
    """Return the reference's search for the best pair, with the ranks of all words."""
    best_pair = bpe.best_pair

    def search(symbols: Sequence[str], _: Any, dropout: float, rng: Any) -> Any:
        return best_pair(symbols, ranks, dropout, rng)

    return search


def part_of_model(model: Model) -> Callable[[str], Model]:
    """Return the function that returns a model with the entries that a word can need."""
    if isinstance(model, BPE):
        without_merges = replace(model, merges=())
        return lambda _: without_merges
    if isinstance(model, Unigram):
        return part_of_unigram(model)
    if isinstance(model, SentencePiece):
        return part_of_sentencepiece(model)
    return lambda _: model


def part_of_unigram(model: Unigram) -> Callable[[str], Unigram]:
    """Return how to restrict a Unigram model to the pieces of a word, its bytes and the unknown piece."""
    scores, unk = dict(model.pieces), model.unk_token
    longest = max(map(len, scores))

    def part(word: str) -> Unigram:
        needed = substrings(word, longest) | {f"<0x{byte:02X}>" for byte in word.encode()}
        pieces = tuple((text, scores[text]) for text in sorted(needed - {unk}) if text in scores)
        if unk is None:
            return replace(model, pieces=pieces)
        return replace(model, pieces=((unk, scores[unk]), *pieces), unk_id=0)

    return part


def part_of_sentencepiece(model: SentencePiece) -> Callable[[str], SentencePiece]:
    """Return how to restrict a SentencePiece model to the pieces of a text and the unknown piece."""
    by_text = {piece.text: piece for piece in model.pieces}
    unknown = [piece for piece in model.pieces if piece.type == "unknown"]
    longest = max(map(len, by_text))
    lowest = model.lowest_score
    if lowest is None:
        lowest = min((p.score for p in model.pieces if p.type == "normal"), default=None)

    def part(text: str) -> SentencePiece:
        needed = sorted(substrings(text, longest) - {piece.text for piece in unknown})
        found = (by_text[piece] for piece in needed if piece in by_text)
        return replace(model, pieces=(*unknown, *found), lowest_score=lowest)

    return part


def substrings(text: str, longest: int) -> set[str]:
    """Return the parts of a text that have at most `longest` characters."""
    ends = range(1, longest + 1)
    return {text[start : start + length] for start in range(len(text)) for length in ends}
