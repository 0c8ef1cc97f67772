"""The engines that the conformance cases and the laws are put to: reference and compiled core.

Both take the same specification and the same settings and answer with plain lists, so that a test is
one comparison.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple
from fractions import Fraction
from importlib import import_module
from typing import Any, NamedTuple, TypeVar, get_type_hints

import piecework as pw
from piecework.reference import words as simple_words
from piecework.reference.aligned import align, as_text, span
from piecework.reference.tokenizer import ReferenceTokenizer
from piecework.reference.wordpiece_training import (
    LearnedWordPiece,
    MergeSettings,
    Settings,
    learn,
)
from piecework.spec import (
    BertNormalizer,
    BertPreTokenizer,
    Normalizer,
    PreTokenizer,
    TokenizerSpec,
    WhitespaceSplit,
    WordLevel,
)
from piecework.train import Learner, Merges, Pruning, WordPieceTrainer

WordSpan = tuple[str, int, int]
WordCounts = Sequence[tuple[str, int]]
T = TypeVar("T")

PIPELINES: dict[str, tuple[Normalizer | None, PreTokenizer | None]] = {
    "bert-uncased": (BertNormalizer(), BertPreTokenizer()),
    "bert-cased": (BertNormalizer(lowercase=False), BertPreTokenizer()),
    "whitespace": (None, WhitespaceSplit()),
    "punctuation": (None, BertPreTokenizer()),
    "characters": (None, None),
}


def twin(learner: type[Learner]) -> tuple[Callable[..., LearnedWordPiece], type[Settings]]:
    """Return the definition of a learner and its settings: `learn_<name>` of `reference.wordpiece_<name>`."""
    if learner is Merges:
        return learn, MergeSettings
    name = learner.name.replace("-", "_")
    definition = getattr(import_module(f"piecework.reference.wordpiece_{name}"), f"learn_{name}")
    return definition, get_type_hints(definition)["settings"]


def settings_for(kind: type[T], settings: Mapping[str, Any]) -> T:
    """Return the settings of the reference for those of a trainer and its learner."""
    given = {**settings}
    learner = given.pop("learner", Pruning())
    return kind(**given, **asdict(learner))


class Encoded(NamedTuple):
    """What an engine makes of a text, token by token."""

    tokens: list[str]
    ids: list[int]
    offsets: list[tuple[int, int]]
    word_ids: list[int | None]
    type_ids: list[int]


class Outcome(NamedTuple):
    """What an engine learns: entries in id order, merges, and whether it ran out of merges."""

    vocab: list[str]
    merges: list[tuple[str, str, str, int, float]]
    stopped_early: bool


class ReferenceEngine:
    """The executable specification."""

    name = "reference"

    def words(self, spec: TokenizerSpec, text: str) -> list[WordSpan]:
        runs = ReferenceTokenizer(spec).pre_tokenize(align(text))
        return [(as_text(run), *span(run)) for run in runs]

    def encode(
        self,
        spec: TokenizerSpec,
        text: str,
        pair: str | None = None,
        *,
        add_special_tokens: bool = False,
    ) -> Encoded:
        tokenizer = ReferenceTokenizer(spec)
        e = tokenizer.encode(text, pair, add_special_tokens=add_special_tokens)
        return Encoded(e.tokens, e.ids, e.offsets, e.word_ids, e.type_ids)

    def decode(self, spec: TokenizerSpec, ids: Sequence[int], clean_up: bool | None = None) -> str:
        return ReferenceTokenizer(spec).decode(ids, skip_special_tokens=False, clean_up=clean_up)

    def count_words(self, texts: Sequence[str], preset: str) -> list[tuple[str, int]]:
        normalizer, pre_tokenizer = PIPELINES[preset]
        spec = TokenizerSpec(WordLevel({}), normalizer, pre_tokenizer)
        counts = Counter(word for text in texts for word, _, _ in self.words(spec, text))
        return list(counts.items())  # a Counter keeps the order of first occurrence

    def learn(self, words: WordCounts, settings: Mapping[str, Any]) -> Outcome:
        learn, kind = twin(type(settings.get("learner", Pruning())))
        learned = learn(words, settings_for(kind, settings))
        made = [(*merge[:4], float(merge.score)) for merge in learned.merges]
        return Outcome(learned.vocab, made, learned.stopped_early is not None)

    def relearn(
        self,
        preset: str,
        old: tuple[Sequence[str], Mapping[str, Any]],
        new: tuple[Sequence[str], Mapping[str, Any]],
    ) -> list[str]:
        texts, settings = new  # the old vocabulary leaves no trace
        return self.learn(self.count_words(texts, preset), settings).vocab

    def learn_units(
        self, model: str, preset: str, texts: Sequence[str], vocab_size: int
    ) -> list[str]:
        counts = self.count_words(texts, preset)
        units = (
            sorted(simple_words.count_parts(counts, iter).items()) if model == "char" else counts
        )
        return simple_words.learn_vocabulary(units, vocab_size=vocab_size)


class CoreEngine:
    """The compiled core, through the public names."""

    name = "core"

    def tokenizer(self, spec: TokenizerSpec) -> pw.Tokenizer:
        return pw.Tokenizer.from_spec(spec)

    def words(self, spec: TokenizerSpec, text: str) -> list[WordSpan]:
        words = self.tokenizer(spec).pre_tokenize(text)
        return [(word, start, end) for word, (start, end) in words]

    def encode(
        self,
        spec: TokenizerSpec,
        text: str,
        pair: str | None = None,
        *,
        add_special_tokens: bool = False,
    ) -> Encoded:
        e = self.tokenizer(spec).encode(text, pair, add_special_tokens=add_special_tokens)
        return Encoded(e.tokens, e.ids, e.offsets, e.word_ids, e.type_ids)

    def decode(self, spec: TokenizerSpec, ids: Sequence[int], clean_up: bool | None = None) -> str:
        return self.tokenizer(spec).decode(ids, skip_special_tokens=False, clean_up=clean_up)

    def count_words(self, texts: Sequence[str], preset: str) -> list[tuple[str, int]]:
        return list(pw.count_texts(texts, preset=preset))

    def learn(
        self, words: WordCounts, settings: Mapping[str, Any], num_threads: int | None = None
    ) -> Outcome:
        counts = pw.Counts(
            [word for word, _ in words],
            [count for _, count in words],
            first=list(range(len(words))),
        )
        learned = WordPieceTrainer(**settings).learn_vocabulary(counts, num_threads=num_threads)
        merges = [astuple(merge) for merge in learned.merges]
        return Outcome(list(learned.entries), merges, learned.stopped_early is not None)

    def relearn(
        self,
        preset: str,
        old: tuple[Sequence[str], Mapping[str, Any]],
        new: tuple[Sequence[str], Mapping[str, Any]],
    ) -> list[str]:
        (old_texts, old_settings), (texts, settings) = old, new
        tokenizer = pw.Tokenizer.train_from_iterator(old_texts, preset=preset, **old_settings)
        return in_id_order(tokenizer.train_new_from_iterator(texts, **settings).get_vocab())

    def learn_units(
        self, model: str, preset: str, texts: Sequence[str], vocab_size: int
    ) -> list[str]:
        tokenizer = pw.Tokenizer.train_from_iterator(
            texts, model=model, preset=preset, vocab_size=vocab_size
        )
        return in_id_order(tokenizer.get_vocab())


Engine = ReferenceEngine | CoreEngine
REFERENCE, CORE = ReferenceEngine(), CoreEngine()
ENGINES: tuple[Engine, ...] = (REFERENCE, CORE)


def in_id_order(vocab: Mapping[str, int]) -> list[str]:
    """Return the tokens of a vocabulary by id."""
    return sorted(vocab, key=lambda token: vocab[token])


def score_of(text: str) -> float:
    """Read a score that a case gives as a fraction."""
    return float(Fraction(text))
