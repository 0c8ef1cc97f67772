"""`piecework prune`: remove tokens from a tokenizer."""

from __future__ import annotations

from typing import Literal

import click

import piecework as pw
from piecework.cli.notes import progress
from piecework.cli.options import OnError, on_error_option, reading_options
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
    help="File of tokens to keep, one per line.",
)
@option(
    "--min-count",
    section="Vocabulary",
    type=click.IntRange(min=1),
    help="Keep tokens that occur at least N times in --corpus.",
)
@option(
    "--drop-alphabet",
    section="Vocabulary",
    is_flag=True,
    help="Also remove single characters and bytes.",
)
@option(
    "--corpus",
    section="Corpus",
    multiple=True,
    type=InputFile(),
    help="Text or JSON lines file, - for stdin; repeatable.",
)
@reading_options
@on_error_option
@tokenizer_options
@map_option
@output_option(
    "File to write: .json, .txt or another format by suffix; a name that ends in / is a folder for "
    "transformers; - writes a tokenizer.json to stdout.",
    type=TokenizerOutput(),
    required=True,
)
@quiet_option
def prune(
    tokenizer: str,
    keep_path: str | None,
    min_count: int | None,
    corpus: tuple[str, ...],
    drop_alphabet: bool,
    field: str | None,
    errors: Literal["replace", "strict"],
    on_error: OnError,
    num_threads: int | None,
    hints: Hints,
    map_path: str | None,
    path: str,
) -> None:
    """Remove tokens from TOKENIZER, and renumber the others.

    The tokens of a file (--keep), the tokens that a corpus uses (--min-count), or both are kept. Special
    tokens are kept too, and the tokens from which kept tokens are merged.
    """
    if keep_path is None and min_count is None:
        raise click.UsageError("no tokens to keep; give --keep, --min-count, or both")
    if (min_count is None) != (not corpus):
        raise click.UsageError("one of --min-count and --corpus is missing; give both")
    loaded = load_tokenizer(tokenizer, hints)
    check_outputs(path, map_path)
    keep: list[str | int] = []
    if keep_path is not None:
        for lines in pw.export.read_lines(keep_path, errors="strict"):
            keep += filter(None, lines)
    if min_count is not None:
        with progress("counting", in_bytes=True) as update:
            counts = pw.analysis.token_counts(
                loaded,
                corpus,
                field=field,
                errors=errors,
                on_error=on_error,
                num_threads=num_threads,
                progress=update,
            )
        keep += (counts >= min_count).nonzero()[0].tolist()
    smaller, id_map = loaded.prune(keep, keep_alphabet=not drop_alphabet)
    save_resized(smaller, id_map, path, map_path)
