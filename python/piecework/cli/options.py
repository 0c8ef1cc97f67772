"""Options that several commands share; an option that is not given uses the default of the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial, reduce
from itertools import chain
from typing import Any, Literal, TypeVar

import click
from click.core import ParameterSource

import piecework as pw
from piecework.cli.notes import progress
from piecework.cli.parameters import NameChoice, VocabSizes, apply, option

Command = TypeVar("Command", bound=Callable[..., Any])

COUNTS_SUFFIXES = (".parquet", ".tsv")
OnError = Literal["fail", "skip"]
PRESET = NameChoice(
    tuple(dict.fromkeys((*pw.train.PRESETS, *pw.train.SENTENCEPIECE_PRESETS))), "preset"
)


def corpus_options(command: Command) -> Command:
    """Add the option for the pipeline, and those for reading a corpus."""
    preset = option(
        "--preset",
        section="Corpus",
        type=PRESET,
        help=f"Preset of normalizer, pre-tokenizer and decoder: {', '.join(PRESET.names)}.",
    )
    return preset(reading_options(on_error_option(command)))


def reading_options(command: Command) -> Command:
    """Add the options for reading a corpus."""
    field = option(
        "--field",
        section="Corpus",
        metavar="NAME",
        help="Field with the text in JSON lines, or column of a table; a.b is field b of the object a. With "
        "this option, stdin is read as JSON lines.  [default: text]",
    )
    return apply((field, errors_option, num_threads_option), command)


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
        add("--sample-seed", "seed", type=int, help="Seed of the sample.  [default: 0]"),
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


def on_error_option(command: Command) -> Command:
    """Add the option for input with errors."""
    decorate = option(
        "--on-error",
        section="Corpus",
        type=click.Choice(["fail", "skip"]),
        default="fail",
        show_default=True,
        help="Stop at the first error in a line or file, or skip it and print how many were skipped.",
    )
    return decorate(command)


def errors_option(command: Command) -> Command:
    """Add the option for invalid UTF-8."""
    decorate = option(
        "--errors",
        section="Corpus",
        type=click.Choice(["replace", "strict"]),
        default="replace",
        show_default=True,
        help="Replace invalid UTF-8 by U+FFFD, or stop with an error.",
    )
    return decorate(command)


def num_threads_option(command: Command) -> Command:
    """Add the option for the number of threads."""
    decorate = option(
        "--num-threads",
        section="Corpus",
        type=click.IntRange(min=1),
        help="Number of threads.  [default: one per CPU]",
    )
    return decorate(command)


def training_options(command: Command) -> Command:
    """Add the options of the trainers; the help shows the defaults of WordPiece."""
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
            help="Model type.  [default: wordpiece; for some presets another, such as byte-bpe for gpt2]",
        ),
        add(
            "--vocab-size",
            type=VocabSizes(),
            metavar="N[,N...]",
            help="Size of the vocabulary, special tokens included, such as 32000 or 32k; several sizes, such "
            "as 8k,16k,32k, write one tokenizer each.  [default: 30000; unigram: 8000]",
        ),
        add(
            "--min-frequency",
            type=int,
            help="Do not learn pairs or substrings that occur less often.  [default: 2]",
        ),
        add("--limit-alphabet", type=int, help="Keep only the N most frequent characters."),
        add(
            "--initial-alphabet",
            metavar="CHARS",
            help="Characters to include even if they do not occur, as one string.",
        ),
        add(
            "--special-token",
            "special_tokens",
            multiple=True,
            metavar="TOKEN",
            help="Special token; repeat the option in the order of ids.  "
            "[default: [PAD] [UNK] [CLS] [SEP] [MASK]]",
        ),
        add(
            "--user-defined-symbol",
            "user_defined_symbols",
            multiple=True,
            metavar="TOKEN",
            help="String that is always one token (unigram, SentencePiece); repeatable.",
        ),
    )


def _wordpiece_options() -> tuple[Callable[[Command], Command], ...]:
    add = partial(option, section="WordPiece")
    return (
        add(
            "--learner",
            type=click.Choice(list(pw.train.LEARNERS)),
            help="How to learn: remove the least useful of many substrings, merge pairs by --score, or "
            "keep the longest frequent substrings.  [default: pruning; with --score or --ties: merges]",
        ),
        add(
            "--score",
            type=click.Choice(pw.train.Merges.SCORES),
            help="With merges: score that selects the next pair. pmi is the textbook formula; with a low "
            "--min-frequency it learns rare, noisy tokens.  [default: likelihood]",
        ),
        add(
            "--segmentation",
            type=click.Choice(pw.train.Pruning.SEGMENTATIONS),
            help="With pruning: learn for longest match, or for the fewest tokens, which other "
            "libraries do not have.  [default: greedy]",
        ),
        add(
            "--balance",
            type=float,
            help="With pruning: weight of surprisal in the cost of a token; 2 gives boundaries "
            "nearer to those of morphemes, and more tokens.  [default: 0]",
        ),
        add(
            "--max-use-cost",
            type=float,
            help="With pruning: the most that one use of an entry counts for; 1.5 leaves fewer "
            "rarely used entries.  [default: no limit]",
        ),
    )


def _bpe_options() -> tuple[Callable[[Command], Command], ...]:
    both = partial(option, section="WordPiece and BPE")
    add = partial(option, section="BPE")
    return (
        both(
            "--max-token-length", type=int, help="Longest token to learn, in characters without ##."
        ),
        both(
            "--ties",
            type=click.Choice(list(dict.fromkeys((*pw.train.Merges.TIES, *pw.BPETrainer.TIES)))),
            help="Which of several pairs with equal scores to merge; first-seen needs counts with "
            "positions.  "
            "[default: smallest-strings; frequency, bpe: lowest-ids; pmi: first-seen]",
        ),
        both(
            "--alphabet-order",
            type=click.Choice(
                list(
                    dict.fromkeys(
                        (*pw.WordPieceTrainer.ALPHABET_ORDERS, *pw.ByteBPETrainer.ALPHABET_ORDERS)
                    )
                )
            ),
            help="Order of the alphabet in the vocabulary; first-seen needs counts with positions, "
            "word-starts-first is for wordpiece, byte-values for byte-bpe.  [default: sorted]",
        ),
        add(
            "--end-of-word-suffix",
            metavar="SUFFIX",
            help="Suffix of the last token of a word, such as </w>.",
        ),
    )


def _unigram_options() -> tuple[Callable[[Command], Command], ...]:
    both = partial(option, section="Unigram and SentencePiece")
    add = partial(option, section="Unigram")
    return (
        both(
            "--byte-fallback",
            is_flag=True,
            default=None,
            help="Encode unknown characters as byte tokens such as <0x0A>.",
        ),
        both(
            "--character-coverage",
            type=float,
            help="Share of the characters of the corpus that the alphabet covers.  [default: 0.9995]",
        ),
        both(
            "--shrinking-factor",
            type=float,
            help="Share of the pieces that each pruning step keeps.  [default: 0.75]",
        ),
        add(
            "--seed-size",
            type=int,
            help="Number of seed pieces, also of pruning.  [default: 16 for each entry; pruning: eight]",
        ),
        add(
            "--count-exponent",
            type=float,
            help="EM weights a word by its count to this power; 0.8 gives boundaries nearer to those of "
            "morphemes, and more tokens.  [default: 1]",
        ),
        add(
            "--max-piece-length",
            type=int,
            help="Longest piece to learn, in characters.  [default: 16]",
        ),
    )


def requested_model(model: str, given: Mapping[str, Any]) -> str | None:
    """Return the model type that the user requested, None if the preset determines it."""
    if "model_type" in given:
        return "sentencepiece"
    source = click.get_current_context().get_parameter_source("model")
    return None if source is ParameterSource.DEFAULT else model


def plan_for(
    corpus: Sequence[str],
    model: str | None,
    preset: str | None,
    field: str | None,
    given: dict[str, Any],
) -> pw.train.Plan:
    """Return the plan of a training; without a preset, counts files have the pipeline that made them."""
    plan = plan_of(model, preset, given)
    if preset is not None or not are_counts_files(corpus, field, plan.sentences):
        return plan
    counted = pw.train.recorded_pipeline(pw.corpus.corpus_files(corpus)[0])
    return plan_of(model, None, given, counted)


def plan_of(
    model: str | None,
    preset: str | None,
    given: Mapping[str, Any],
    counted: pw.train.Pipeline | None = None,
) -> pw.train.Plan:
    """Return the plan for the options of a training; those of a learner become one setting.

    >>> plan_of(None, None, {"score": "pmi"}).trainer.learner
    Merges(score='pmi', ties=None)

    Raises `ArgumentError` for options of different learners.
    """
    settings = dict(given)
    if LEARNER_OPTIONS & given.keys():
        kind = pw.train.Plan.of(None, model, preset, {}, counted=counted).trainer.kind
        settings = _with_learner(settings) if kind == "wordpiece" else settings
    return pw.train.Plan.of(None, model, preset, settings, counted=counted)


def _with_learner(given: Mapping[str, Any]) -> dict[str, Any]:
    options = {name: value for name, value in given.items() if name in LEARNER_OPTIONS}
    chosen = options.pop("learner", None) or _learner_with(next(iter(options)))
    if isinstance(chosen, pw.train.Learner):  # that of an example
        return dict(given)
    kind = pw.train.LEARNERS[chosen]
    for name, value in options.items():
        if name not in _fields_of(kind):
            expected = f"--learner {_learner_with(name)}, which has this option"
            raise pw.errors.ArgumentError(name, f"{value!r} with --learner {chosen}", expected)
    rest = {name: value for name, value in given.items() if name not in LEARNER_OPTIONS}
    return rest | {"learner": kind(**options)}


def _learner_with(option: str) -> str:
    """Return the name of the learner that has an option."""
    kinds = pw.train.LEARNERS.items()
    return next(name for name, kind in kinds if option in _fields_of(kind))


def _fields_of(learner: type[pw.train.Learner]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(learner))  # type: ignore[arg-type]


LEARNER_OPTIONS = {"learner", *chain(*map(_fields_of, pw.train.LEARNERS.values()))}


def given_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that the user gave."""
    return {name: value for name, value in options.items() if value is not None and value != ()}


