"""Count for training: on a cluster, or each CORPUS argument separately, with balanced weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click

import piecework as pw
from piecework.cli.options import are_counts_files
from piecework.cli.outputs import note
from piecework.cli.parameters import InputFile, all_of, option
from piecework.cli.reading import Reading, given_options
from piecework.errors import ArgumentError
from piecework.train.count_checkpoint import source_folder
from piecework.train.plan import Plan
from piecework.train.source_balance import SourceCosts, costs_of_parity, plain_models
from piecework.train.trainer import traits_of

_ENGINES = {"ray": "address", "spark": "master"}
CLUSTER_NAMES = ("engine", "cluster")
"""The arguments of `engine_options`."""


engine_options = all_of(
    option(
        "--engine",
        section="Clusters",
        type=click.Choice(list(_ENGINES)),
        help="Count on a cluster whose nodes can read CORPUS; learning runs on this machine.",
    ),
    option(
        "--cluster",
        section="Clusters",
        metavar="ADDRESS",
        help="Address of the cluster: HOST:6379 for Ray, spark://HOST:7077 or local[2] for Spark.  "
        "[default: the engine's own, such as RAY_ADDRESS]",
    ),
)


@dataclass(frozen=True)
class Job:
    """The arguments of a training: what to read, how to count and train, and where to write.

    `outputs` has the path for each of several sizes, or for None. `model` and `preset` are the ones given,
    `cluster` has the options of `engine_options`, and `counting` has `counting_options`.
    """

    corpus: Sequence[str]
    model: str | None
    preset: str | None
    plan: Plan
    reading: Reading
    counting: Mapping[str, Any]
    cluster: Mapping[str, str | None]
    outputs: Mapping[int | None, str]
    parallel: Sequence[str] = ()
    balance_rounds: int | None = None

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the vocabularies, () for one."""
        return tuple(size for size in self.outputs if size is not None)

    @property
    def are_counts(self) -> bool:
        """Whether the corpus consists of counts files."""
        return are_counts_files(self.corpus, self.reading["field"], self.plan.sentences)

    @property
    def by_source(self) -> str | None:
        """The option that needs counts by source, None without one; raises for options in conflict."""
        trainer = self.plan.trainer
        if self.balance_rounds is None:
            if self.parallel and not traits_of(trainer).learns_by_source:
                problem = f"{self.parallel[0]!r} needs --balance-rounds, or --parity for BPE"
                raise ArgumentError("parallel", problem)
            return "--parity" if traits_of(trainer).learns_by_source else None
        if traits_of(trainer).learns_by_source:
            raise ArgumentError("balance_rounds", "cannot be combined", also=["parity"])
        if self.sizes:
            raise ArgumentError("balance_rounds", "needs one size of the vocabulary")
        if name := traits_of(trainer).needs_positions:
            flag = f"--{name.replace('_', '-')}"
            problem = f"does not support {flag} first-seen: weighted counts have no first positions"
            hint = f"choose another {flag}"
            raise ArgumentError("balance_rounds", problem, hint=hint)
        return "--balance-rounds"


def check_engine(job: Job, counting: Mapping[str, Any]) -> None:
    """Raise for options that do not suit the engine that the user chose, None for none.

    `counting` has the options of `counting_options`; an engine takes only the ones that learning uses too.
    """
    engine, cluster = job.cluster["engine"], job.cluster["cluster"]
    if engine is None:
        if cluster is not None:
            raise ArgumentError("cluster", f"{cluster!r} needs --engine ray or spark")
        return
    for name, value in given_options(dict(counting)).items():
        if name not in ("memory", "checkpoint"):
            raise ArgumentError(name, f"{value!r} does not support --engine {engine}")
    if job.are_counts:
        raise ArgumentError("engine", "counts text files; counts files need no engine")


def count_on_engine(corpus: Sequence[str], job: Job, engine: str) -> pw.Counts:
    """Count the words of a corpus on an engine, with options that `check_engine` accepts."""
    # Each engine is an optional package.
    module = import_module(f"piecework.integrations.distributed.{engine}")
    counts: pw.Counts = module.count_files(
        corpus,
        preset=job.plan.pipeline,
        field=job.reading["field"],
        encoding_errors=job.reading["encoding_errors"],
        sentences=job.plan.sentences,
        **{_ENGINES[engine]: job.cluster["cluster"]},
    )
    if not len(counts):
        raise pw.errors.CorpusError(", ".join(corpus), "has no words; give files with text")
    return counts


parallel_option = option(
    "--parallel",
    section="Large corpora",
    type=InputFile(),
    multiple=True,
    metavar="FILE",
    help="Translation of one text, one for each CORPUS argument in order; training makes their numbers of "
    "tokens about equal.",
)

balance_option = option(
    "--balance-rounds",
    section="Large corpora",
    type=click.IntRange(min=1),
    metavar="N",
    help="Weight the CORPUS arguments in N rounds of learning, so that their --parallel texts take about the "
    "same number of tokens.",
)


def count_by_source(job: Job, count: Callable[..., pw.Counts]) -> pw.train.SourceCounts:
    """Return the counts of each CORPUS argument and of its parallel text; `count` takes paths and options."""
    found = [count(paths, options) for paths, options in groups_of(job, job.counting)]
    sources = dict(zip(job.corpus, found[: len(job.corpus)], strict=True))
    texts = dict(zip(job.corpus, found[len(job.corpus) :], strict=False))
    return pw.train.SourceCounts(sources, parallel=texts)


