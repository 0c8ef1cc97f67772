"""Options that several verbs share; what is not given is left to the library's own defaults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, Literal, TypeVar

import click

import piecework as pw
from piecework.bars import progress_bar

Command = TypeVar("Command", bound=Callable[..., Any])

COUNTS_SUFFIXES = (".parquet", ".tsv")


def corpus_options(command: Command) -> Command:
    """Add the pipeline that makes words of a corpus, and how to read it."""
    names = dict.fromkeys((*pw.train.PRESETS, *pw.train.SENTENCEPIECE_PRESETS))
    preset = click.option("--preset", help=f"Pipeline: {', '.join(names)}.")
    return preset(reading_options(command))


def reading_options(command: Command) -> Command:
    """Add how to read a corpus."""
    field = click.option(
        "--field",
        help='Text field of JSON lines; with it, stdin is read as JSON lines.  [default: "text"]',
    )
    return _with((field, errors_option, workers_option), command)


def errors_option(command: Command) -> Command:
    """Add what to do about invalid UTF-8."""
    option = click.option(
        "--errors",
        type=click.Choice(["replace", "strict"]),
        default="replace",
        show_default=True,
        help="What to do about invalid UTF-8.",
    )
    return option(command)


def workers_option(command: Command) -> Command:
    """Add the number of threads."""
    option = click.option(
        "--workers", type=click.IntRange(min=1), help="Threads  [default: all cores]"
    )
    return option(command)


def training_options(command: Command) -> Command:
    """Add the settings of the trainers; the defaults named are WordPiece's."""
    options = (
        click.option(
            "--model",
            type=click.Choice(["wordpiece", "bpe", "byte-bpe", "unigram", "word", "char"]),
            default="wordpiece",
            show_default=True,
            help="Kind of model.",
        ),
        click.option(
            "--score",
            type=click.Choice(pw.train.SCORES),
            help="How WordPiece chooses pairs. pmi is the textbook formula and makes poor "
            "vocabularies of real text unless --min-frequency is high.  [default: likelihood]",
        ),
        click.option(
            "--vocab-size", type=int, help="Entries in all.  [default: 30000; unigram: 8000]"
        ),
        click.option("--min-frequency", type=int, help="Leave out rarer pairs.  [default: 2]"),
        click.option("--limit-alphabet", type=int, help="Keep this many characters."),
        click.option("--initial-alphabet", help="Characters to have in any case, as one string."),
        click.option(
            "--special-token",
            "special_tokens",
            multiple=True,
            help="Repeatable, in id order.  [default: [PAD] [UNK] [CLS] [SEP] [MASK]]",
        ),
        click.option("--max-token-length", type=int, help="In characters, without ##."),
        *unigram_options(),
        click.option("--end-of-word-suffix", help="What ends a word's last piece (bpe only)."),
        click.option(
            "--ties",
            type=click.Choice(list(dict.fromkeys((*pw.train.WORDPIECE_TIES, *pw.train.TIES)))),
            help="Which of equally scored pairs is joined; first-seen needs first positions.  "
            "[default: smallest-strings; frequency, bpe: lowest-ids; pmi: first-seen]",
        ),
    )
    return _with(options, command)


def unigram_options() -> tuple[Callable[[Command], Command], ...]:
    """Return the settings that only Unigram has."""
    return (
        click.option(
            "--user-defined-symbol",
            "user_defined_symbols",
            multiple=True,
            help="Repeatable; always a token of its own (unigram).",
        ),
        click.option(
            "--byte-fallback",
            is_flag=True,
            default=None,
            help="Spell the unknown in bytes (unigram).",
        ),
        click.option(
            "--character-coverage",
            type=float,
            help="Share of the text that the alphabet makes up (unigram).  [default: 0.9995]",
        ),
        click.option(
            "--seed-size", type=int, help="Pieces to begin with (unigram).  [default: 1000000]"
        ),
        click.option(
            "--max-piece-length", type=int, help="In characters (unigram).  [default: 16]"
        ),
        click.option(
            "--shrinking-factor", type=float, help="What a round keeps (unigram).  [default: 0.75]"
        ),
    )


def trainer_of(model: str, options: dict[str, Any], preset: pw.train.Preset) -> pw.train.Trainer:
    """Make the trainer from the training options that were given, and what is usual with the preset."""
    return pw.train.trainer_for(model, given_options(options), preset)


def given_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in options.items() if value is not None and value != ()}


def counts_of(
    corpus: Sequence[str],
    preset: pw.train.Preset,
    field: str | None,
    errors: Literal["replace", "strict"],
    workers: int | None,
) -> pw.Counts:
    """Count the words of a corpus as a preset makes them, or load and merge counts files."""
    return counts_by(corpus, preset.pipeline, field, errors, workers)


def counts_by(
    corpus: Sequence[str],
    pipeline: pw.train.Pipeline,
    field: str | None,
    errors: Literal["replace", "strict"],
    workers: int | None,
    sentences: pw.train.Sentences | None = None,
    first_source: int = 0,
) -> pw.Counts:
    """Count the words of a corpus as a pipeline makes them, or load and merge counts files."""
    counted_lines = sentences is not None and sentences.with_counts
    suffixes = COUNTS_SUFFIXES[:1] if counted_lines else COUNTS_SUFFIXES
    are_counts = [Path(path).suffix.lower() in suffixes for path in corpus]
    if all(are_counts):
        return reduce(pw.Counts.merge, map(pw.Counts.load, corpus))
    if any(are_counts):
        raise pw.errors.ArgumentError("CORPUS", "text and counts files", "one kind of them")
    with progress_bar("counting") as progress:
        counts = pw.count_files(
            corpus,
            pipeline=pipeline,
            field=field,
            errors=errors,
            workers=workers,
            progress=progress,
            sentences=sentences,
            first_source=first_source,
        )
    if not len(counts):
        raise pw.errors.CorpusError(", ".join(corpus), "no words", "text")
    return counts


def _with(options: Sequence[Callable[[Command], Command]], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
