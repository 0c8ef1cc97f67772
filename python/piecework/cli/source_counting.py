"""Count each CORPUS argument by itself, and a parallel text for each; weigh them until they cost the same."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

import piecework as pw
from piecework.cli.notes import note
from piecework.cli.parameters import InputFile, option
from piecework.cli.reading import given_options
from piecework.train.count_checkpoint import source_folder
from piecework.train.plan import Plan
from piecework.train.source_balance import SourceCosts, costs_of_parity, plain_models
from piecework.train.trainer import traits_of

CountCorpus = Callable[[Sequence[str], Mapping[str, Any]], pw.Counts]
"""Counts a corpus with the options of `counting_options`, or loads counts files."""

parallel_option = option(
    "--parallel",
    section="Large corpora",
    type=InputFile(),
    multiple=True,
    metavar="FILE",
    help="Text that says the same in the language of a CORPUS argument; once for each of them, in order. "
    "Their tokens are evened out.",
)

balance_option = option(
    "--balance-rounds",
    section="Large corpora",
    type=click.IntRange(min=1),
    metavar="N",
    help="Weigh the CORPUS arguments in N rounds of learning until their --parallel texts take the same "
    "tokens; for every model.",
)


def count_by_source(
    corpus: Sequence[str],
    parallel: Sequence[str],
    count: CountCorpus,
    counting: Mapping[str, Any],
) -> pw.train.SourceCounts:
    """Return the counts of each CORPUS argument, and of its parallel text."""
    found = [count(paths, options) for paths, options in groups_of(corpus, parallel, counting)]
    sources = dict(zip(corpus, found[: len(corpus)], strict=True))
    texts = dict(zip(corpus, found[len(corpus) :], strict=False))
    return pw.train.SourceCounts(sources, parallel=texts)


def groups_of(
    corpus: Sequence[str], parallel: Sequence[str], counting: Mapping[str, Any]
) -> list[tuple[list[str], dict[str, Any]]]:
    """Return each CORPUS argument and each parallel text, with the options and the folder of its count."""
    checkpoint = counting["checkpoint"]
    return [
        (
            [path],
            {
                **counting,
                "checkpoint": checkpoint and str(source_folder(checkpoint, number)),
            },
        )
        for number, path in enumerate((*corpus, *parallel))
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

    Without `sizes`, the size is that of the trainer, given as None.
    """
    note("learning without parity, to compare the tokens of each CORPUS argument")
    trainer, threads = plan.trainer, plan.num_threads
    own = trainer.vocab_size
    with warnings.catch_warnings():
        # The tokenizer with parity had the same warnings.
        warnings.simplefilter("ignore", pw.errors.TrainingWarning)
        plain = plain_models(
            counts, trainer, sizes or [own], num_threads=threads, memory=plan.memory
        )

    def measure(tokenizer: pw.Tokenizer, size: int | None) -> SourceCosts:
        before, after = plain[size or own], tokenizer.spec.model
        return costs_of_parity(counts, trainer, before, after, num_threads=threads)

    return measure


def costs_lines(costs: SourceCosts, *, by_rounds: bool) -> list[str]:
    """Return what evening out did, as lines: tokens by source, the Gini coefficient, and all tokens.

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


def source_option(
    trainer: pw.train.Trainer, parallel: Sequence[str], rounds: int | None, sizes: Sequence[int]
) -> str | None:
    """Return the option that needs counts by source, None without one; raise for options in conflict."""
    if rounds is not None:
        _check_rounds(trainer, sizes)
        return "--balance-rounds"
    if traits_of(trainer).learns_by_source:
        return "--parity"
    if parallel:
        problem = f"{parallel[0]!r} needs --balance-rounds, or --parity for BPE"
        raise pw.errors.ArgumentError("parallel", problem)
    return None


def _check_rounds(trainer: pw.train.Trainer, sizes: Sequence[int]) -> None:
    if traits_of(trainer).learns_by_source:
        raise pw.errors.ArgumentError("balance_rounds", "cannot be combined", also=["parity"])
    if sizes:
        raise pw.errors.ArgumentError("balance_rounds", "needs one size of the vocabulary")
    if name := traits_of(trainer).needs_positions:
        flag = f"--{name.replace('_', '-')}"
        problem = f"does not support {flag} first-seen: weighted counts have no first positions"
        raise pw.errors.ArgumentError("balance_rounds", problem, hint=f"choose another {flag}")


def check_sources(
    corpus: Sequence[str],
    parallel: Sequence[str],
    trainer: pw.train.Trainer,
    counting: Mapping[str, Any],
    needed_by: str,
) -> None:
    """Raise for CORPUS arguments and options for counting that do not suit an option, such as --parity."""
    for name in ("source_weights", "temperature"):
        if name in given_options(dict(counting)):
            problem = f"does not support {needed_by}, which weighs the sources itself"
            raise pw.errors.ArgumentError(name, problem)
    twice = [path for path in corpus if corpus.count(path) > 1]
    if twice:
        raise pw.errors.ArgumentError("CORPUS", f"has {twice[0]} twice; give each language once")
    if len(corpus) < 2:
        problem = (
            f"is one argument, {corpus[0]}, and {needed_by} needs one for each language; merged counts "
            "have lost the languages: count each one by itself"
        )
        raise pw.errors.ArgumentError("CORPUS", problem)
    _check_parallel(parallel, trainer, needed_by)
    if parallel and len(parallel) != len(corpus):
        problem = (
            f"has {len(parallel)} files, and CORPUS {len(corpus)} arguments; give one for each"
        )
        raise pw.errors.ArgumentError("parallel", problem)


def _check_parallel(parallel: Sequence[str], trainer: pw.train.Trainer, needed_by: str) -> None:
    """Raise unless the tokens of sources can be compared: by parallel texts, or for parity by a unit."""
    unit = getattr(trainer, "parity_unit", None)
    if parallel and unit is not None:
        problem = f"{unit!r} does not apply with --parallel, whose tokens are compared"
        raise pw.errors.ArgumentError("parity_unit", problem)
    if not parallel and unit is None:
        needs = (
            "--parallel FILE for each CORPUS argument, a text that says the same in each language"
        )
        unit_advice = "for languages of one script, --parity-unit compares their own texts"
        advice = unit_advice if traits_of(trainer).learns_by_source else ""
        raise pw.errors.ArgumentError(needed_by, f"needs {needs}", hint=advice)
