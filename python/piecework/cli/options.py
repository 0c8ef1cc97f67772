"""What commands that count a corpus share: their options, and reading texts or counts files."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any

import piecework as pw
from piecework._internal.setting_fields import settings_of
from piecework.cli.parameters import NameChoice, in_corpus, is_quiet
from piecework.cli.reading import Reading, given_options, reading_options
from piecework.cli.training_options import setting_options
from piecework.train.counting import CorpusCount, FileCountSettings
from piecework.train.counts_files import is_counts_file
from piecework.train.learn import preset_for_counts, source_of
from piecework.train.plan import Plan
from piecework.train.trainer import traits_of

COUNTS_SUFFIXES = (".parquet", ".tsv")
PRESETS = tuple(pw.train.PRESETS)
ALL_PRESETS = tuple(dict.fromkeys((*PRESETS, *pw.train.SENTENCEPIECE_PRESETS)))


def corpus_options(
    presets: Sequence[str] = ALL_PRESETS,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the options for the pipeline and for reading a corpus."""
    names = NameChoice(presets, "preset")
    preset = in_corpus(
        "--preset",
        type=names,
        help=f"Preset of normalizer, pre-tokenizer and decoder, {names.examples}.",
    )
    return lambda command: preset(reading_options(command))


COUNTING_NAMES = tuple(
    name for name, (about, _) in settings_of(FileCountSettings).items() if about.option is not None
)
"""The arguments of `counting_options`."""

_ALSO_FOR_COUNTS = {"memory", "checkpoint", "checkpoint_seconds", "keep_checkpoint"}


counting_options = setting_options(FileCountSettings, *COUNTING_NAMES, section="Large corpora")
"""Adds the options for counting a large corpus."""


def plan_for(corpus: Sequence[str], field: str | None, preset: str | None, **options: Any) -> Plan:
    """Return the plan of training; without a preset, counts files decide the pipeline."""
    plan = Plan.of(preset=preset, **options)
    if preset is not None or not are_counts_files(corpus, field, plan.sentences):
        return plan
    first = pw.corpus.corpus_files(corpus)[0]
    with naming_counts(first):
        return Plan.of(counted=pw.train.recorded_pipeline(first), **options)


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
            raise pw.errors.ArgumentError(
                name, "does not apply to counts files, only to text files"
            )
    else:
        settings = FileCountSettings(sentences=plan.sentences, **{**reading, **given})
        CorpusCount(corpus, plan.pipeline, settings).check_checkpoint()
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
            if preset is not None or traits_of(plan.trainer).has_own_pipeline:
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


def count_or_load(
    corpus: Sequence[str],
    pipeline: pw.train.Pipeline,
    reading: Reading,
    sentences: pw.train.Sentences | None = None,
    counting: Mapping[str, Any] | None = None,
) -> pw.Counts:
    """Count the words that a pipeline produces from a corpus, or load and merge counts files."""
    if are_counts_files(corpus, reading["field"], sentences):
        return reduce(pw.Counts.merge, map(pw.Counts.load, pw.corpus.corpus_files(corpus)))
    counts = pw.count_files(
        corpus,
        preset=pipeline,
        progress=not is_quiet(),
        sentences=sentences,
        **reading,
        **given_options(dict(counting or {})),
    )
    if not len(counts):
        raise pw.errors.CorpusError(", ".join(corpus), "has no words; give files with text")
    return counts


def are_counts_files(
    corpus: Sequence[str], field: str | None, sentences: pw.train.Sentences | None = None
) -> bool:
    """Return whether a corpus consists of counts files, by content; raise if only a part of it does."""
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
