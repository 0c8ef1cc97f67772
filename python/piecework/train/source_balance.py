"""Balance the sources of a corpus, such as languages: count each, then reweight until their costs agree.

Parity-aware BPE chooses each merge for the source with the highest cost. Pruning, Unigram and the other
learners have no such steps, but all learn from counts, and a source with a higher weight gets more entries.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from piecework._internal.progress import progress_bar
from piecework._internal.setting_fields import given_to, takes_settings
from piecework._internal.types import Progress, Unpack
from piecework._internal.validation import PathLike, check_type, file_path, whole_number
from piecework.corpus.paths import corpus_files
from piecework.errors import ArgumentError
from piecework.spec import Model, TokenizerSpec
from piecework.spec.byte_alphabet import BYTE_OF_CHARACTER
from piecework.train.checkpoints import CheckpointFile
from piecework.train.count_checkpoint import source_folder
from piecework.train.counting import CorpusCount, FileCountSettings, pipeline_of_preset
from piecework.train.counts import Counts
from piecework.train.learn import fit_to_memory
from piecework.train.presets import Pipeline, Preset
from piecework.train.segmenter import compiled_model, lengths
from piecework.train.settings import CountFilesOptions
from piecework.train.source_counts import SourceCounts, check_names
from piecework.train.trainer import Trainer

_WEIGHTS = ("source_weights", "temperature")


@takes_settings(FileCountSettings, without=_WEIGHTS)
def count_sources(
    sources: Mapping[str, PathLike | Sequence[PathLike]],
    *,
    parallel: Mapping[str, PathLike | Sequence[PathLike]] | None = None,
    preset: str | Preset | Pipeline = "bert-uncased",
    progress: Progress = None,
    **settings: Unpack[CountFilesOptions],
) -> SourceCounts:
    """Count the words of each source, and of a parallel text for each, with the arguments of `count_files`.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "en.txt").write_text("hug pug\\n"), (folder / "cs.txt").write_text("ahoj\\n")
    >>> count_sources({"en": folder / "en.txt", "cs": folder / "cs.txt"})
    SourceCounts(en: 2 words, 2 in total; cs: 1 word, 1 in total)

    The files are numbered through all sources, so that `ties="first-seen"` can compare their positions.
    `checkpoint` is a folder with a folder for each source.
    """
    checked = given_to(count_sources, FileCountSettings, settings)
    for name, given in (("sources", sources), ("parallel", parallel or {})):
        check_type(name, given, Mapping, "a mapping from names to paths")
    for name in _WEIGHTS:
        if getattr(checked, name) is not None:
            raise ArgumentError(name, "does not apply to sources that are counted by themselves")
    return _counts(sources, parallel or {}, pipeline_of_preset(preset), checked, progress)


def count_paths(
    paths: PathLike | Sequence[PathLike],
    pipeline: Pipeline,
    settings: FileCountSettings,
    progress: Progress,
) -> SourceCounts:
    """Count the words of each path as a source with its name, as `count_sources` does."""
    each = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return _counts({os.fspath(path): path for path in each}, {}, pipeline, settings, progress)


def _counts(
    sources: Mapping[str, PathLike | Sequence[PathLike]],
    parallel: Mapping[str, PathLike | Sequence[PathLike]],
    pipeline: Pipeline,
    settings: FileCountSettings,
    progress: Progress,
) -> SourceCounts:
    check_names(sources, parallel)
    groups: list[dict[str, Counts]] = [{}, {}]
    number, first, folder = 0, settings.first_source, settings.checkpoint
    for counted, group in zip(groups, (sources, parallel), strict=True):
        for name, paths in group.items():
            files = corpus_files(paths)
            own = None if folder is None else source_folder(folder, number)
            of_source = replace(settings, first_source=first, checkpoint=own)
            counted[name] = CorpusCount(files, pipeline, of_source).counts(progress)
            first += len(files)
            number += 1
    return SourceCounts(groups[0], parallel=groups[1])


# ---- costs


@dataclass(frozen=True)
class SourceCosts:
    """The tokens of each source before and after balancing.

    >>> costs = SourceCosts({"en": 90, "cs": 150}, {"en": 120, "cs": 123})
    >>> round(costs.first_gini, 3), round(costs.gini, 3), f"{costs.added:+.2%}"
    (0.125, 0.006, '+1.25%')

    The tokens are counted in the parallel texts. Without parallel texts, they are counted in the text of each
    source, and `sizes` has the size of that text in units such as bytes: the Gini coefficients are of tokens
    a unit.
    """

    before: Mapping[str, int]
    after: Mapping[str, int]
    sizes: Mapping[str, int] | None = None

    @property
    def first_gini(self) -> float:
        """The Gini coefficient before."""
        return float(gini(self._costs(self.before)))

    @property
    def gini(self) -> float:
        """The Gini coefficient after."""
        return float(gini(self._costs(self.after)))

    @property
    def added(self) -> float:
        """The additional tokens of all sources together, as a share."""
        return sum(self.after.values()) / sum(self.before.values()) - 1

    def _costs(self, tokens: Mapping[str, int]) -> list[Fraction]:
        sizes = self.sizes or dict.fromkeys(tokens, 1)
        return [Fraction(number, sizes[name]) for name, number in tokens.items()]


def plain_models(
    counts: SourceCounts,
    trainer: Any,
    sizes: Sequence[int],
    *,
    num_threads: int | None = None,
    memory: int | str | None = None,
) -> dict[int, Model]:
    """Return the models of plain BPE, with the settings of a trainer but without its parity.

    >>> from piecework.train import BPETrainer, count_texts
    >>> counted = {name: count_texts([name * 9], preset="whitespace") for name in ("hug", "pun")}
    >>> list(plain_models(SourceCounts(counted), BPETrainer(parity=True, parity_unit="bytes"), [9, 10]))
    [9, 10]
    """
    parity = dict.fromkeys(("parity_unit", "parity_window"))
    plain = replace(trainer, parity=False, global_merges=0, **parity)
    merged = fit_to_memory(counts.merged(), plain, memory)
    models: dict[int, Model] = plain._learn_models(merged, sizes, num_threads=num_threads)
    return models


def costs_of_parity(
    counts: SourceCounts,
    trainer: Any,
    before: Model,
    after: Model,
    *,
    num_threads: int | None = None,
) -> SourceCosts:
    """Return the tokens of each source under the models of plain BPE and of parity."""
    texts = counts.parallel or counts.sources
    unit = trainer.parity_unit
    byte_level = trainer._is_byte_level
    sizes = {name: _size(text, unit, byte_level=byte_level) for name, text in texts.items()}
    return SourceCosts(
        tokens_of_texts(before, texts, num_threads),
        tokens_of_texts(after, texts, num_threads),
        sizes if unit else None,
    )


def tokens_of_texts(
    model: Model, texts: Mapping[str, Counts], num_threads: int | None
) -> dict[str, int]:
    """Return the number of tokens of each text."""
    core = compiled_model(TokenizerSpec(model))

    def tokens_of(counts: Counts) -> int:
        found = lengths(core, counts.words, num_threads)
        return sum(length * count for length, (_, count) in zip(found, counts, strict=True))

    return {name: tokens_of(counts) for name, counts in texts.items()}


def gini(costs: Sequence[int | Fraction]) -> Fraction:
    """Return the Gini coefficient exactly, so that rounds compare alike on every machine.

    >>> gini([3, 3, 3]), gini([0, 0, 0, 8])
    (Fraction(0, 1), Fraction(3, 4))
    """
    exact = sorted(map(Fraction, costs))
    number, total = len(exact), sum(exact)
    ranked = enumerate(exact, 1)
    differences = sum((2 * rank - number - 1) * cost for rank, cost in ranked)
    return Fraction(differences) / (number * (total or 1))


def _size(counts: Counts, unit: str | None, *, byte_level: bool) -> int:
    """Return the units of the text of counts, at least 1, as the learner measures them."""

    def size(word: str) -> int:
        if unit == "words":
            return 1
        if not byte_level:
            return len(word.encode()) if unit == "bytes" else len(word)
        is_continued = (0x80 <= BYTE_OF_CHARACTER.get(c, 0) < 0xC0 for c in word)
        return len(word) - (sum(is_continued) if unit == "characters" else 0)

    return max(1, sum(size(word) * count for word, count in counts))


# ---- weights

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
    `first_gini` belong to equal weights.
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
        return gini(list(self.costs.values()))


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
    """Weight the sources so that their parallel texts cost as nearly the same number of tokens as possible.

    >>> from piecework.train import WordPieceTrainer, count_texts
    >>> texts = {"en": ["hug pug bug"] * 50, "cs": ["kočka leze dírou"] * 5}
    >>> counted = {name: count_texts(lines, preset="whitespace") for name, lines in texts.items()}
    >>> counts = SourceCounts(counted, parallel=counted)
    >>> balanced = balance_sources(counts, WordPieceTrainer(37), rounds=2)
    >>> balanced.gini <= balanced.first_gini
    True

    Each round learns a vocabulary from the weighted sum and multiplies the weight of each source by the
    fourth power of its cost / the mean cost. The cost is the number of tokens of the parallel text. The
    result comes from the round with the lowest Gini coefficient; the first has equal weights. Learn from its
    `counts`. Weights are multiples of 2**-20 and sums are rounded once, halves up, so the result depends
    neither on the machine nor on threads or shards. A progress function receives rounds.

    `checkpoint` is a folder for the finished rounds, and for the state of learning on Ctrl-C. The same call
    continues from it, even with another number of rounds; it is deleted at the end unless `keep_checkpoint`.

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
    folder = None if trainer._traits().resumption is None else checkpoint
    with progress_bar("balancing", progress) as update:
        while len(done) <= rounds:
            weights = _next_weights(done, counts)
            reduced = fit_to_memory(weighted_sum(counts, weights), trainer, memory)
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
    if trainer._traits().learns_by_source:
        raise ArgumentError("trainer", "learns with parity, which evens out costs by itself")


def _next_weights(done: Sequence[_Round], counts: SourceCounts) -> dict[str, Fraction]:
    """Return the weights of the next round, which keep the total of all counts the same."""
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
