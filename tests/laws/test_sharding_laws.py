"""Counts of shards add up to the counts of the whole corpus, and every trainer learns the same from both."""

from __future__ import annotations

import random
import warnings
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import piecework as pw
from piecework.errors import TrainingError
from piecework.train import Merges, Pipeline, Pruning, TopDown, count_files, count_texts

TRAINERS: dict[str, tuple[str, Any]] = {
    "likelihood": (
        "bert-uncased",
        pw.WordPieceTrainer(vocab_size=60, min_frequency=1, learner=Merges()),
    ),
    "frequency": (
        "bert-uncased",
        pw.WordPieceTrainer(vocab_size=60, min_frequency=1, learner=Merges("frequency")),
    ),
    "pmi": (
        "bert-uncased",
        pw.WordPieceTrainer(
            vocab_size=60, min_frequency=1, learner=Merges("pmi", "smallest-strings")
        ),
    ),
    "top-down": (
        "bert-uncased",
        pw.WordPieceTrainer(vocab_size=60, min_frequency=1, learner=TopDown()),
    ),
    "pruning": (
        "bert-uncased",
        pw.WordPieceTrainer(vocab_size=60, min_frequency=1, learner=Pruning(balance=0.5)),
    ),
    "likelihood-limited-alphabet": (
        "bert-uncased",
        pw.WordPieceTrainer(vocab_size=40, min_frequency=1, limit_alphabet=5, learner=Merges()),
    ),
    "pruning-limited-alphabet": (
        "bert-uncased",
        pw.WordPieceTrainer(vocab_size=40, min_frequency=1, limit_alphabet=5),
    ),
    "bpe": ("whitespace", pw.BPETrainer(vocab_size=40, min_frequency=1)),
    "bpe-greatest-strings": (
        "whitespace",
        pw.BPETrainer(vocab_size=40, min_frequency=1, ties="greatest-strings"),
    ),
    "byte-bpe": ("gpt2", pw.ByteBPETrainer(vocab_size=280, min_frequency=1)),
    "byte-bpe-cl100k": ("cl100k", pw.ByteBPETrainer(vocab_size=280, min_frequency=1)),
    "unigram": ("sentencepiece", pw.UnigramTrainer(vocab_size=24, character_coverage=0.9)),
    "unigram-pruning": ("sentencepiece", pw.UnigramTrainer(vocab_size=24, learner=Pruning())),
    "byte-unigram": ("gpt2", pw.ByteUnigramTrainer(vocab_size=280)),
    "byte-unigram-pruning": ("gpt2", pw.ByteUnigramTrainer(vocab_size=280, learner=Pruning())),
    "word": ("punctuation", pw.train.WordTrainer(vocab_size=9)),
    "char": ("characters", pw.train.CharTrainer(vocab_size=6)),
    "sentencepiece-pruning": (
        "",
        pw.SentencePieceTrainer(vocab_size=14, hard_vocab_limit=False, learner=Pruning()),
    ),
    **{
        f"sentencepiece-{kind}": (
            "",
            pw.SentencePieceTrainer(
                model_type=kind,
                vocab_size=14,
                hard_vocab_limit=False,
                character_coverage=0.95,
                split_by_whitespace=kind != "unigram",
            ),
        )
        for kind in ("unigram", "bpe", "word", "char")
    },
}

LINES = st.lists(
    st.one_of(
        st.text("ab ", max_size=14),
        st.text("abcdeé., ", max_size=20),
        st.sampled_from(
            ["", " ", "  ab", "ab  ", "\t", "a.\t b", "x/", "/x", "the cat sat on a mat"]
        ),
    ),
    min_size=1,
    max_size=14,
)
LINE_ENDS = st.sampled_from(["\n", "\r\n"])

patiently = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def pipeline_of(name: str) -> Pipeline | str:
    preset, trainer = TRAINERS[name]
    return preset or trainer.pipeline


def learned(trainer: Any, counts: pw.Counts) -> object:
    """Return the model that a trainer learns, or the message of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return trainer.learn(counts)
        except TrainingError as error:
            return str(error)


def sharded(items: list[str], shards: int, rng: random.Random) -> list[list[str]]:
    """Distribute items over shards at random."""
    dealt: list[list[str]] = [[] for _ in range(shards)]
    for item in items:
        dealt[rng.randrange(shards)].append(item)
    return dealt


def merged(parts: list[pw.Counts], rng: random.Random) -> pw.Counts:
    """Merge counts two by two, in random order and grouping."""
    parts = list(parts)
    while len(parts) > 1:
        one = parts.pop(rng.randrange(len(parts)))
        two = parts.pop(rng.randrange(len(parts)))
        parts.append(one + two)
    return parts[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINERS)
@given(lines=LINES, shards=st.integers(1, 4), seed=st.integers(0, 2**32))
@patiently
def test_merged_shards_of_texts_learn_what_the_whole_learns(
    name: str, lines: list[str], shards: int, seed: int
) -> None:
    rng = random.Random(seed)
    pipeline = pipeline_of(name)
    whole = count_texts(lines, preset=pipeline)
    dealt = sharded(lines, shards, rng)
    together = merged([count_texts(part, preset=pipeline) for part in dealt], rng)
    assert together == whole
    if len(whole):
        trainer = TRAINERS[name][1]
        assert learned(trainer, together) == learned(trainer, whole)


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINERS)
@given(lines=LINES, end=LINE_ENDS, shards=st.integers(1, 4), seed=st.integers(0, 2**32))
@patiently
def test_merged_shards_of_files_learn_what_the_whole_learns(
    tmp_path: Path, name: str, lines: list[str], end: str, shards: int, seed: int
) -> None:
    rng = random.Random(seed)
    pipeline = pipeline_of(name)
    lines = [line + end for line in lines]
    parts = []
    for number, part in enumerate(sharded(lines, shards, rng)):
        path = tmp_path / f"{number}.txt"
        path.write_bytes("".join(part).encode())
        parts.append(count_files(path, preset=pipeline, num_threads=rng.randint(1, 3)))
    path = tmp_path / "whole.txt"
    path.write_bytes("".join(lines).encode())
    whole = count_files(path, preset=pipeline)
    together = merged(parts, rng)
    assert together == whole
    if len(whole):
        trainer = TRAINERS[name][1]
        assert learned(trainer, together) == learned(trainer, whole)


@given(lines=LINES, shards=st.integers(1, 4), seed=st.integers(0, 2**32))
@settings(max_examples=150)
def test_numbered_shards_keep_the_positions_that_first_seen_needs(
    lines: list[str], shards: int, seed: int
) -> None:
    rng = random.Random(seed)
    edges = sorted(rng.randint(0, len(lines)) for _ in range(shards - 1))
    parts = [
        count_texts(lines[start:stop], source=number)
        for number, (start, stop) in enumerate(zip([0, *edges], [*edges, None], strict=True))
    ]
    whole, together = count_texts(lines), merged(parts, rng)
    assert together == whole
    assert together.words == whole.words
    if len(whole):
        trainer = pw.WordPieceTrainer(vocab_size=60, min_frequency=1, learner=Merges("pmi"))
        assert learned(trainer, together) == learned(trainer, whole)


def test_the_grouping_of_merges_changes_nothing() -> None:
    parts = [count_texts([text]) for text in ("hug pug", "pug bug", "hug", "mug hug")]
    left = reduce(pw.Counts.merge, parts)
    right = reduce(lambda one, two: two.merge(one), reversed(parts))
    assert left == right == count_texts(["hug pug pug bug hug mug hug"])
