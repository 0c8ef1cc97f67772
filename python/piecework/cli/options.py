"""Options that several commands share; an option that is not given uses the default of the library."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, reduce, wraps
from typing import Any, TypeAlias, TypeVar

import click

import piecework as pw
from piecework._support import (
    DOCUMENTS,
    CorpusCount,
    Plan,
    is_counts_file,
    preset_for_counts,
    source_of,
)
from piecework.cli.parameters import NameChoice, apply, is_quiet, option

Command = TypeVar("Command", bound=Callable[..., Any])

COUNTS_SUFFIXES = (".parquet", ".tsv")
Reading: TypeAlias = Mapping[str, Any]
"""The options of `reading_options`, by the names of the arguments of functions that read a corpus."""

PRESETS = tuple(pw.train.PRESETS)
ALL_PRESETS = tuple(dict.fromkeys((*PRESETS, *pw.train.SENTENCEPIECE_PRESETS)))

PEER_NAMES = ("tokenizers", "transformers", "sentencepiece", "tiktoken")
"""The keys of `piecework.analysis.peers.PEERS`, whose import takes longer."""


def corpus_options(
    presets: Sequence[str] = ALL_PRESETS,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option for the pipeline, and those for reading a corpus."""
    names = NameChoice(presets, "preset")
    preset = option(
        "--preset",
        section="Corpus",
        type=names,
        help=f"Preset of normalizer, pre-tokenizer and decoder, {names.examples}.",
    )
    return lambda command: preset(reading_options(command))


def reading_options(
    command: Callable[..., Any], on_error: bool = True, document: bool = False
) -> Callable[..., Any]:
    """Add the options for reading a corpus; the command receives them together as `reading`."""
    names = ["field", "encoding_errors", "num_threads"]
    names += [name for name, has in (("on_error", on_error), ("document", document)) if has]

    @wraps(command)
    def with_reading(*arguments: Any, **settings: Any) -> Any:
        reading = {name: settings.pop(name) for name in names}
        return command(*arguments, reading=reading, **settings)

    add = partial(option, section="Corpus")
    options = {
        "field": add(
            "--field",
            metavar="NAME",
            help="Field with the text in JSON lines, or column of a table; a.b is field b of the object a. "
            "With this option, stdin and .json files are read as JSON lines; plain text has no fields.  "
            "[default: text]",
        ),
        "encoding_errors": encoding_errors_option,
        "num_threads": add(
            "--num-threads",
            type=click.IntRange(min=1),
            help="Number of threads.  [default: one per CPU]",
        ),
        "on_error": add(
            "--on-error",
            type=click.Choice(["fail", "skip"]),
            default="fail",
            show_default=True,
            help="Stop at the first error in a line or file, or skip it and print how many were skipped.",
        ),
        "document": add(
            "--document",
            type=click.Choice(list(DOCUMENTS)),
            default="line",
            show_default=True,
            help="What a document of plain text is: a line, the lines between blank lines, or a whole file. "
            "Line ends inside a document are kept.",
        ),
    }
    return apply([options[name] for name in names], with_reading)


def in_one_thread(reading: Reading) -> Reading:
    """Return the options for a function that reads without threads."""
    return {name: value for name, value in reading.items() if name != "num_threads"}


COUNTING_NAMES = (
    "memory",
    "sample",
    "seed",
    "max_word_length",
    "source_weights",
    "temperature",
    "checkpoint",
    "checkpoint_seconds",
)
"""The arguments of `counting_options`."""

_ALSO_FOR_COUNTS = {"memory", "checkpoint", "checkpoint_seconds", "keep_checkpoint"}


def counting_options(command: Command) -> Command:
    """Add the options for counting a large corpus."""
    add = partial(option, section="Large corpora")
    options = (
        add(
            "--memory",
            metavar="SIZE",
            help="Memory budget for word counts, such as 512MB or 4GiB, at least 128MB; over it, sorted "
            "files in TMPDIR are used, and learning drops rare words.  [default: a quarter of the memory]",
        ),
        add(
            "--sample",
            type=float,
            metavar="SHARE",
            help="Count a random share of the lines or texts, such as 0.1.",
        ),
        add("--seed", type=int, help="Seed of all that is drawn at random.  [default: 0]"),
        add(
            "--max-word-length",
            type=int,
            help="Skip words of more characters, and say how many.",
        ),
        add(
            "--source-weights",
            metavar="W,W,...",
            callback=_split_at_commas,
            help="Multiply the counts of each CORPUS argument by a number, such as 1,2.5.",
        ),
        add(
            "--temperature",
            type=float,
            help="Flatten the shares of the CORPUS arguments: share ** (1 / X).",
        ),
        add(
            "--checkpoint",
            metavar="DIR",
            help="Folder for the state of the run; after an interruption, the same command continues.",
        ),
        add(
            "--checkpoint-seconds",
            type=float,
            metavar="SECONDS",
            help="Time between saves while counting.  [default: 60]",
        ),
    )
    return apply(options, command)


