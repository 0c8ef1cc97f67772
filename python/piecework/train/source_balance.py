"""Weigh sources, round by round, until the tokens of their parallel texts even out: for every learner.

Parity-aware BPE chooses each merge for the source with the highest cost. Pruning, Unigram and the other
learners have no such steps, but all learn from counts, and a source with a higher weight gets more entries.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from piecework._internal.progress import progress_bar
from piecework._internal.types import Progress
from piecework._internal.validation import PathLike, file_path, whole_number
from piecework.errors import ArgumentError
from piecework.train.checkpoints import CheckpointFile
from piecework.train.counts import Counts
from piecework.train.learn import fit_to_memory
from piecework.train.source_costs import gini as gini_of
from piecework.train.source_costs import tokens_of_texts
from piecework.train.source_counts import SourceCounts
from piecework.train.trainer import Trainer

# Weights grow with this power of the cost, so that some rounds suffice; more of it oscillates.
_EXPONENT = 4
_DENOMINATOR = 1 << 20
_LARGEST = 1 << 44  # a weight of 2**24


@dataclass(frozen=True)
class BalancedCounts:
    """Counts of weighted sources, and how much each source then costs.

    >>> from piecework.train import WordPieceTrainer, count_texts
    >>> counted = {name: count_texts([name * 9], preset="whitespace") for name in ("hug", "pun")}
    >>> counts = SourceCounts(counted, parallel=counted)
    >>> balance_sources(counts, WordPieceTrainer(17), rounds=1).weights
    {'hug': Fraction(1, 1), 'pun': Fraction(1, 1)}

    `counts` is the sum of the sources multiplied by `weights`; `costs` has the tokens of each parallel text
    under the vocabulary that was learned from it, and `gini` is their Gini coefficient. `first_costs` and
    `first_gini` are those of equal weights.
    """

    counts: Counts
    weights: Mapping[str, Fraction]
    costs: Mapping[str, int]
    gini: float
    first_gini: float
    first_costs: Mapping[str, int]


@dataclass(frozen=True)
class _Round:
    """The weights of a round, and the tokens of each parallel text under what was learned with them."""

    weights: Mapping[str, Fraction]
    costs: Mapping[str, int]

    def gini(self) -> Fraction:
        return gini_of(list(self.costs.values()))


def balance_sources(
    counts: SourceCounts,
    trainer: Trainer,
    *,
    rounds: int = 8,
    progress: Progress = None,
    num_threads: int | None = None,
    memory: int | str | None = None,
    checkpoint: PathLike | None = None,
    keep_checkpoint: bool = False,
) -> BalancedCounts:
    """Return the weighted sum of sources with which the tokens of their parallel texts are most even.

    >>> from piecework.train import WordPieceTrainer, count_texts
    >>> texts = {"en": ["hug pug bug"] * 50, "cs": ["kočka leze dírou"] * 5}
    >>> counted = {name: count_texts(lines, preset="whitespace") for name, lines in texts.items()}
    >>> counts = SourceCounts(counted, parallel=counted)
    >>> balanced = balance_sources(counts, WordPieceTrainer(37), rounds=2)
    >>> balanced.gini <= balanced.first_gini
    True

    Each round learns a vocabulary from the weighted sum and multiplies the weight of each source by the
    fourth power of its cost / the mean cost. The cost is the number of tokens of the parallel text. The
    result is that of the round with the lowest Gini coefficient; the first has equal weights. Learn from its
    `counts`. Weights are multiples of 2**-20 and sums are rounded once, halves up, so the result depends
    neither on the machine nor on threads or shards. A progress function receives rounds.

    `checkpoint` is a folder for the rounds that are done, and for the state of learning on Ctrl-C. The same
    call continues from it, with another number of rounds too; it is deleted at the end unless
    `keep_checkpoint`.

    Raises `ArgumentError` for counts without parallel texts, for `rounds` below 1, for a trainer with
    `parity`, and for a checkpoint of other counts or settings; `FormatError` for a damaged checkpoint.
    """
    _check(counts, trainer)
    rounds = whole_number("rounds", rounds, 1)
    file = None
    if checkpoint is not None:
        file = CheckpointFile(_checkpoint_path(checkpoint, trainer), counts, trainer)
    earlier = file and file.read(lambda _, body: _rounds_of(body, counts.sources))
    done = (earlier or [])[: rounds + 1]
    folder = None if trainer.resumption is None else checkpoint
    with progress_bar("balancing", progress) as update:
        while len(done) <= rounds:
            weights = _next_weights(done, counts)
            reduced, _ = fit_to_memory(weighted_sum(counts, weights), trainer, memory)
            model = trainer.learn(reduced, num_threads=num_threads, checkpoint=folder)
            done.append(_Round(weights, tokens_of_texts(model, counts.parallel, num_threads)))
            if file is not None:
                file.write({}, _bytes_of(done))
            update(len(done), rounds + 1)
    if file is not None and not keep_checkpoint:
        file.delete()
    best = min(done, key=_Round.gini)
    weighted = weighted_sum(counts, best.weights)
    first = done[0]
    gini, first_gini = float(best.gini()), float(first.gini())
    return BalancedCounts(weighted, best.weights, best.costs, gini, first_gini, first.costs)


def weighted_sum(counts: SourceCounts, weights: Mapping[str, Fraction]) -> Counts:
    """Return the exact sum of count x weight over the sources, rounded once, halves up; zeros are left out.

    >>> counts = SourceCounts({"en": Counts(["a", "b"], [3, 1]), "cs": Counts(["a"], [1])})
    >>> weighted_sum(counts, {"en": Fraction(1, 2), "cs": Fraction(2)}).most_common()
    [('a', 4), ('b', 1)]
    """
    sums: Counter[str] = Counter()
    for name, of_source in counts.sources.items():
        numerator = int(weights[name] * _DENOMINATOR)
        for word, count in of_source:
            sums[word] += count * numerator
    rounded = {
        word: (2 * total + _DENOMINATOR) // (2 * _DENOMINATOR) for word, total in sums.items()
    }
    kept = {word: count for word, count in rounded.items() if count}
    return Counts._of_columns(list(kept), list(kept.values()), None, counts.pipeline)


def _check(counts: Counts, trainer: Trainer) -> None:
    if not isinstance(counts, SourceCounts) or not counts.parallel:
        problem = "need sources and a parallel text for each: SourceCounts(sources, parallel=texts)"
        raise ArgumentError("counts", problem)
    if trainer.learns_by_source:
        raise ArgumentError("trainer", "learns with parity, which evens out costs by itself")


def _next_weights(done: Sequence[_Round], counts: SourceCounts) -> dict[str, Fraction]:
    """Return the weights of the round after others, with which the total of all counts stays the same."""
    if not done:
        return {name: Fraction(1) for name in counts.sources}
    costs = done[-1].costs
    mean = Fraction(sum(costs.values()), len(costs))
    raised = {
        name: done[-1].weights[name] * (cost / mean) ** _EXPONENT for name, cost in costs.items()
    }
    totals = {name: of_source.total for name, of_source in counts.sources.items()}
    scale = Fraction(sum(totals.values())) / sum(raised[name] * totals[name] for name in raised)
    return {
        name: Fraction(min(max(1, round(weight * scale * _DENOMINATOR)), _LARGEST), _DENOMINATOR)
        for name, weight in raised.items()
    }


# ---- the checkpoint


def delete_balance_checkpoint(folder: PathLike, trainer: Trainer) -> None:
    """Delete the rounds of a trainer that `keep_checkpoint` left in a folder."""
    _checkpoint_path(folder, trainer).unlink(missing_ok=True)


def _checkpoint_path(folder: PathLike, trainer: Trainer) -> Path:
    name = f"balancing-{trainer.kind}-{trainer.vocab_size}.bin"
    return Path(file_path(folder, "checkpoint", ArgumentError), name)


def _bytes_of(rounds: Sequence[_Round]) -> bytes:
    rows = [
        [(str(weight), one.costs[name]) for name, weight in one.weights.items()] for one in rounds
    ]
    return json.dumps(rows).encode()


def _rounds_of(body: bytes, sources: Iterable[str]) -> list[_Round]:
    """Return the rounds of a checkpoint, whose sources have the order of the counts."""
    return [
        _Round(
            {name: Fraction(weight) for name, (weight, _) in zip(sources, row, strict=True)},
            {name: int(cost) for name, (_, cost) in zip(sources, row, strict=True)},
        )
        for row in json.loads(body)
    ]
