"""`piecework count`: count the words of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

import piecework as pw
from piecework.cli.notes import note, progress
from piecework.cli.options import (
    COUNTS_SUFFIXES,
    OnError,
    are_counts_files,
    corpus_options,
    count_or_load,
    counting_options,
    given_options,
)
from piecework.cli.outputs import check_output
from piecework.cli.parameters import InputFile, command, option, output_option, quiet_option
from piecework.io.atomic_files import atomic_stream

_EXAMPLE = """\b
Example:
  piecework count corpus.txt --preset bert-cased -o counts.parquet
  piecework count corpus.txt -o - | head
  piecework count b.txt --first-source 1 -o b.parquet
  piecework count en/ cs/ --source-weights 1,2.5 --memory 2GB --checkpoint state -o counts.parquet
"""


@command(epilog=_EXAMPLE)
@click.argument("corpus", nargs=-1, required=True, type=InputFile())
@corpus_options
@option(
    "--first-source",
    section="Corpus",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Number of the first file. For --ties first-seen, the files of all shards need distinct numbers.",
)
@counting_options
@output_option("File to write: .parquet or .tsv; - writes TSV to stdout.", required=True)
@quiet_option
def count(
    corpus: tuple[str, ...],
    preset: str | None,
    field: str | None,
    errors: Literal["replace", "strict"],
    on_error: OnError,
    num_threads: int | None,
    first_source: int,
    path: str,
    **counting: Any,
) -> None:
    """Count the words of CORPUS, for later training.

    CORPUS: text, JSON lines (.jsonl), .csv, .tsv, .parquet or .arrow files, the first four optionally
    compressed (.gz, .zst, .xz, .bz2); directories of these, quoted patterns such as 'data/**/*.jsonl.gz',
    URLs such as s3://bucket/data.jsonl, or - for stdin.
    Counts files (.parquet, .tsv), recognized by content, are merged.
    """
    plan = pw.train.Plan.of(None, None, preset or "bert-uncased", {})
    if path != "-" and Path(path).suffix.lower() not in COUNTS_SUFFIXES:
        raise pw.errors.ArgumentError(
            "output", repr(path), "a file name that ends in .parquet or .tsv, or - for stdout"
        )
    check_output(path)
    with_files = not are_counts_files(corpus, field, plan.sentences) and not plan.sentences.size
    if path != "-" and with_files:
        with progress("counting", in_bytes=True) as update:
            words, distinct = pw.train.count_files_to(
                path,
                corpus,
                preset=plan.pipeline,
                progress=update,
                field=field,
                errors=errors,
                on_error=on_error,
                num_threads=num_threads,
                first_source=first_source,
                sentences=plan.sentences,
                **given_options(counting),
            )
    else:
        counts = count_or_load(
            corpus,
            plan.pipeline,
            field,
            errors,
            num_threads,
            plan.sentences,
            first_source,
            on_error,
            counting,
        )
        words, distinct = counts.total, len(counts)
        if path == "-":
            with atomic_stream(path) as stream:
                counts.write_tsv(stream)
            return
        counts.save(path)
    note(f"{words:,} words, {distinct:,} distinct, saved as {path}")
