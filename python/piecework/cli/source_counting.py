"""Count each CORPUS argument by itself, and a parallel text for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import piecework as pw
from piecework._support import source_folder
from piecework.cli.options import given_options
from piecework.cli.parameters import InputFile, option

CountCorpus = Callable[[Sequence[str], Mapping[str, Any]], pw.Counts]
"""Counts a corpus with the options of `counting_options`, or loads counts files."""

parallel_option = option(
    "--parallel",
    section="Large corpora",
    type=InputFile(),
    multiple=True,
    metavar="FILE",
    help="Text that says the same in the language of a CORPUS argument, for --parity; once for each of them, "
    "in their order.",
)


def count_by_source(
    corpus: Sequence[str],
    parallel: Sequence[str],
    count: CountCorpus,
    counting: Mapping[str, Any],
) -> pw.train.SourceCounts:
    """Return the counts of each CORPUS argument, and of its parallel text."""
    _check(corpus, parallel, counting)
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


def check_parallel(parallel: Sequence[str], trainer: pw.train.Trainer) -> None:
    """Raise `ArgumentError` for parallel texts without parity."""
    if parallel and not trainer.learns_by_source:
        raise pw.errors.ArgumentError("parallel", f"={parallel[0]!r} needs --parity")


def _check(corpus: Sequence[str], parallel: Sequence[str], counting: Mapping[str, Any]) -> None:
    for name in ("source_weights", "temperature"):
        if name in given_options(dict(counting)):
            problem = "= does not support --parity, which weighs the sources itself"
            raise pw.errors.ArgumentError(name, problem)
    twice = [path for path in corpus if corpus.count(path) > 1]
    if twice:
        raise pw.errors.ArgumentError("CORPUS", f"has {twice[0]} twice; give each language once")
    if len(corpus) < 2:
        problem = (
            f"is one argument, {corpus[0]}, and --parity needs one for each language; merged counts have "
            "lost the languages: count each one by itself"
        )
        raise pw.errors.ArgumentError("CORPUS", problem)
    if parallel and len(parallel) != len(corpus):
        problem = (
            f"has {len(parallel)} files, and CORPUS {len(corpus)} arguments; give one for each"
        )
        raise pw.errors.ArgumentError("parallel", problem)
