"""`piecework prune`: a tokenizer in, one with only some of its tokens out."""

from __future__ import annotations

from typing import Literal

import click

import piecework as pw
from piecework.cli.notes import progress
from piecework.cli.options import reading_options
from piecework.cli.parameters import (
    InputFile,
    TokenizerOutput,
    command,
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
  piecework prune tokenizer.json --min-count 5 --corpus english.txt -o smaller.json --map ids.npy
  piecework prune tokenizer.json --keep tokens.txt -o smaller.json
"""


@command(epilog=_EXAMPLE)
@tokenizer_argument()
@option(
    "--keep",
    "keep_path",
    section="Vocabulary",
    type=InputFile(),
    help="Tokens to keep, one a line.",
)
@option(
    "--min-count",
    section="Vocabulary",
    type=click.IntRange(min=1),
    help="Keep the tokens that occur so often in the corpus.",
)
@option(
    "--drop-alphabet",
    section="Vocabulary",
    is_flag=True,
    help="Let single characters and bytes go too.",
)
@option(
    "--corpus",
    section="Corpus",
    multiple=True,
    type=InputFile(),
    help="Text or JSON lines, - for stdin; repeatable.",
)
@reading_options
@tokenizer_options
@map_option
@output_option("tokenizer.json, *.txt or -.", type=TokenizerOutput(), required=True)
@quiet_option
def prune(
    tokenizer: str,
    keep_path: str | None,
    min_count: int | None,
    corpus: tuple[str, ...],
    drop_alphabet: bool,
    field: str | None,
    errors: Literal["replace", "strict"],
    num_threads: int | None,
    hints: Hints,
    map_path: str | None,
    path: str,
) -> None:
    """Keep only some tokens of TOKENIZER.

    The tokens of a file are kept, those that a corpus uses, or both. Special tokens, and what the tokens
    kept are made of, stay as well.
    """
    if keep_path is None and min_count is None:
        raise click.UsageError("give --keep or --min-count, or both")
    if (min_count is None) != (not corpus):
        raise click.UsageError("--min-count and --corpus go together")
    loaded = load_tokenizer(tokenizer, hints)
    check_outputs(path, map_path)
    keep: list[str | int] = []
    if keep_path is not None:
        for lines in pw.export.read_lines(keep_path, errors="strict"):
            keep += filter(None, lines)
    if min_count is not None:
        with progress("counting") as update:
            counts = pw.analysis.token_counts(
                loaded, corpus, field=field, errors=errors, num_threads=num_threads, progress=update
            )
        keep += (counts >= min_count).nonzero()[0].tolist()
    smaller, id_map = loaded.prune(keep, keep_alphabet=not drop_alphabet)
    save_resized(smaller, id_map, path, map_path)
