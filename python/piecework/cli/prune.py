"""`piecework prune`: a tokenizer in, one with only some of its tokens out."""

from __future__ import annotations

from typing import Literal

import click

import piecework as pw
from piecework.bars import progress_bar
from piecework.cli.options import reading_options
from piecework.cli.resizing import check_outputs, map_option, save_resized
from piecework.cli.streams import line_batches, text_of

_EXAMPLE = """\b
Example:
  piecework prune tokenizer.json --min-count 5 --corpus english.txt -o smaller.json --map ids.npy
  piecework prune tokenizer.json --keep tokens.txt -o smaller.json
"""


@click.command(epilog=_EXAMPLE)
@click.argument("tokenizer")
@click.option("--keep", "keep_path", metavar="FILE", help="Tokens to keep, one a line.")
@click.option(
    "--min-count",
    type=click.IntRange(min=1),
    help="Keep the tokens that occur so often in the corpus.",
)
@click.option(
    "--corpus", multiple=True, metavar="FILE", help="Text or JSON lines, - for stdin; repeatable."
)
@click.option("--drop-alphabet", is_flag=True, help="Let single characters and bytes go too.")
@reading_options
@map_option
@click.option("-o", "--output", "path", required=True, help="tokenizer.json, *.txt or -.")
def prune(
    tokenizer: str,
    keep_path: str | None,
    min_count: int | None,
    corpus: tuple[str, ...],
    drop_alphabet: bool,
    field: str | None,
    errors: Literal["replace", "strict"],
    workers: int | None,
    map_path: str | None,
    path: str,
) -> None:
    """Keep only some tokens of TOKENIZER: those of a file, those that a corpus uses, or both.

    Special tokens, and what the tokens kept are made of, stay as well.
    """
    if keep_path is None and min_count is None:
        raise click.UsageError("give --keep or --min-count, or both")
    if (min_count is None) != (not corpus):
        raise click.UsageError("--min-count and --corpus go together")
    loaded = pw.Tokenizer.load(tokenizer)
    check_outputs(path, map_path)
    keep: list[str | int] = []
    if keep_path is not None:
        lines = (line for batch in line_batches([keep_path]) for line in batch)
        keep += filter(None, (text_of(line, "strict") for line in lines))
    if min_count is not None:
        with progress_bar("counting") as progress:
            counts = pw.analysis.token_counts(
                loaded, corpus, field=field, errors=errors, workers=workers, progress=progress
            )
        keep += (counts >= min_count).nonzero()[0].tolist()
    smaller, id_map = loaded.prune(keep, keep_alphabet=not drop_alphabet)
    save_resized(smaller, id_map, path, map_path)
