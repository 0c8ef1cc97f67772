"""`piecework extend`: a tokenizer and new text in, a tokenizer with more entries out."""

from __future__ import annotations

from typing import Literal

import click

import piecework as pw
from piecework.cli.options import counts_by, reading_options
from piecework.cli.resizing import check_outputs, map_option, save_resized

_EXAMPLE = """\b
Example:
  piecework extend tokenizer.json medicine.txt -n 2000 -o larger.json --map ids.npy
"""


@click.command(epilog=_EXAMPLE)
@click.argument("tokenizer")
@click.argument("corpus", nargs=-1, required=True)
@click.option("-n", "n", type=click.IntRange(min=0), required=True, help="Entries to add.")
@click.option(
    "--score",
    type=click.Choice(["likelihood", "frequency", "pmi"]),
    help="How WordPiece chooses pairs.  [default: likelihood; BPE: frequency]",
)
@click.option(
    "--min-frequency",
    type=click.IntRange(min=0),
    default=2,
    show_default=True,
    help="Leave out rarer pairs.",
)
@click.option("--max-token-length", type=click.IntRange(min=1), help="In characters.")
@reading_options
@map_option
@click.option("-o", "--output", "path", required=True, help="tokenizer.json, *.txt or -.")
def extend(
    tokenizer: str,
    corpus: tuple[str, ...],
    n: int,
    score: Literal["likelihood", "frequency", "pmi"] | None,
    min_frequency: int,
    max_token_length: int | None,
    field: str | None,
    errors: Literal["replace", "strict"],
    workers: int | None,
    map_path: str | None,
    path: str,
) -> None:
    """Learn further entries for TOKENIZER from CORPUS; the ids that there are stay.

    CORPUS: what `piecework train` takes; counts must have been made with the tokenizer's pipeline.
    """
    loaded = pw.Tokenizer.load(tokenizer)
    check_outputs(path, map_path)
    pipeline = pw.train.pipeline_of(loaded.spec)
    counts = counts_by(corpus, pipeline, field, errors, workers)
    larger, id_map = loaded.extend(
        counts,
        n,
        score=score,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        show_progress=True,
    )
    save_resized(larger, id_map, path, map_path)
