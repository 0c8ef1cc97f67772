"""Trainers: word counts in, a model with its vocabulary out; one frozen dataclass for each kind."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from piecework._core import LearnedWordPiece, learn_wordpiece
from piecework.errors import ArgumentError, CorpusError, TrainingError, TrainingWarning
from piecework.spec import Char, Word, WordPiece
from piecework.train import checks
from piecework.train.counting import Progress
from piecework.train.counts import Counts

SCORES = ("likelihood", "pmi", "frequency", "top-down")
BERT_SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

_RARE_JOIN = 10


@dataclass(frozen=True)
class Join:
    """One step of a WordPiece learner: two entries become one."""

    left: str
    right: str
    joined: str
    pair_count: int
    score: float


@dataclass(frozen=True)
class LearnedVocabulary:
    """Entries in id order, the joins that led there, and why learning ended early if it did."""

    entries: tuple[str, ...]
    joins: tuple[Join, ...]
    stopped_early: str | None


@dataclass(frozen=True)
class WordPieceTrainer:
    """Learn a WordPiece vocabulary by joining the best pair of entries again and again.

    >>> from piecework.train import count_texts
    >>> trainer = WordPieceTrainer(vocab_size=12, special_tokens=("[UNK]",), score="frequency")
    >>> model = trainer.learn(count_texts(["hug hugs bug bugs"]))
    >>> list(model.vocab)[-2:]
    ['bug', 'hug']

    `score` decides what is best. "likelihood": the exact gain of the corpus's unigram log-likelihood.
    "frequency": the most frequent pair. "top-down": the longest frequent substrings, to exactly
    `vocab_size`. "pmi": f(ab) / (f(a) f(b)), the formula WordPiece is usually described by; it
    prefers the rarest pairs there are, so at `min_frequency=1` nearly the whole vocabulary goes to
    words seen once. On 50 MB of documentation, 8,000 entries, it cuts held-out words into 3.2 tokens
    each where "likelihood" needs 1.10 and "frequency" 1.09; take it to follow the formula, not to
    ship.

    `limit_alphabet` keeps that many characters, `initial_alphabet` first; `max_token_length` counts
    characters without the prefix. Ties go to the pair that occurs first in the corpus ("frequency":
    to the lower pair of ids).
    """

    vocab_size: int = 30_000
    score: str = "likelihood"
    min_frequency: int = 2
    limit_alphabet: int | None = None
    initial_alphabet: tuple[str, ...] = ()
    special_tokens: tuple[str, ...] = BERT_SPECIAL_TOKENS
    continuing_subword_prefix: str = "##"
    max_token_length: int | None = None
    unk_token: str = "[UNK]"

    def __post_init__(self) -> None:
        _set(self, "vocab_size", checks.whole_number("vocab_size", self.vocab_size, 1))
        checks.one_of("score", self.score, SCORES)
        _set(self, "min_frequency", checks.whole_number("min_frequency", self.min_frequency, 0))
        _set(
            self, "limit_alphabet", checks.optional_number("limit_alphabet", self.limit_alphabet, 1)
        )
        _set(self, "initial_alphabet", checks.characters("initial_alphabet", self.initial_alphabet))
        _check_special_tokens(self)
        checks.text("continuing_subword_prefix", self.continuing_subword_prefix)
        longest = checks.optional_number("max_token_length", self.max_token_length, 1)
        _set(self, "max_token_length", longest)

    def learn(
        self, counts: Counts, progress: Progress | None = None, workers: int | None = None
    ) -> WordPiece:
        """Return the model with the learned vocabulary; warns when that is poor or too small.

        Raises `TrainingError` when `vocab_size` cannot hold special tokens and alphabet, and
        `CorpusError` when there are no words.
        """
        learned = self.learn_vocabulary(counts, progress, workers)
        for message in _doubts(self, learned):
            warnings.warn(message, TrainingWarning, stacklevel=2)
        return WordPiece(
            vocab=_numbered(learned.entries),
            unk_token=self.unk_token,
            continuing_subword_prefix=self.continuing_subword_prefix,
        )

    def learn_vocabulary(
        self, counts: Counts, progress: Progress | None = None, workers: int | None = None
    ) -> LearnedVocabulary:
        """Return the vocabulary together with every join; "top-down" has none."""
        _refuse_empty(counts)
        learned: LearnedWordPiece = learn_wordpiece(
            counts._raw,
            vocab_size=self.vocab_size,
            score=self.score,
            min_frequency=self.min_frequency,
            limit_alphabet=self.limit_alphabet,
            initial_alphabet=self.initial_alphabet,
            special_tokens=self.special_tokens,
            continuing_subword_prefix=self.continuing_subword_prefix,
            max_token_length=self.max_token_length,
            workers=workers,
            progress=progress,
        )
        joins = tuple(Join(*join) for join in learned.joins)
        return LearnedVocabulary(tuple(learned.vocab), joins, learned.stopped_early)


@dataclass(frozen=True)
class WordTrainer:
    """Take the most frequent words as they are: one entry a word.

    >>> from piecework.train import count_texts
    >>> list(WordTrainer(vocab_size=2).learn(count_texts(["pug hug hug"])).vocab)
    ['[UNK]', 'hug']

    `vocab_size` counts the special tokens; None takes every word of at least `min_frequency`.
    """

    vocab_size: int | None = None
    min_frequency: int = 1
    special_tokens: tuple[str, ...] = ("[UNK]",)
    unk_token: str = "[UNK]"

    def __post_init__(self) -> None:
        _check_simple(self)

    def learn(
        self, counts: Counts, progress: Progress | None = None, workers: int | None = None
    ) -> Word:
        """Return the model; the word with the lower code points wins among equals."""
        _refuse_empty(counts)
        kept = (item for item in counts if item[1] >= self.min_frequency)
        ranked = (word for word, _ in sorted(kept, key=lambda item: (-item[1], item[0])))
        return Word(vocab=_filled(self, ranked), unk_token=self.unk_token)


@dataclass(frozen=True)
class CharTrainer:
    """Take the characters of the corpus as entries, the most frequent first.

    >>> from piecework.train import count_texts
    >>> list(CharTrainer().learn(count_texts(["hug huh"])).vocab)
    ['[UNK]', 'h', 'u', 'g']

    `vocab_size` counts the special tokens; None takes every character of at least `min_frequency`.
    """

    vocab_size: int | None = None
    min_frequency: int = 1
    special_tokens: tuple[str, ...] = ("[UNK]",)
    unk_token: str = "[UNK]"

    def __post_init__(self) -> None:
        _check_simple(self)

    def learn(
        self, counts: Counts, progress: Progress | None = None, workers: int | None = None
    ) -> Char:
        """Return the model; the lower code point wins among equals."""
        _refuse_empty(counts)
        totals = _character_totals(counts)
        ranked = sorted(totals, key=lambda character: (-totals[character], character))
        frequent = (char for char in ranked if totals[char] >= self.min_frequency)
        return Char(vocab=_filled(self, frequent), unk_token=self.unk_token)


Trainer: TypeAlias = WordPieceTrainer | WordTrainer | CharTrainer

TRAINERS: dict[str, type[Trainer]] = {
    "wordpiece": WordPieceTrainer,
    "word": WordTrainer,
    "char": CharTrainer,
}


def trainer_for(model: str, settings: Mapping[str, Any]) -> Trainer:
    """Return the trainer of a model kind with the given settings.

    >>> trainer_for("word", {"vocab_size": 100}).vocab_size
    100

    Raises `ArgumentError` for an unknown model, an unknown setting (listing those that there are) or
    an unusable value.
    """
    checks.one_of("model", model, TRAINERS)
    known = [field.name for field in fields(TRAINERS[model])]
    for name in settings:
        if name not in known:
            expected = f"a setting of model {model!r}: {', '.join(known)}"
            raise ArgumentError(name, "an unknown setting", expected)
    return TRAINERS[model](**settings)


# ---- checks


def _set(trainer: Trainer, name: str, value: object) -> None:
    """Store the checked form of a setting in a frozen dataclass that is being made."""
    object.__setattr__(trainer, name, value)


def _check_special_tokens(trainer: Trainer) -> None:
    checks.text("unk_token", trainer.unk_token)
    tokens = checks.distinct_tokens("special_tokens", trainer.special_tokens, trainer.unk_token)
    _set(trainer, "special_tokens", tokens)


def _check_simple(trainer: WordTrainer | CharTrainer) -> None:
    _check_special_tokens(trainer)
    at_least = len(trainer.special_tokens) + 1
    _set(trainer, "vocab_size", checks.optional_number("vocab_size", trainer.vocab_size, at_least))
    _set(trainer, "min_frequency", checks.whole_number("min_frequency", trainer.min_frequency, 0))


def _refuse_empty(counts: Counts) -> None:
    if not isinstance(counts, Counts):
        raise ArgumentError(
            "counts", type(counts).__name__, "Counts, from count_files or count_texts"
        )
    if len(counts) == 0:
        raise CorpusError("corpus", "no words", "text to learn from")


# ---- vocabularies


def _numbered(entries: tuple[str, ...]) -> dict[str, int]:
    return {entry: number for number, entry in enumerate(entries)}


def _filled(trainer: WordTrainer | CharTrainer, ranked: Any) -> dict[str, int]:
    """Return special tokens, then ranked entries, up to the size asked for."""
    entries = tuple(dict.fromkeys((*trainer.special_tokens, *ranked)))[: trainer.vocab_size]
    if len(entries) == len(trainer.special_tokens):
        found = f"{trainer.min_frequency}, which nothing in the corpus reaches"
        raise TrainingError("min_frequency", found, "a lower one")
    return _numbered(entries)


def _character_totals(counts: Counts) -> dict[str, int]:
    totals: Counter[str] = Counter()
    for word, count in counts:
        for character in word:
            totals[character] += count
    return totals


# ---- doubts about the outcome


def _doubts(trainer: WordPieceTrainer, learned: LearnedVocabulary) -> list[str]:
    """Return what the user should know about a vocabulary that may disappoint."""
    doubts = []
    if learned.stopped_early:
        doubts.append(f"stopped early: {learned.stopped_early}")
    rare = sum(join.pair_count < _RARE_JOIN for join in learned.joins)
    if trainer.score == "pmi" and 2 * rare > len(learned.joins):
        doubts.append(
            f"{rare} of {len(learned.joins)} joins were of pairs seen fewer than {_RARE_JOIN} times: "
            f"pmi with min_frequency={trainer.min_frequency} spends the vocabulary on words that "
            'hardly occur; use score="likelihood" or a higher min_frequency'
        )
    return doubts
