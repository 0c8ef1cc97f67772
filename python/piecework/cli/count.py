"""`piecework count`: count the words of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

import piecework as pw
from piecework.cli.notes import note
from piecework.cli.options import COUNTS_SUFFIXES, OnError, corpus_options, count_or_load
from piecework.cli.outputs import check_output
from piecework.cli.parameters import InputFile, command, option, output_option, quiet_option
from piecework.io.atomic_files import atomic_stream

_EXAMPLE = """\b
Example:
  piecework count corpus.txt --preset bert-cased -o counts.parquet
  piecework count corpus.txt -o - | head
  piecework count b.txt --first-source 1 -o b.parquet
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
    counts = count_or_load(
        corpus, plan.pipeline, field, errors, num_threads, plan.sentences, first_source, on_error
    )
    if path == "-":
        with atomic_stream(path) as stream:
            counts.write_tsv(stream)
    else:
        counts.save(path)
        note(f"{counts.total:,} words, {len(counts):,} distinct, saved as {path}")
