"""`piecework bench`: how fast a tokenizer is on a corpus, here, and beside other libraries."""

from __future__ import annotations

import json
from typing import Literal

import click

import piecework as pw
from piecework.bars import progress_bar
from piecework.cli.options import reading_options
from piecework.cli.tables import show_table

_EXAMPLE = """\b
Example:
  piecework bench tokenizer.json corpus.txt --against tokenizers
  piecework bench spiece.model corpus.jsonl.gz --against sentencepiece --json
  piecework bench cl100k_base.tiktoken corpus.txt --encoding cl100k_base --against tiktoken
"""


@click.command(epilog=_EXAMPLE)
@click.argument("tokenizer")
@click.argument("corpus", nargs=-1, required=True, metavar="CORPUS...")
@click.option(
    "--against",
    multiple=True,
    type=click.Choice(["tokenizers", "sentencepiece", "tiktoken"]),
    help="Measure this library on the same file too, and compare ids; repeatable (extra: bench).",
)
@click.option(
    "--repetitions", type=click.IntRange(min=1), default=3, show_default=True, help="Of everything."
)
@click.option(
    "--megabytes",
    type=click.FloatRange(min=0, min_open=True),
    default=16,
    show_default=True,
    help="How much of the corpus to use.",
)
@click.option("--merges", help="Merges that belong to a vocab.json.")
@click.option("--encoding", help=f"What ranks are: {', '.join(pw.spec.ENCODINGS)}.")
@click.option("--pattern", help="How ranks, or a vocabulary with merges, split text.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@reading_options
def bench(
    tokenizer: str,
    corpus: tuple[str, ...],
    against: tuple[str, ...],
    repetitions: int,
    megabytes: float,
    merges: str | None,
    encoding: str | None,
    pattern: str | None,
    as_json: bool,
    field: str | None,
    errors: Literal["replace", "strict"],
    workers: int | None,
) -> None:
    """Measure how fast TOKENIZER encodes and decodes a corpus.

    Cold is the first quarter of the texts, for a tokenizer that has just been loaded; steady the half that
    comes after it. Run it on a quiet machine, and give it ten megabytes or more.
    """
    loaded = pw.Tokenizer.load(tokenizer, merges=merges, encoding=encoding, pattern=pattern)
    with progress_bar("measuring") as progress:
        found = pw.analysis.bench_files(
            tokenizer,
            list(corpus),
            tokenizer=loaded,
            against=against,
            megabytes=megabytes,
            field=field,
            errors=errors,
            repetitions=repetitions,
            workers=workers,
            progress=progress,
        )
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        show_table(pw.analysis.speed_table(found))
