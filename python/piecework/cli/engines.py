"""Options that count a corpus on a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

import piecework as pw
from piecework.cli.options import Command, are_counts_files
from piecework.cli.parameters import apply, option
from piecework.cli.reading import Reading, given_options

if TYPE_CHECKING:
    from piecework.train.plan import Plan

_ENGINES = {"ray": "address", "spark": "master"}


def engine_options(command: Command) -> Command:
    """Add the options for counting on a cluster."""
    add = partial(option, section="Clusters")
    options = (
        add(
            "--engine",
            type=click.Choice(list(_ENGINES)),
            help="Count on a cluster, whose nodes can open CORPUS; learning runs here.",
        ),
        add(
            "--address",
            help="Address of the Ray cluster, such as HOST:6379.  "
            "[default: RAY_ADDRESS, one on this machine, or a new one]",
        ),
        add("--master", help="Master of the Spark cluster, such as spark://HOST:7077 or local[2]."),
    )
    return apply(options, command)


def check_engine(
    corpus: Sequence[str],
    plan: Plan,
    reading: Reading,
    engine: str | None,
    address: str | None,
    master: str | None,
    counting: Mapping[str, Any],
) -> None:
    """Raise for options that do not suit the engine that the user chose, None for none.

    `counting` has the options of `counting_options`; those of learning too work with an engine.
    """
    for name, connection in (("ray", address), ("spark", master)):
        if connection is not None and engine != name:
            raise pw.errors.ArgumentError(_ENGINES[name], f"{connection!r} needs --engine {name}")
    if engine is None:
        return
    for name, value in given_options(dict(counting)).items():
        if name not in ("memory", "checkpoint"):
            raise pw.errors.ArgumentError(name, f"{value!r} does not support --engine {engine}")
    if are_counts_files(corpus, reading["field"], plan.sentences):
        message = "counts text files; counts files need no engine"
        raise pw.errors.ArgumentError("engine", message)


def count_on_engine(
    corpus: Sequence[str],
    plan: Plan,
    reading: Reading,
    engine: str | None,
    address: str | None,
    master: str | None,
) -> pw.Counts:
    """Count the words of a corpus on an engine, with options that `check_engine` accepts."""
    # Each engine is an optional package.
    module = import_module(f"piecework.distributed.{engine}")
    where: Any = {"address": address} if engine == "ray" else {"master": master}
    counts: pw.Counts = module.count_files(
        corpus,
        preset=plan.pipeline,
        field=reading["field"],
        encoding_errors=reading["encoding_errors"],
        sentences=plan.sentences,
        **where,
    )
    if not len(counts):
        raise pw.errors.CorpusError(", ".join(corpus), "has no words; give files with text")
    return counts
