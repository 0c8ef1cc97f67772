"""Weights of sources that even out the tokens of their parallel texts."""

from __future__ import annotations

import random
import warnings
from fractions import Fraction
from typing import Any

import pytest

import piecework as pw
from piecework.analysis.metrics import gini
from piecework.errors import ArgumentError
from piecework.train import (
    ByteBPETrainer,
    Counts,
    Pruning,
    SentencePieceTrainer,
    SourceCounts,
    Trainer,
    UnigramTrainer,
    WordPieceTrainer,
    balance_sources,
    learn_spec,
)

pytestmark = pytest.mark.filterwarnings("ignore::piecework.errors.TrainingWarning")

TRAINERS: dict[str, Trainer] = {
    "unigram": UnigramTrainer(vocab_size=300),
    "pruning": WordPieceTrainer(vocab_size=300, learner=Pruning()),
    "byte-bpe": ByteBPETrainer(vocab_size=500),
}
PRESETS = {"unigram": "sentencepiece", "pruning": "whitespace", "byte-bpe": "gpt2"}


def language(letters: str, seed: int) -> list[str]:
    """Return texts of made-up words, frequent and rare ones."""
    draw = random.Random(seed)
    words = ["".join(draw.choices(letters, k=draw.randint(3, 8))) for _ in range(300)]
    shares = [1 / rank for rank in range(1, len(words) + 1)]
    return [" ".join(draw.choices(words, shares, k=8)) for _ in range(240)]


MUCH, LITTLE = language("abdegiklmnorst", 1), language("αβγδεικλμνορστ", 2)


def counts_of(preset: str, shards: int = 1) -> SourceCounts:
    def counted(texts: list[str]) -> Counts:
        parts = [
            pw.count_texts(texts[part::shards], preset=preset, source=part)
            for part in range(shards)
        ]
        return sum(parts[1:], parts[0])

    return SourceCounts(
        {"much": counted(MUCH[40:]), "little": counted(LITTLE[220:])},
        parallel={"much": counted(MUCH[:40]), "little": counted(LITTLE[:40])},
    )


@pytest.mark.parametrize("kind", list(TRAINERS))
def test_costs_even_out(kind: str) -> None:
    balanced = balance_sources(counts_of(PRESETS[kind]), TRAINERS[kind])
    assert balanced.first_gini > 0.05
    assert balanced.gini < balanced.first_gini / 3
    assert balanced.weights["much"] < 1 < balanced.weights["little"]


@pytest.mark.parametrize("kind", list(TRAINERS))
def test_the_result_is_that_of_a_plain_loop(kind: str) -> None:
    counts, trainer = counts_of(PRESETS[kind]), TRAINERS[kind]
    expected = naively(counts, trainer, PRESETS[kind], rounds=4)
    found = balance_sources(counts, trainer, rounds=4)
    assert (dict(found.weights), dict(found.costs), dict(found.counts)) == expected


def naively(
    counts: SourceCounts, trainer: Trainer, preset: str, rounds: int
) -> tuple[dict[str, Fraction], dict[str, int], dict[str, int]]:
    """Weigh, learn and encode with public functions; return weights, costs and counts of the best round."""
    weights = {name: Fraction(1) for name in counts.sources}
    results = []
    for _ in range(rounds + 1):
        sums: dict[str, Fraction] = {}
        for name, of_source in counts.sources.items():
            for word, count in of_source:
                sums[word] = sums.get(word, Fraction(0)) + weights[name] * count
        rounded = {word: int(total + Fraction(1, 2)) for word, total in sums.items()}
        rounded = {word: count for word, count in rounded.items() if count}
        weighted = Counts(list(rounded), list(rounded.values()), pipeline=counts.pipeline)
        spec = learn_spec(weighted, trainer, preset)
        model = pw.Tokenizer.from_spec(pw.TokenizerSpec(spec.model))
        costs = {
            name: sum(count * len(model.encode(word).ids) for word, count in text)
            for name, text in counts.parallel.items()
        }
        results.append((gini(list(costs.values())), weights, costs, rounded))
        mean = Fraction(sum(costs.values()), len(costs))
        raised = {name: weights[name] * (costs[name] / mean) ** 4 for name in costs}
        total = sum(of_source.total for of_source in counts.sources.values())
        now = sum(raised[name] * counts.sources[name].total for name in raised)
        weights = {
            name: Fraction(round(weight * total / now * 2**20), 2**20)
            for name, weight in raised.items()
        }
    _, weights, costs, rounded = min(results, key=lambda result: result[0])
    return weights, costs, rounded


def test_the_weights_do_not_depend_on_threads_or_shards() -> None:
    trainer = TRAINERS["pruning"]
    expected = balance_sources(counts_of("whitespace"), trainer, rounds=2, num_threads=1)
    assert balance_sources(counts_of("whitespace"), trainer, rounds=2, num_threads=5) == expected
    assert balance_sources(counts_of("whitespace", shards=3), trainer, rounds=2) == expected


@pytest.mark.parametrize(
    ("counts", "trainer", "message"),
    [
        (counts_of("whitespace").merged(), TRAINERS["pruning"], "need sources and a parallel text"),
        (
            SourceCounts(counts_of("whitespace").sources),
            TRAINERS["pruning"],
            "need sources and a parallel text",
        ),
        (counts_of("gpt2"), ByteBPETrainer(parity=True), "evens out costs by itself"),
        (counts_of("whitespace"), SentencePieceTrainer(), "segments whole texts"),
    ],
)
def test_wrong_uses_say_what_to_do(counts: Any, trainer: Trainer, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        balance_sources(counts, trainer)


def test_rounds_are_counted_from_one() -> None:
    with pytest.raises(ArgumentError, match="rounds"):
        balance_sources(counts_of("whitespace"), TRAINERS["pruning"], rounds=0)


def test_progress_receives_rounds() -> None:
    seen: list[tuple[int, int]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        balance_sources(
            counts_of("whitespace"),
            TRAINERS["pruning"],
            rounds=2,
            progress=lambda done, total: seen.append((done, total)),
        )
    assert seen[-1] == (3, 3)
