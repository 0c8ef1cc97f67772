"""Options that several verbs share; what is not given is left to the library's own defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any, Literal, TypeVar

import click
from click.core import ParameterSource

import piecework as pw
from piecework.cli.notes import progress
from piecework.cli.parameters import Name, apply, option

Command = TypeVar("Command", bound=Callable[..., Any])

COUNTS_SUFFIXES = (".parquet", ".tsv")
PRESET = Name(tuple(dict.fromkeys((*pw.train.PRESETS, *pw.train.SENTENCEPIECE_PRESETS))), "preset")


def corpus_options(command: Command) -> Command:
    """Add the pipeline that makes words of a corpus, and how to read it."""
    preset = option(
        "--preset",
        section="Corpus",
        type=PRESET,
        help=f"Pipeline: {', '.join(PRESET.names)}.",
    )
    return preset(reading_options(command))


def reading_options(command: Command) -> Command:
    """Add how to read a corpus."""
    field = option(
        "--field",
        section="Corpus",
        metavar="NAME",
        help="Text field of JSON lines; with it, stdin is read as JSON lines.  [default: text]",
    )
    return apply((field, errors_option, num_threads_option), command)


def errors_option(command: Command) -> Command:
    """Add what to do about invalid UTF-8."""
    decorate = option(
        "--errors",
        section="Corpus",
        type=click.Choice(["replace", "strict"]),
        default="replace",
        show_default=True,
        help="What to do about invalid UTF-8.",
    )
    return decorate(command)


def num_threads_option(command: Command) -> Command:
    """Add the number of threads."""
    decorate = option(
        "--num-threads",
        section="Corpus",
        type=click.IntRange(min=1),
        help="Threads  [default: all cores]",
    )
    return decorate(command)


def training_options(command: Command) -> Command:
    """Add the settings of the trainers; the defaults named are WordPiece's."""
    return apply(
        (*_vocabulary_options(), *_wordpiece_options(), *_bpe_options(), *_unigram_options()),
        command,
    )


def _vocabulary_options() -> tuple[Callable[[Command], Command], ...]:
    add = partial(option, section="Vocabulary")
    return (
        add(
            "--model",
            type=click.Choice(["wordpiece", "bpe", "byte-bpe", "unigram", "word", "char"]),
            default="wordpiece",
            show_default=True,
            help="Kind of model.",
        ),
        add("--vocab-size", type=int, help="Entries in all.  [default: 30000; unigram: 8000]"),
        add("--min-frequency", type=int, help="Leave out rarer pairs.  [default: 2]"),
        add("--limit-alphabet", type=int, help="Keep this many characters."),
        add(
            "--initial-alphabet",
            metavar="CHARS",
            help="Characters to have in any case, as one string.",
        ),
        add(
            "--special-token",
            "special_tokens",
            multiple=True,
            metavar="TOKEN",
            help="Repeatable, in id order.  [default: [PAD] [UNK] [CLS] [SEP] [MASK]]",
        ),
        add(
            "--user-defined-symbol",
            "user_defined_symbols",
            multiple=True,
            metavar="TOKEN",
            help="Repeatable; always a token of its own (unigram, SentencePiece).",
        ),
    )


def _wordpiece_options() -> tuple[Callable[[Command], Command], ...]:
    add = partial(option, section="WordPiece")
    return (
        add(
            "--score",
            type=click.Choice(pw.WordPieceTrainer.SCORES),
            help="How WordPiece chooses pairs. pmi is the textbook formula and makes poor "
            "vocabularies of real text unless --min-frequency is high.  [default: likelihood]",
        ),
    )


def _bpe_options() -> tuple[Callable[[Command], Command], ...]:
    both = partial(option, section="WordPiece and BPE")
    add = partial(option, section="BPE")
    return (
        both("--max-token-length", type=int, help="In characters, without ##."),
        both(
            "--ties",
            type=click.Choice(
                list(dict.fromkeys((*pw.WordPieceTrainer.TIES, *pw.BPETrainer.TIES)))
            ),
            help="Which of equally scored pairs is merged; first-seen needs first positions.  "
            "[default: smallest-strings; frequency, bpe: lowest-ids; pmi: first-seen]",
        ),
        add("--end-of-word-suffix", metavar="SUFFIX", help="What ends a word's last token."),
    )


def _unigram_options() -> tuple[Callable[[Command], Command], ...]:
    both = partial(option, section="Unigram and SentencePiece")
    add = partial(option, section="Unigram")
    return (
        both(
            "--byte-fallback",
            is_flag=True,
            default=None,
            help="Encode unknown characters as bytes.",
        ),
        both(
            "--character-coverage",
            type=float,
            help="Share of the text that the alphabet covers.  [default: 0.9995]",
        ),
        both(
            "--shrinking-factor",
            type=float,
            help="Share of the pieces that each pruning round keeps.  [default: 0.75]",
        ),
        add("--seed-size", type=int, help="Pieces to begin with.  [default: 1000000]"),
        add("--max-piece-length", type=int, help="In characters.  [default: 16]"),
    )


def kind_of_model(model: str, given: Mapping[str, Any]) -> str | None:
    """Return the kind of model that was asked for, None where the preset decides it."""
    if "model_type" in given:
        return "sentencepiece"
    source = click.get_current_context().get_parameter_source("model")
    return None if source is ParameterSource.DEFAULT else model


def given_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in options.items() if value is not None and value != ()}


def counts_by(
    corpus: Sequence[str],
    pipeline: pw.train.Pipeline,
    field: str | None,
    errors: Literal["replace", "strict"],
    num_threads: int | None,
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
    with progress("counting") as update:
        counts = pw.count_files(
            corpus,
            pipeline=pipeline,
            field=field,
            errors=errors,
            num_threads=num_threads,
            progress=update,
            sentences=sentences,
            first_source=first_source,
        )
    if not len(counts):
        raise pw.errors.CorpusError(", ".join(corpus), "no words", "text")
    return counts
