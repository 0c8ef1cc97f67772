"""`piecework extend`: a tokenizer and new text in, a tokenizer with more entries out."""

from __future__ import annotations

from typing import Literal

import click

import piecework as pw
from piecework.cli.options import counts_by, reading_options
from piecework.cli.parameters import (
    InputFile,
    TokenizerOutput,
    command,
    is_quiet,
    option,
    output_option,
    quiet_option,
)
from piecework.cli.resizing import check_outputs, map_option, save_resized
from piecework.cli.tokenizer_options import (
    Hints,
    load_tokenizer,
    tokenizer_argument,
    tokenizer_options,
)

_EXAMPLE = """\b
Example:
  piecework extend tokenizer.json medicine.txt -n 2000 -o larger.json --map ids.npy
"""


@command(epilog=_EXAMPLE)
@tokenizer_argument()
@click.argument("corpus", nargs=-1, required=True, type=InputFile())
@option(
    "-n",
    "n",
    section="Vocabulary",
    type=click.IntRange(min=0),
    required=True,
    help="Entries to add.",
)
@option(
    "--score",
    section="Vocabulary",
    type=click.Choice(["likelihood", "frequency", "pmi"]),
    help="How WordPiece chooses pairs.  [default: likelihood; BPE: frequency]",
)
@option(
    "--min-frequency",
    section="Vocabulary",
    type=click.IntRange(min=0),
    default=2,
    show_default=True,
    help="Leave out rarer pairs.",
)
@option(
    "--max-token-length", section="Vocabulary", type=click.IntRange(min=1), help="In characters."
)
@reading_options
@tokenizer_options
@map_option
@output_option("tokenizer.json, *.txt or -.", type=TokenizerOutput(), required=True)
@quiet_option
def extend(
    tokenizer: str,
    corpus: tuple[str, ...],
    n: int,
    score: Literal["likelihood", "frequency", "pmi"] | None,
    min_frequency: int,
    max_token_length: int | None,
    field: str | None,
    errors: Literal["replace", "strict"],
    num_threads: int | None,
    hints: Hints,
    map_path: str | None,
    path: str,
) -> None:
    """Add entries learned from CORPUS to TOKENIZER; existing ids stay the same.

    CORPUS: what `piecework train` takes; counts must have been made with the tokenizer's pipeline.
    """
    loaded = load_tokenizer(tokenizer, hints)
    check_outputs(path, map_path)
    pipeline = pw.train.pipeline_of(loaded.spec)
    counts = counts_by(corpus, pipeline, field, errors, num_threads)
    larger, id_map = loaded.extend(
        counts,
        n,
        score=score,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        show_progress=not is_quiet(),
    )
    save_resized(larger, id_map, path, map_path)