def count_or_load(
    corpus: Sequence[str],
    pipeline: pw.train.Pipeline,
    field: str | None,
    errors: Literal["replace", "strict"],
    num_threads: int | None,
    sentences: pw.train.Sentences | None = None,
    first_source: int = 0,
    on_error: OnError = "fail",
    counting: Mapping[str, Any] | None = None,
) -> pw.Counts:
    """Count the words that a pipeline produces from a corpus, or load and merge counts files."""
    given = given_options(dict(counting or {}))
    if are_counts_files(corpus, field, sentences):
        for name in given.keys() - _ALSO_FOR_COUNTS:
            raise pw.errors.ArgumentError(name, "counts files", "text files")
        return reduce(pw.Counts.merge, map(pw.Counts.load, pw.corpus.corpus_files(corpus)))
    with progress("counting", in_bytes=True) as update:
        counts = pw.count_files(
            corpus,
            preset=pipeline,
            field=field,
            errors=errors,
            on_error=on_error,
            num_threads=num_threads,
            progress=update,
            sentences=sentences,
            first_source=first_source,
            **given,
        )
    if not len(counts):
        raise pw.errors.CorpusError(", ".join(corpus), "no words", "files with text")
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
        raise pw.errors.ArgumentError("CORPUS", found, "files of one kind")
    return not with_text


def _by_content(
    files: Sequence[str], field: str | None, suffixes: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the files of word counts, and the others."""
    kinds: tuple[list[str], list[str]] = ([], [])
    for path in files:
        is_counts = path.lower().endswith(tuple(suffixes)) and pw.train.is_counts_file(path, field)
        kinds[0 if is_counts else 1].append(path)
    return kinds
