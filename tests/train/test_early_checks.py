"""What no corpus can make right is refused before a file is opened or an iterator is read."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.errors import ArgumentError, TrainingError
from piecework.train import (
    BPETrainer,
    ByteBPETrainer,
    ByteUnigramTrainer,
    CharTrainer,
    Merges,
    SentencePieceTrainer,
    SourceCounts,
    Trainer,
    UnigramTrainer,
    WordPieceTrainer,
    count_sources,
    learn_spec,
)
from piecework.train.source_balance import weighted_sum

FILES = ["missing-en.txt", "missing-cs.txt"]
SEEDS = "missing-seeds.tsv"


def never() -> Iterator[str]:
    raise AssertionError("a text was read")
    yield ""


WRONG: list[tuple[Trainer, str]] = [
    (ByteBPETrainer(vocab_size=200), r"vocab_size: must be at least 257 \(1 reserved entry and an alp"),
    (BPETrainer(vocab_size=1), r"vocab_size: must be more than 1 \(the reserved entries, which an alph"),
    (
        BPETrainer(vocab_size=3, initial_alphabet=tuple("abc")),
        r"at least 4 \(1 reserved entry and an alphabet of 3\)",
    ),
    (WordPieceTrainer(vocab_size=5), r"more than 5 \(the reserved entries, which an alphabet follows\)"),
    (ByteUnigramTrainer(vocab_size=256), "vocab_size: must be at least 257"),
    (UnigramTrainer(vocab_size=200, byte_fallback=True), "vocab_size: must be more than 259"),
    (UnigramTrainer(vocab_size=5, user_defined_symbols=("<a>", "<b>", "<c>")), "more than 6"),
    (WordPieceTrainer(special_tokens=()), "special_tokens: must contain the unknown token"),
]  # fmt: skip


@pytest.mark.parametrize(("trainer", "message"), WRONG)
def test_sizes_that_no_corpus_has_are_refused(trainer: Trainer, message: str) -> None:
    for train in (pw.Tokenizer.train, pw.Tokenizer.train_from_iterator):
        texts: Any = FILES if train == pw.Tokenizer.train else never()
        with pytest.raises((ArgumentError, TrainingError), match=message):
            train(texts, trainer)


@pytest.mark.parametrize("trainer", [BPETrainer(parity=True), ByteBPETrainer(parity=True)])
def test_parity_needs_sources_that_can_be_compared(trainer: BPETrainer | ByteBPETrainer) -> None:
    with pytest.raises(ArgumentError, match="parity: needs a parallel text for each file: pass"):
        pw.Tokenizer.train(FILES, trainer)
    by_words = replace(trainer, parity_unit="words")
    for files in (FILES[0], FILES[:1], FILES[:1] * 2):
        with pytest.raises(ArgumentError, match="parity: needs sources, and there is one file"):
            pw.Tokenizer.train(files, by_words)
    with pytest.raises(ArgumentError, match="parity: needs sources, and an iterator has none"):
        pw.Tokenizer.train_from_iterator(never(), by_words)
    with pytest.raises(pw.errors.FileError):
        pw.Tokenizer.train(FILES, by_words)


def test_sources_and_their_parallel_texts_are_compared_before_they_are_counted() -> None:
    en, cs = {"en": FILES[0]}, {"cs": FILES[1]}
    with pytest.raises(
        ArgumentError, match="sources: has 1: with one source, train without parity"
    ):
        count_sources(en)
    with pytest.raises(
        ArgumentError, match="parallel: has no text for cs; give one for each of en, cs"
    ):
        count_sources({**en, **cs}, parallel=en)
    with pytest.raises(ArgumentError, match="parallel: has the text of no source: de; give one"):
        count_sources({**en, **cs}, parallel={**en, **cs, "de": "missing-de.txt"})


def test_seeds_and_budgets_are_read_first() -> None:
    trainer = SentencePieceTrainer(seed_sentencepieces_file=SEEDS)
    with pytest.raises(pw.errors.FileError, match=SEEDS):
        pw.Tokenizer.train(FILES, trainer)
    with pytest.raises(ArgumentError, match="memory: must be a size such as 512MB"):
        pw.Tokenizer.train(FILES, memory="much")


def test_a_preset_is_compared_with_the_counts_before_rare_words_are_dropped() -> None:
    counts = pw.count_texts(["hug pug"], preset="gpt2")
    with pytest.raises(
        ArgumentError, match="preset: 'whitespace' does not fit counts of preset 'gpt2'"
    ):
        learn_spec(counts, WordPieceTrainer(), "whitespace", memory="128MB")


@pytest.mark.parametrize(
    ("trainer", "name"),
    [
        (BPETrainer(ties="first-seen"), "ties"),
        (ByteBPETrainer(ties="first-seen"), "ties"),
        (WordPieceTrainer(learner=Merges("pmi", ties="first-seen")), "ties"),
        (WordPieceTrainer(learner=Merges("pmi")), "ties"),
        (WordPieceTrainer(alphabet_order="first-seen"), "alphabet_order"),
        (WordPieceTrainer(), None),
        (CharTrainer(), None),
    ],
)
def test_a_trainer_says_whether_it_needs_positions(trainer: Trainer, name: str | None) -> None:
    assert trainer.needs_positions == name
    sources = SourceCounts({"en": pw.Counts(["hug"], [9]), "cs": pw.Counts(["pug"], [8])})
    words = weighted_sum(sources, dict.fromkeys(sources.sources, Fraction(1)))
    if name is None:
        trainer.learn(words)
        return
    with pytest.raises(ArgumentError, match=name):
        trainer.learn(words)


@pytest.mark.parametrize("trainer", [CharTrainer(), UnigramTrainer(vocab_size=4)])
def test_settings_that_fit_some_corpus_are_not_rejected_early(trainer: Trainer) -> None:
    trainer.check_before_counting()
    assert pw.Tokenizer.train_from_iterator(["a"] * 9, trainer, preset="characters")


def test_a_special_token_can_be_the_alphabet() -> None:
    trainer = BPETrainer(vocab_size=2, special_tokens=("a",))
    assert pw.Tokenizer.train_from_iterator(["aa"], trainer, preset="whitespace").get_vocab() == {
        "a": 0,
        "<unk>": 1,
    }


TEXTS = ["hug pug hug"]
TRAININGS = {
    "train_from_iterator": partial(pw.Tokenizer.train_from_iterator, TEXTS),
    "train_from_counts": partial(pw.Tokenizer.train_from_counts, {"hug": 2}),
    "count_texts": partial(pw.count_texts, TEXTS),
}
OPTIONS = ("model", "preset", "num_threads", "progress", "memory", "checkpoint")
WRONG: tuple[Any, ...] = (5, -1, 1.5, "x", b"x", [], {}, object(), True, ("a",), math.nan)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TRAININGS)
@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: type(value).__name__)
def test_a_wrong_value_of_any_option_is_an_error_with_a_place(
    name: str, wrong: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # "x" is a folder for checkpoints
    shown = inspect.signature(pw.count_texts).parameters.values()
    settings = [one.name for one in shown if one.kind is one.KEYWORD_ONLY]
    places = []
    for option in settings if name == "count_texts" else OPTIONS:
        try:
            TRAININGS[name](**{option: wrong})
        except pw.PieceworkError as error:
            places.append(error.place)
    assert all(places)
