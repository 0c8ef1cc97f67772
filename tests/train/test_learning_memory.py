"""Learning stays below its estimate, drops rare words by a stated rule, and fails with an error."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import piecework as pw
from piecework.errors import MemoryLimitError, TrainingWarning
from piecework.train import (
    BPETrainer,
    Merges,
    Pruning,
    Trainer,
    UnigramTrainer,
    WordPieceTrainer,
    estimated_memory,
    fit_to_memory,
)
from tests.processes import LINUX

# Makes counts of the first words of a file, as many as in a corpus.
MAKE_COUNTS = """
import sys
import numpy as np
import piecework as pw
from piecework.train import *

def make_counts(number):
    words = open(sys.argv[1]).read().split()[:number]
    ranks = np.arange(number, dtype=np.uint64)
    return pw.Counts(words, 1 + 20 * number // (ranks + 20), first=ranks)

def for_trainer(counts, trainer):
    if not trainer.learns_by_source:
        return counts
    halves = [pw.Counts(counts.words[part::2], counts.counts[part::2]) for part in (0, 1)]
    return SourceCounts(dict(zip("ab", halves)))
"""

MEASURE = (
    MAKE_COUNTS
    + """
import ctypes, gc

def status(name):
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(name)).split()[1])

trainer = eval(sys.argv[2])
counts = for_trainer(make_counts(400_000), trainer)
gc.collect()
if hasattr(ctypes.CDLL(None), "malloc_trim"):
    ctypes.CDLL(None).malloc_trim(0)  # otherwise learning uses what making the counts has freed