def _split_at_commas(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> list[str] | None:
    return None if value is None else value.split(",")


def encoding_errors_option(command: Command) -> Command:
    """Add the option for invalid UTF-8."""
    decorate = option(
        "--encoding-errors",
        section="Corpus",
        type=click.Choice(["replace", "strict"]),
        default="replace",
        show_default=True,
        help="Replace invalid UTF-8 by U+FFFD, or stop with an error.",
    )
    return decorate(command)


def plan_for(
    corpus: Sequence[str],
    model: str | None,
    preset: str | None,
    field: str | None,
    given: dict[str, Any],
) -> Plan:
    """Return the plan of a training; without a preset, counts files have the pipeline that made them."""
    plan = Plan.of(None, model, preset, given)
    if not are_counts_files(corpus, field, plan.sentences):
        return plan
    first = pw.corpus.corpus_files(corpus)[0]
    counted = pw.train.recorded_pipeline(first)
    if preset is None:
        with naming_counts(first):
            plan = Plan.of(None, model, None, given, counted=counted)
    return plan


@contextmanager
def naming_counts(path: str) -> Iterator[None]:
    """Name a counts file in the errors about its words."""
    try:
        yield
    except pw.errors.ArgumentError as error:
        if error.place == "counts":
            error.place = f"{path}: counts"
        else:
            error.also = (*error.also, path)
        raise


def check_counting(
    corpus: Sequence[str], plan: Plan, reading: Reading, counting: Mapping[str, Any]
) -> None:
    """Raise for options that do not suit texts or counts, and for files that cannot be read."""
    given = given_options(dict(counting))
    if are_counts_files(corpus, reading["field"], plan.sentences):
        for name in given.keys() - _ALSO_FOR_COUNTS:
            problem = "does not apply to counts files, only to text files"
            raise pw.errors.ArgumentError(name, problem)
    else:
        options: dict[str, Any] = {**reading, **given}
        count = CorpusCount.of(corpus, plan.pipeline, sentences=plan.sentences, **options)
        count.check_checkpoint()
    if reading["on_error"] != "skip":
        for path in pw.corpus.corpus_files(corpus):
            _check_readable(path)


def check_words(corpus: Sequence[str], plan: Plan, reading: Reading, preset: str | None) -> None:
    """Raise for counts files with words that the plan does not learn from; `preset` is the one given."""
    if not are_counts_files(corpus, reading["field"], plan.sentences):
        return
    for path in pw.corpus.corpus_files(corpus):
        counted = pw.train.recorded_pipeline(path)
        if counted is None or counted.agrees_with(plan.pipeline):
            continue
        with naming_counts(path):
            if preset is not None or plan.trainer.has_own_pipeline:
                preset_for_counts(counted, plan.trainer, plan.preset)
            problem = (
                f"have words of {source_of(counted)}, and others of {source_of(plan.pipeline)}"
            )
            raise pw.errors.ArgumentError("counts", f"{problem}; count all with one preset")


def _check_readable(path: str) -> None:
    """Raise `FileError` unless a file is there and may be read, without opening it."""
    if path == "-" or "://" in path:
        return
    with pw.errors.FileError.while_reading(path):
        os.stat(path)
        if not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def given_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that the user gave."""
    return {name: value for name, value in options.items() if value is not None and value != ()}


def count_or_load(
    corpus: Sequence[str],
    pipeline: pw.train.Pipeline,
    reading: Reading,
    sentences: pw.train.Sentences | None = None,
    first_source: int = 0,
    counting: Mapping[str, Any] | None = None,
) -> pw.Counts:
    """Count the words that a pipeline produces from a corpus, or load and merge counts files."""
    given = given_options(dict(counting or {}))
    if are_counts_files(corpus, reading["field"], sentences):
        return reduce(pw.Counts.merge, map(pw.Counts.load, pw.corpus.corpus_files(corpus)))
    counts = pw.count_files(
        corpus,
        preset=pipeline,
        progress=not is_quiet(),
        sentences=sentences,
        first_source=first_source,
        **reading,
        **given,
    )
    if not len(counts):
        raise pw.errors.CorpusError(", ".join(corpus), "has no words; give files with text")
    return counts


def are_counts_files(
    corpus: Sequence[str], field: str | None, sentences: pw.train.Sentences | None = None
) -> bool:
    """Return whether a corpus consists of counts files, by their content; raises if a part of it does."""
    counted_lines = sentences is not None and sentences.with_counts
    suffixes = COUNTS_SUFFIXES[:1] if counted_lines else COUNTS_SUFFIXES
    with_counts, with_text = _by_content(pw.corpus.corpus_files(corpus), field, suffixes)
    if with_counts and with_text:
        found = f"both text files and counts files (text: {with_text[0]}, counts: {with_counts[0]})"
        raise pw.errors.ArgumentError("CORPUS", f"has {found}; give files of one kind")
    return not with_text


def _by_content(
    files: Sequence[str], field: str | None, suffixes: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the files of word counts, and the others."""
    kinds: tuple[list[str], list[str]] = ([], [])
    for path in files:
        is_counts = path.lower().endswith(tuple(suffixes)) and is_counts_file(path, field)
        kinds[0 if is_counts else 1].append(path)
    return kinds