def groups_of(job: Job, counting: Mapping[str, Any]) -> list[tuple[list[str], dict[str, Any]]]:
    """Return each CORPUS argument and each parallel text, with the options and the folder of its count."""
    checkpoint = counting["checkpoint"]
    paths = enumerate((*job.corpus, *job.parallel))
    return [
        ([path], {**counting, "checkpoint": checkpoint and str(source_folder(checkpoint, number))})
        for number, path in paths
    ]


def balanced(
    counts: pw.train.SourceCounts, plan: Plan, rounds: int
) -> tuple[pw.Counts, SourceCosts]:
    """Return the sum of weighted sources and their costs, and print the weights.

    A checkpoint is kept until learning ends.
    """
    found = pw.train.balance_sources(
        counts,
        plan.trainer,
        rounds=rounds,
        progress=plan.progress,
        num_threads=plan.num_threads,
        memory=plan.memory,
        checkpoint=plan.checkpoint,
        keep_checkpoint=True,
    )
    weights = ", ".join(f"{name} {float(weight):.3g}" for name, weight in found.weights.items())
    note(f"weights: {weights}")
    return found.counts, SourceCosts(found.first_costs, found.costs)


def parity_costs(
    counts: pw.train.SourceCounts, plan: Plan, sizes: Sequence[int]
) -> Callable[[pw.Tokenizer, int | None], SourceCosts]:
    """Return a function that measures a tokenizer of one of these sizes against plain BPE of that size.

    Without `sizes`, the size of the trainer is meant, given as None.
    """
    note("learning without parity, to compare the tokens of each CORPUS argument")
    trainer, own = plan.trainer, plan.trainer.vocab_size
    how = {"num_threads": plan.num_threads}
    with warnings.catch_warnings():
        # The tokenizer with parity had the same warnings.
        warnings.simplefilter("ignore", pw.errors.TrainingWarning)
        plain = plain_models(counts, trainer, sizes or [own], memory=plan.memory, **how)

    def measure(tokenizer: pw.Tokenizer, size: int | None) -> SourceCosts:
        before, after = plain[size or own], tokenizer.spec.model
        return costs_of_parity(counts, trainer, before, after, **how)

    return measure


def costs_lines(costs: SourceCosts, *, by_rounds: bool) -> list[str]:
    """Return what balancing the sources changed: tokens by source, the Gini coefficient, and all tokens.

    >>> costs = SourceCosts({"en.txt": 900, "cs.txt": 1500}, {"en.txt": 1210, "cs.txt": 1220})
    >>> print(*costs_lines(costs, by_rounds=False), sep="\\n")
    tokens of the parallel texts, without parity -> with it: en.txt 900 -> 1,210, cs.txt 1,500 -> 1,220
    Gini coefficient of the tokens: 0.125 before, 0.002 after; +1.2 % tokens in all
    """
    how = "with equal weights -> with these" if by_rounds else "without parity -> with it"
    texts = "parallel texts" if costs.sizes is None else "texts of the sources"
    tokens = ", ".join(
        f"{name} {before:,} -> {costs.after[name]:,}" for name, before in costs.before.items()
    )
    ginis = f"{costs.first_gini:.3f} before, {costs.gini:.3f} after"
    added = f"{100 * costs.added:+.1f} % tokens in all"
    return [
        f"tokens of the {texts}, {how}: {tokens}",
        f"Gini coefficient of the tokens: {ginis}; {added}",
    ]


def costs_data(costs: SourceCosts | None) -> dict[str, Any] | None:
    """Return the content of `costs_lines` as data."""
    if costs is None:
        return None
    return {
        "tokens_before": dict(costs.before),
        "tokens_after": dict(costs.after),
        "gini_before": costs.first_gini,
        "gini_after": costs.gini,
        "added_share": costs.added,
    }


def check_sources(job: Job, counting: Mapping[str, Any], needed_by: str) -> None:
    """Raise for CORPUS arguments and options for counting that do not suit an option, such as --parity."""
    corpus, parallel, trainer = job.corpus, job.parallel, job.plan.trainer
    for name in ("source_weights", "temperature"):
        if name in given_options(dict(counting)):
            problem = f"does not support {needed_by}, which weighs the sources itself"
            raise ArgumentError(name, problem)
    twice = [path for path in corpus if corpus.count(path) > 1]
    if twice:
        raise ArgumentError("CORPUS", f"has {twice[0]} twice; give each language once")
    if len(corpus) < 2:
        problem = (
            f"is one argument, {corpus[0]}, and {needed_by} needs one for each language; merged counts "
            "have lost the languages: count each one by itself"
        )
        raise ArgumentError("CORPUS", problem)
    # The tokens of sources are compared by parallel texts, or for parity by a unit.
    unit = getattr(trainer, "parity_unit", None)
    if parallel and unit is not None:
        problem = f"{unit!r} does not apply with --parallel, whose tokens are compared"
        raise ArgumentError("parity_unit", problem)
    if not parallel and unit is None:
        needs = "needs --parallel FILE for each CORPUS argument, a text that says the same in each language"
        unit_advice = "for languages of one script, --parity-unit compares their own texts"
        advice = unit_advice if traits_of(trainer).learns_by_source else ""
        raise ArgumentError(needed_by, needs, hint=advice)
    if parallel and len(parallel) != len(corpus):
        problem = (
            f"has {len(parallel)} files, and CORPUS {len(corpus)} arguments; give one for each"
        )
        raise ArgumentError("parallel", problem)
