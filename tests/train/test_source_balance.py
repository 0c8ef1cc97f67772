"""Weights of sources that even out the tokens of their parallel texts."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import pytest

import piecework as pw
from piecework.analysis.metrics import gini
from piecework.errors import ArgumentError, FormatError
from piecework.train import (
    ByteBPETrainer,
    CharTrainer,
    Counts,
    Pipeline,
    Pruning,
    SentencePieceTrainer,
    SourceCounts,
    Trainer,
    UnigramTrainer,
    WordLevelTrainer,
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
SENTENCEPIECE = {
    "unigram": SentencePieceTrainer(vocab_size=300),
    "bpe": SentencePieceTrainer(model_type="bpe", vocab_size=300),
    "superwords": SentencePieceTrainer(model_type="bpe", vocab_size=300, transition=200),
    "suffixes": SentencePieceTrainer(vocab_size=300, treat_whitespace_as_suffix=True),
    "bytes": SentencePieceTrainer(
        model_type="bpe", vocab_size=400, byte_fallback=True, character_coverage=0.95
    ),
    "char": SentencePieceTrainer(model_type="char", vocab_size=40),
}


def language(letters: str, seed: int) -> list[str]:
    """Return texts of made-up words, frequent and rare ones."""
    draw = random.Random(seed)
    words = ["".join(draw.choices(letters, k=draw.randint(3, 8))) for _ in range(300)]
    shares = [1 / rank for rank in range(1, len(words) + 1)]
    return [" ".join(draw.choices(words, shares, k=8)) for _ in range(240)]


MUCH, LITTLE = language("abdegiklmnorst", 1), language("αβγδεικλμνορστ", 2)


def counts_of(preset: str | Pipeline, shards: int = 1) -> SourceCounts:
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
def test_the_result_equals_that_of_a_plain_loop(kind: str) -> None:
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


@pytest.mark.parametrize("trainer", SENTENCEPIECE.values(), ids=SENTENCEPIECE)
def test_costs_equal_those_of_whole_texts(trainer: SentencePieceTrainer) -> None:
    balanced = balance_sources(counts_of(trainer.pipeline), trainer, rounds=2)
    tok = pw.Tokenizer.train_from_counts(balanced.counts, trainer)
    for name, texts in (("much", MUCH[:40]), ("little", LITTLE[:40])):
        assert balanced.costs[name] == sum(map(len, tok.encode_batch(texts)))


def test_the_weights_do_not_depend_on_threads_or_shards() -> None:
    trainer = TRAINERS["pruning"]
    expected = balance_sources(counts_of("whitespace"), trainer, rounds=2, num_threads=1)
    assert balance_sources(counts_of("whitespace"), trainer, rounds=2, num_threads=5) == expected
    assert balance_sources(counts_of("whitespace", shards=3), trainer, rounds=2) == expected


# ---- checkpoints


@dataclass(frozen=True)
class Stopping(UnigramTrainer):
    """Stops before one of its runs, as Ctrl-C does, and counts them."""

    stop: ClassVar[int] = -1
    runs: ClassVar[int] = 0

    def learn(self, *arguments: Any, **options: Any) -> Any:
        if Stopping.runs == Stopping.stop:
            raise KeyboardInterrupt
        Stopping.runs += 1
        return super().learn(*arguments, **options)


@pytest.fixture
def stopping() -> Iterator[Stopping]:
    yield Stopping(vocab_size=300)
    Stopping.stop, Stopping.runs = -1, 0


@pytest.mark.parametrize("stop", range(5))
def test_rounds_continue_after_an_interruption(
    stopping: Stopping, tmp_path: Path, stop: int
) -> None:
    counts = counts_of("sentencepiece")
    expected = balance_sources(counts, TRAINERS["unigram"], rounds=3)
    Stopping.stop = stop
    if stop < 4:
        with pytest.raises(KeyboardInterrupt):
            balance_sources(counts, stopping, rounds=3, checkpoint=tmp_path)
        Stopping.stop = -1
    assert balance_sources(counts, stopping, rounds=3, checkpoint=tmp_path) == expected
    assert Stopping.runs == 4
    assert list(tmp_path.iterdir()) == []


def test_a_kept_checkpoint_serves_other_numbers_of_rounds(
    stopping: Stopping, tmp_path: Path
) -> None:
    counts = counts_of("sentencepiece")
    for rounds, runs in ((2, 3), (4, 5), (1, 5)):
        found = balance_sources(
            counts, stopping, rounds=rounds, checkpoint=tmp_path, keep_checkpoint=True
        )
        assert found == balance_sources(counts, TRAINERS["unigram"], rounds=rounds)
        assert Stopping.runs == runs


def test_checkpoints_of_other_runs_are_refused(tmp_path: Path) -> None:
    trainer = UnigramTrainer(vocab_size=300)
    options: Any = {"rounds": 1, "checkpoint": tmp_path, "keep_checkpoint": True}
    balance_sources(counts_of("sentencepiece"), trainer, **options)
    (file,) = tmp_path.iterdir()
    swapped = SourceCounts(
        dict(reversed(counts_of("sentencepiece").sources.items())),
        parallel=counts_of("sentencepiece").parallel,
    )
    with pytest.raises(ArgumentError, match="use the same counts and settings"):
        balance_sources(swapped, trainer, **options)
    with pytest.raises(
        ArgumentError, match=r"has num_sub_iterations=2, and this run num_sub_iterations=3"
    ):
        balance_sources(
            counts_of("sentencepiece"), replace(trainer, num_sub_iterations=3), **options
        )
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(FormatError, match="damaged checkpoint"):
        balance_sources(counts_of("sentencepiece"), trainer, **options)


@pytest.mark.parametrize("trainer", [CharTrainer(), WordLevelTrainer(vocab_size=200)])
def test_models_that_rank_units_have_checkpoints_of_rounds(
    trainer: Trainer, tmp_path: Path
) -> None:
    counts = counts_of("whitespace")
    options: Any = {"rounds": 1, "checkpoint": tmp_path, "keep_checkpoint": True}
    first = balance_sources(counts, trainer, **options)
    assert balance_sources(counts, trainer, **options) == first
    assert len(list(tmp_path.iterdir())) == 1


# ---- wrong uses


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
