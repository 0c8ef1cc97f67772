"""Count each CORPUS argument by itself, and a parallel text for each; weigh them until they cost the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

import piecework as pw
from piecework._support import source_folder
from piecework.cli.notes import note
from piecework.cli.options import given_options
from piecework.cli.parameters import InputFile, is_quiet, option

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
    needed_by: str,
) -> pw.train.SourceCounts:
    """Return the counts of each CORPUS argument, and of its parallel text, for an option."""
    _check(corpus, parallel, counting, needed_by)
    checkpoint = counting["checkpoint"]

    def counted(paths: Sequence[str], first: int) -> list[pw.Counts]:
        folders = (
            None if checkpoint is None else str(source_folder(checkpoint, number))
            for number in range(first, first + len(paths))
        )
        return [
            count([path], {**counting, "checkpoint": folder})
            for path, folder in zip(paths, folders, strict=True)
        ]

    sources = dict(zip(corpus, counted(corpus, 0), strict=True))
    texts = counted(parallel, len(corpus))
    return pw.train.SourceCounts(sources, parallel=dict(zip(corpus, texts, strict=False)))


def balanced(
    counts: pw.train.SourceCounts,
    trainer: pw.train.Trainer,
    rounds: int,
    num_threads: int | None,
    memory: int,
    checkpoint: str | None,
) -> pw.Counts:
    """Return the sum of weighted sources, and print the weights; a checkpoint is kept until learning ends."""
    found = pw.train.balance_sources(
        counts,
        trainer,
        rounds=rounds,
        progress=not is_quiet(),
        num_threads=num_threads,
        memory=memory,
        checkpoint=checkpoint,
        keep_checkpoint=True,
    )
    weights = ", ".join(f"{name} {float(weight):.3g}" for name, weight in found.weights.items())
    note(f"weights: {weights}")
    note(f"Gini coefficient of the tokens: {found.first_gini:.3f} before, {found.gini:.3f} after")
    return found.counts


def source_option(
    trainer: pw.train.Trainer, parallel: Sequence[str], rounds: int | None, sizes: Sequence[int]
) -> str | None:
    """Return the option that needs counts by source, None without one; raise for options in conflict."""
    if rounds is not None and trainer.learns_by_source:
        raise pw.errors.ArgumentError("balance_rounds", "= cannot be combined with --parity")
    if rounds is not None and sizes:
        raise pw.errors.ArgumentError("balance_rounds", "= needs one size of the vocabulary")
    if rounds is not None:
        return "--balance-rounds"
    if trainer.learns_by_source:
        return "--parity"
    if parallel:
        problem = f"={parallel[0]!r} needs --balance-rounds, or --parity for BPE"
        raise pw.errors.ArgumentError("parallel", problem)
    return None


def _check(
    corpus: Sequence[str], parallel: Sequence[str], counting: Mapping[str, Any], needed_by: str
) -> None:
    for name in ("source_weights", "temperature"):
        if name in given_options(dict(counting)):
            problem = f"= does not support {needed_by}, which weighs the sources itself"
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
    if parallel and len(parallel) != len(corpus):
        problem = (
            f"has {len(parallel)} files, and CORPUS {len(corpus)} arguments; give one for each"
        )
        raise pw.errors.ArgumentError("parallel", problem)