before = status("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
trainer.learn(counts)
print(status("VmHWM") - before, estimated_memory(counts, trainer))
"""
)

LIMITED = (
    MAKE_COUNTS
    + """
import resource, warnings
warnings.simplefilter("ignore")
trainer = eval(sys.argv[2])
counts = for_trainer(make_counts(300_000), trainer)
pages = int(open("/proc/self/statm").read().split()[0])
used = pages * resource.getpagesize()
limit = used + int(float(sys.argv[3]) * 1e6)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    preset = None if isinstance(trainer, pw.SentencePieceTrainer) else "whitespace"
    learn_spec(counts, trainer, preset, memory="64GB", num_threads=1)
except pw.errors.MemoryLimitError as error:
    print("MemoryLimitError", error)
else:
    print("learned")
"""
)

TRAINERS = [
    "WordPieceTrainer(vocab_size=20_000)",
    "WordPieceTrainer(vocab_size=20_000, learner=Pruning(balance=2.0))",
    "WordPieceTrainer(vocab_size=20_000, learner=Merges())",
    'WordPieceTrainer(vocab_size=20_000, learner=Merges("frequency"))',
    'WordPieceTrainer(vocab_size=20_000, learner=Merges("pmi"), min_frequency=50)',
    "WordPieceTrainer(vocab_size=20_000, learner=TopDown())",
    "BPETrainer(vocab_size=20_000)",
    "UnigramTrainer(vocab_size=8_000)",
    "UnigramTrainer(vocab_size=8_000, learner=Pruning())",
    "SentencePieceTrainer(vocab_size=8_000, learner=Pruning())",
    'BPETrainer(vocab_size=20_000, parity=True, parity_unit="bytes")',
]


@pytest.fixture(scope="module")
def words_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write 400,000 distinct words of 4 million characters."""
    draw = random.Random(3)
    heads = ["".join(draw.choices("etaoinshrdlu", k=draw.randint(2, 6))) for _ in range(3000)]
    words: dict[str, None] = {}
    while len(words) < 400_000:
        word = heads[int(3000 * draw.random() ** 2)] + heads[int(3000 * draw.random() ** 2)]
        words[word + draw.choice(["", "s", "ed", "ing", "ment"])] = None
    path = tmp_path_factory.mktemp("words") / "words.txt"
    path.write_text("\n".join(words))
    return path


def run(script: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("trainer", TRAINERS)
def test_the_estimate_is_an_upper_bound_near_the_peak(words_file: Path, trainer: str) -> None:
    done = run(MEASURE, words_file, trainer)
    assert done.returncode == 0, done.stderr
    peak, estimate = map(int, done.stdout.split())
    assert peak <= estimate <= 2.5 * peak + 20_000_000


@LINUX
@pytest.mark.parametrize("megabytes", ["1", "8", "20", "40", "80"])
@pytest.mark.parametrize("trainer", TRAINERS[:1] + TRAINERS[2:3] + TRAINERS[5:])
def test_too_small_an_address_space_is_an_error_and_no_abort(
    words_file: Path, trainer: str, megabytes: str
) -> None:
    done = run(LIMITED, words_file, trainer, megabytes)
    assert done.returncode == 0, (done.returncode, done.stderr[-500:])
    assert done.stdout.startswith(("MemoryLimitError", "learned"))
    if megabytes == "1":
        assert done.stdout.startswith("MemoryLimitError")


def many_words(number: int = 20_000) -> pw.Counts:
    words = [f"word{index}with{index % 7}letters" * 12 for index in range(number)]
    return pw.Counts(words, [1 + index % 5 for index in range(number)])


TRAINER = WordPieceTrainer(vocab_size=400, learner=Merges())


def within(budget: int, counts: pw.Counts, trainer: Trainer = TRAINER) -> tuple[Any, Any]:
    """Fit counts to a budget below the least that the public functions accept."""
    from piecework.train import learn as memory

    original = memory.memory_budget
    memory.memory_budget = lambda _: budget  # type: ignore[assignment]
    try:
        return fit_to_memory(counts, trainer)
    finally:
        memory.memory_budget = original


def test_rare_words_are_dropped_by_the_smallest_count_that_fits() -> None:
    counts = many_words()
    needed = estimated_memory(counts, TRAINER)
    assert within(needed, counts) == (counts, None)
    with pytest.warns(
        TrainingWarning, match="occur less than 3 times were dropped: 8,000 of 20,000"
    ):
        kept, dropped = within(int(0.9 * needed), counts)
    assert dropped is not None
    assert kept.counts.min() == dropped.min_count == 3
    assert len(kept) == 20_000 - dropped.words
    assert kept.total == counts.total - dropped.occurrences
    assert kept == pw.Counts(*zip(*((w, c) for w, c in counts if c >= 3), strict=True))


def test_a_budget_that_no_choice_of_words_meets_is_an_error() -> None:
    with pytest.raises(
        MemoryLimitError,
        match="memory: allows 1 MB, but learning takes about .* MB; allow at least .* MB, or a",
    ):
        within(1_000_000, many_words(100))


def test_the_budget_is_an_argument_of_every_way_to_train(tmp_path: Path) -> None:
    texts = ["hug hugs pug"] * 5
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(texts))
    counts = pw.count_texts(texts)
    for memory in ("128MB", 10**9, None):
        one = pw.Tokenizer.train(corpus, vocab_size=30, memory=memory)
        two = pw.Tokenizer.train_from_iterator(texts, vocab_size=30, memory=memory)
        three = pw.Tokenizer.train_from_counts(counts, vocab_size=30, memory=memory)
        assert one == two == three
    with pytest.raises(pw.errors.ArgumentError, match="128MB"):
        pw.Tokenizer.train(corpus, vocab_size=30, memory="1MB")


# ---- counts beyond 32 bits

LEARNERS = dict.fromkeys(
    [*map(Merges, Merges.SCORES), *(kind() for kind in pw.train.LEARNERS.values())]
)


@pytest.mark.parametrize(
    "trainer",
    [
        *(WordPieceTrainer(vocab_size=30, learner=learner) for learner in LEARNERS),
        BPETrainer(vocab_size=30),
        UnigramTrainer(vocab_size=20),
        UnigramTrainer(vocab_size=20, learner=Pruning()),
    ],
    ids=lambda trainer: f"{trainer.kind} {getattr(trainer, 'learner', '')}",
)
def test_counts_beyond_32_bits_scale_like_small_ones(trainer: Any) -> None:
    words = ["hug", "hugs", "bug", "bugs", "pug", "pun", "gnu"]
    small = [9, 7, 6, 5, 4, 3, 2]
    factor = 2**36
    first = list(range(len(words)))
    one = pw.Counts(words, small, first=first)
    two = pw.Counts(words, [factor * count for count in small], first=first)
    if isinstance(trainer, UnigramTrainer):
        learned = trainer.learn_pieces(two, num_threads=1)
        assert learned == trainer.learn_pieces(two, num_threads=3)
        assert len(learned.pieces) == 20
        assert all(step.log_likelihood < -float(2**36) for step in learned.steps)
        return
    a, b = trainer.learn_vocabulary(one), trainer.learn_vocabulary(two)
    if a.merges:
        shared = len(a.merges)
        assert [m.token for m in b.merges[:shared]] == [m.token for m in a.merges]
        assert [m.pair_count for m in b.merges[:shared]] == [
            factor * m.pair_count for m in a.merges
        ]
