"""A mapping of words to numbers is word counts, wherever word counts can be meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import piecework as pw
from piecework.errors import ArgumentError, InputTypeError

WORDS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
COUNTS = pw.Counts(list(WORDS), list(WORDS.values()))
SMALL = {"special_tokens": ("[UNK]",), "vocab_size": 20, "min_frequency": 1}
TOK = pw.Tokenizer.train_from_counts(COUNTS, **SMALL)

TRAINERS = (
    pw.WordPieceTrainer(vocab_size=24),
    pw.WordPieceTrainer(vocab_size=24, learner=pw.train.Merges()),
    pw.BPETrainer(vocab_size=11),
    pw.ByteBPETrainer(vocab_size=260),
    pw.UnigramTrainer(vocab_size=14),
    pw.ByteUnigramTrainer(vocab_size=260),
    pw.SentencePieceTrainer(vocab_size=13),
    pw.WordTrainer(),
    pw.CharTrainer(),
)
CALLS: dict[str, Callable[[Any], object]] = {
    "train_from_iterator": lambda words: pw.Tokenizer.train_from_iterator(words, **SMALL),
    "train_from_counts": lambda words: pw.Tokenizer.train_from_counts(words, **SMALL),
    "explain_training": lambda words: pw.analysis.explain_training(
        words, pw.BPETrainer(vocab_size=11)
    ),
    "learn_spec": lambda words: pw.train.learn_spec(words, pw.BPETrainer(vocab_size=11)),
    "learn_specs": lambda words: pw.train.learn_specs(words, pw.WordTrainer(), [3, 4]),
    "estimated_memory": lambda words: pw.train.estimated_memory(words, pw.WordTrainer()),
    "fit_to_memory": lambda words: pw.train.fit_to_memory(words, pw.WordTrainer(), "1GB"),
    "SourceCounts": lambda words: pw.train.SourceCounts({"en": words, "cs": {"ahoj": 2}}),
}


def test_counts_are_made_of_a_mapping() -> None:
    assert pw.Counts(WORDS) == COUNTS == pw.Counts(Counter(WORDS))
    assert pw.Counts(WORDS).words == list(WORDS)
    assert dict(pw.Counts(WORDS)) == WORDS
    assert not pw.Counts({})


@pytest.mark.filterwarnings("ignore::piecework.errors.TrainingWarning")
@pytest.mark.parametrize("name", CALLS)
def test_a_mapping_gives_what_its_counts_give(name: str) -> None:
    of_counts = CALLS["train_from_counts" if name == "train_from_iterator" else name]
    for words in (WORDS, Counter(WORDS), dict(reversed(WORDS.items()))):
        assert CALLS[name](words) == of_counts(pw.Counts(list(words), list(words.values())))


@pytest.mark.filterwarnings("ignore::piecework.errors.TrainingWarning")
@pytest.mark.parametrize("trainer", TRAINERS, ids=lambda one: f"{one.kind} {one.detail}".strip())
def test_every_trainer_learns_from_a_mapping(trainer: pw.train.Trainer) -> None:
    assert trainer.learn(WORDS) == trainer.learn(COUNTS)
    if hasattr(trainer, "learn_vocabulary"):
        assert trainer.learn_vocabulary(WORDS) == trainer.learn_vocabulary(COUNTS)


@pytest.mark.filterwarnings("ignore::piecework.errors.TrainingWarning")
def test_vocabularies_change_by_a_mapping() -> None:
    words = {"shrug": 9, "hugs": 3}
    counts = pw.Counts(words)
    for change in (
        lambda corpus: pw.vocabulary.extend(TOK, corpus, 2)[0],
        lambda corpus: pw.vocabulary.to_unigram(TOK, corpus)[0],
    ):
        assert change(words) == change(counts)
    assert "shrug" in TOK.train_new_from_iterator(words, 12, min_frequency=1).get_vocab()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            {"en": ["hug"], "de": ["arm", "bein"]},
            r"\['en'\]: must be int, the count of a word, not list",
        ),
        ({"hug": 1.5}, r"\['hug'\]: must be int, .* not float"),
        ({"hug": True}, r"\['hug'\]: must be int, .* not bool"),
        ({"hug": "3"}, r"\['hug'\]: must be int, .* not str"),
        ({"hug": -1}, "counts: must not be negative"),
        ({"": 1}, r"words\[0\]: must be a non-empty string"),
        ({1: 1}, r"words\[0\]: must be a non-empty string"),
    ],
)
def test_invalid_word_counts_are_named(words: dict[Any, Any], message: str) -> None:
    for call in (pw.Counts, CALLS["train_from_iterator"], CALLS["explain_training"]):
        with pytest.raises(ArgumentError, match=message):
            call(words)


def test_counts_come_from_one_argument() -> None:
    with pytest.raises(ArgumentError, match="counts: cannot be combined with a mapping"):
        pw.Counts(WORDS, [1, 2, 3, 4, 5])
    with pytest.raises(InputTypeError, match="counts: must be numbers, one for each word"):
        pw.Counts(["hug"])


@pytest.mark.parametrize(
    "call",
    [
        pw.count_texts,
        lambda words: pw.analysis.compare({"a": TOK}, {"en": words}),
        lambda words: pw.analysis.token_counts(TOK, words),
        TOK.encode_batch,
        TOK.count_batch,
    ],
)
def test_texts_that_are_a_mapping_are_refused(call: Callable[[Any], object]) -> None:
    for words in (WORDS, Counter(WORDS)):
        with pytest.raises(InputTypeError, match=f"not {type(words).__name__}"):
            call(words)


def test_count_texts_names_counts_for_a_mapping() -> None:
    with pytest.raises(InputTypeError, match=r"word counts are piecework\.Counts\(texts\)"):
        pw.count_texts(WORDS)  # type: ignore[arg-type]


def test_named_sources_stay_named_sources() -> None:
    found = pw.analysis.compare({"a": TOK}, {"one": ["hug pug"], "two": ["bun"]})
    assert [source.name for source in found.sources] == ["one", "two"]
